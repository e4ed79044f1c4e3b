package verbena.sim.ud;

import static verbena.sim.script.PacketScript.ud;

import org.junit.jupiter.api.Test;

/// The Q_Key: a peer that knows it may send (IBTA 10.2.5, 9.6.1.4).
class QkeyTest {
    @Test
    void anotherQkeyIsDroppedInSilence() {
        ud().run("""
                b         post  recv 50 wr 1
                a         post  send 1 to b qkey 0x22222222
                a -> b    UD_SEND_ONLY  qkey 0x22222222  => dropped.qkey
                b         completion  none
                b         counter     dropped.qkey 1
                nothing ever
                """);
    }

    @Test
    void theRightOneIsAcceptedAfterAWrongOne() {
        ud().run("""
                b         post  recv 50 wr 1
                a         post  send 1 to b qkey 0x22222222
                a         post  send 2 to b
                a -> b    UD_SEND_ONLY  psn 100  => dropped.qkey
                a -> b    UD_SEND_ONLY  psn 101  => accepted
                b         completion  wr 1 success byte-len 42
                """);
    }

    @Test
    void everyBitCounts() {
        ud().run("""
                b         post  recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qkey 0x91111111 srcqp 0x11  | 1  => dropped.qkey
                peer -> b    UD_SEND_ONLY  qkey 0x11111110 srcqp 0x11  | 1  => dropped.qkey
                peer -> b    UD_SEND_ONLY  qkey 0 srcqp 0x11  | 1           => dropped.qkey
                b         completion  none
                """);
    }

    @Test
    void theReceiversOwnQkeyCounts() {
        ud().run("""
                b         modify  qkey 0x33333333
                b         post    recv 50 wr 1
                a         post    send 1 to b
                a -> b    UD_SEND_ONLY  qkey 0x11111111  => dropped.qkey
                a         post    send 1 to b qkey 0x33333333
                a -> b    UD_SEND_ONLY  qkey 0x33333333  => accepted
                b         completion  wr 1 success
                """);
    }

    @Test
    void aRequestsQkeyWithItsHighBitSetStandsForTheQueuePairsOwn() {
        ud().run("""
                a         modify  qkey 0x44444444
                a         post    send 1 to b qkey 0x80000000
                a -> b    UD_SEND_ONLY  qkey 0x44444444  => dropped.qkey
                a         post    send 1 to b qkey 0xffffffff
                a -> b    UD_SEND_ONLY  qkey 0x44444444  => dropped.qkey
                """);
    }

    @Test
    void soAPrivilegedQkeyIsSentByThoseWhoHaveItOnly() {
        ud().run("""
                a         modify  qkey 0x80010000
                b         modify  qkey 0x80010000
                b         post    recv 50 wr 1
                a         post    send 1 to b qkey 0x80000000
                a -> b    UD_SEND_ONLY  qkey 0x80010000  => accepted
                b         completion  wr 1 success
                """);
    }

    @Test
    void theHighestQkeyThatIsNotPrivilegedIsSentAsItIs() {
        ud().run("""
                a         post    send 1 to b qkey 0x7fffffff
                a -> b    UD_SEND_ONLY  qkey 0x7fffffff  => dropped.qkey
                """);
    }

    @Test
    void aChangedQkeyHoldsFromTheNextDatagramOn() {
        ud().run("""
                b         post    recv 50 wr 1
                b         post    recv 50 wr 2
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 1  => accepted
                b         modify  qkey 0x22222222
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 1  => dropped.qkey
                peer -> b    UD_SEND_ONLY  qkey 0x22222222 srcqp 0x11  | 1  => accepted
                b         completion  wr 1 success
                b         completion  wr 2 success
                """);
    }

    @Test
    void aWrongQkeyTakesNoSharedReceive() {
        ud().srq().run("""
                b         post    recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qkey 5 srcqp 0x11  | 1           => dropped.qkey
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 1  => accepted
                b         completion  wr 1 success
                """);
    }
}
