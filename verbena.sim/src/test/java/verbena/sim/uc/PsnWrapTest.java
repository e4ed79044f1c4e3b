package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// PSNs are 24 bits and begin again at 0 (IBTA 9.8.2.1).
class PsnWrapTest {
    @Test
    void aSendRunsOverTheEnd() {
        uc().mtu(256).psn(0xFFFFFE).run("""
                b         post  recv 1000 wr 1
                a         post  send 1000
                a -> b    UC_SEND_FIRST   psn 0xfffffe
                a -> b    UC_SEND_MIDDLE  psn 0xffffff
                a -> b    UC_SEND_MIDDLE  psn 0
                a -> b    UC_SEND_LAST    psn 1
                b         completion  wr 1 success byte-len 1000
                """);
    }

    @Test
    void aWriteRunsOverTheEnd() {
        uc().mtu(256).psn(0xFFFFFF).run("""
                a         post  write 700 -> r1+0
                a -> b    UC_WRITE_FIRST   psn 0xffffff
                a -> b    UC_WRITE_MIDDLE  psn 0
                a -> b    UC_WRITE_LAST    psn 1
                b         memory  r1+0 len 700 as sent only
                """);
    }

    @Test
    void aGapAcrossTheEndIsAGap() {
        uc().mtu(256).psn(0xFFFFFF).run("""
                b         post  recv 1000 wr 1
                a         post  send 700
                a -> b    UC_SEND_FIRST   psn 0xffffff
                a -x b    UC_SEND_MIDDLE  psn 0
                a -> b    UC_SEND_LAST    psn 1  => dropped.message
                b         completion  none
                """);
    }

    @Test
    void theLastPsnIsFollowedByTheFirst() {
        uc().psn(0xFFFFFF).run("""
                a         post  write 8 -> r1+0
                a         post  write 8 -> r1+8
                a -> b    UC_WRITE_ONLY  psn 0xffffff  => accepted
                a -> b    UC_WRITE_ONLY  psn 0         => accepted
                """);
    }
}
