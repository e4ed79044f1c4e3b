package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// What a lost, late, doubled or damaged packet does to a message: it is whole or it is not there, and no end is
/// told (IBTA 9.8.2.2).
class LossTest {
    @Test
    void aLostOnlyIsMissedByNobody() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  send 10 wr 7 signaled
                a -x b    UC_SEND_ONLY  psn 100
                a         completion  wr 7 success
                nothing ever
                b         completion  none
                """);
    }

    @Test
    void theMessageAfterALostOneIsAcceptedWithItsOwnPsn() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  send 10
                a -x b    UC_SEND_ONLY  psn 100
                a         post  send 10
                a -> b    UC_SEND_ONLY  psn 101  => accepted
                b         completion  wr 1 success byte-len 10
                """);
    }

    @Test
    void afterAGapTheNextPsnCounts() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 1000 wr 2
                peer -> b    UC_SEND_ONLY    psn 500  | 8    => accepted
                peer -> b    UC_SEND_FIRST   psn 501  | 256  => accepted
                peer -> b    UC_SEND_LAST    psn 502  | 8    => accepted
                b         completion  wr 1 success byte-len 8
                b         completion  wr 2 success byte-len 264
                """);
    }

    @Test
    void aPsnFromThePastStartsAMessageToo() {
        uc().run("""
                b         post  recv 10 wr 1
                peer -> b    UC_SEND_ONLY  psn 40  | 8  => accepted
                b         completion  wr 1 success byte-len 8
                """);
    }

    @Test
    void aLostFirstLosesTheMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600
                a -x b    UC_SEND_FIRST   psn 100
                a -> b    UC_SEND_MIDDLE  psn 101  => dropped.message
                a -> b    UC_SEND_LAST    psn 102  => dropped.message
                b         completion  none
                b         memory  unchanged
                """);
    }

    @Test
    void aLostMiddleLosesTheMessageAndItsReceiveServesTheNext() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600 wr 7
                a -> b    UC_SEND_FIRST   psn 100
                a -x b    UC_SEND_MIDDLE  psn 101
                a -> b    UC_SEND_LAST    psn 102  => dropped.message
                b         completion  none
                a         post  send 10 wr 8 from out+2000 len 10
                a -> b    UC_SEND_ONLY    psn 103  => accepted
                b         completion  wr 1 success byte-len 10
                b         memory  in+0 len 10 as wr 8
                """);
    }

    @Test
    void aLostLastLosesTheMessageWhenTheNextBegins() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 300
                a -> b    UC_SEND_FIRST  psn 100
                a -x b    UC_SEND_LAST   psn 101
                b         completion  none
                a         post  send 200
                a -> b    UC_SEND_ONLY   psn 102  => accepted
                b         completion  wr 1 success byte-len 200
                b         memory  in+0 len 200 as sent
                """);
    }

    @Test
    void twoMiddlesOutOfOrderLoseTheMessage() {
        uc().mtu(256).run("""
                b         post  recv 2000 wr 1
                a         post  send 1000
                a -> b      UC_SEND_FIRST   psn 100
                a ->>1ms b  UC_SEND_MIDDLE  psn 101
                a -> b      UC_SEND_MIDDLE  psn 102  => dropped.message
                a -> b      UC_SEND_LAST    psn 103  => dropped.message
                nothing until +2ms
                b         counter     dropped.message 3
                b         completion  none
                """);
    }

    @Test
    void aDoubledMiddleLosesTheMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST   psn 100  | 256  => accepted
                peer -> b    UC_SEND_MIDDLE  psn 101  | 256  => accepted
                peer -> b    UC_SEND_MIDDLE  psn 101  | 256  => dropped.message
                peer -> b    UC_SEND_LAST    psn 102  | 9    => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aDoubledOnlyIsReceivedTwice() {
        uc().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                a         post  send 10
                a -2> b   UC_SEND_ONLY  psn 100  => accepted
                b         completion  wr 1 success
                b         completion  wr 2 success
                """);
    }

    @Test
    void aDamagedPacketIsALostOne() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 600
                a -> b    UC_SEND_FIRST   psn 100  => accepted
                a -~> b   UC_SEND_MIDDLE  psn 101  => dropped.icrc
                a -> b    UC_SEND_LAST    psn 102  => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aLostMiddleOfAWriteLeavesWhatCameBeforeIt() {
        uc().mtu(256).run("""
                a         post  write 700 -> r1+0
                a -> b    UC_WRITE_FIRST   psn 100
                a -x b    UC_WRITE_MIDDLE  psn 101
                a -> b    UC_WRITE_LAST    psn 102  => dropped.message
                b         memory  r1+0 len 256 as sent only
                """);
    }

    @Test
    void aLostPacketOfAWriteWithImmediateTakesNoReceive() {
        uc().mtu(256).run("""
                b         post  recv wr 1
                a         post  write 700 -> r1+0 imm 4
                a -> b    UC_WRITE_FIRST           psn 100
                a -x b    UC_WRITE_MIDDLE          psn 101
                a -> b    UC_WRITE_LAST_IMMEDIATE  psn 102  => dropped.message
                b         completion  none
                a         post  write 8 -> r1+0 imm 5
                a -> b    UC_WRITE_ONLY_IMMEDIATE  psn 103  => accepted
                b         completion  wr 1 success imm 5
                """);
    }

    @Test
    void aFirstDuringAMessageDropsThatMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST  psn 100  | 256  => accepted
                peer -> b    UC_SEND_FIRST  psn 101  | 256  => accepted
                peer -> b    UC_SEND_LAST   psn 102  | 44   => accepted
                b         completion  wr 1 success byte-len 300
                """);
    }

    @Test
    void anOnlyDuringAMessageDropsThatMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST  psn 100  | 256  => accepted
                peer -> b    UC_SEND_ONLY   psn 101  | 30   => accepted
                peer -> b    UC_SEND_LAST   psn 102  | 44   => dropped.message
                b         completion  wr 1 success byte-len 30
                b         memory  in+0 len 30 as sent
                """);
    }

    @Test
    void aWriteDuringASendDropsTheSendAndKeepsItsReceive() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST  psn 100  | 256        => accepted
                peer -> b    UC_WRITE_ONLY  psn 101  r1+0  | 8    => accepted
                peer -> b    UC_SEND_LAST   psn 102  | 44         => dropped.message
                b         completion  none
                peer -> b    UC_SEND_ONLY   psn 103  | 5          => accepted
                b         completion  wr 1 success byte-len 5
                """);
    }

    @Test
    void aMiddleOfTheOtherKindDropsTheMessage() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_FIRST    psn 100  | 256  => accepted
                peer -> b    UC_WRITE_MIDDLE  psn 101  | 256  => dropped.message
                peer -> b    UC_SEND_LAST     psn 102  | 44   => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aLastWithoutAFirstIsDropped() {
        uc().run("""
                b         post  recv 1000 wr 1
                peer -> b    UC_SEND_LAST   psn 100  | 8  => dropped.message
                peer -> b    UC_WRITE_LAST  psn 101  | 8  => dropped.message
                b         completion  none
                b         memory  unchanged
                """);
    }

    @Test
    void whatIsDroppedInAMessageDoesNotDelayTheNext() {
        uc().mtu(256).run("""
                b         post  recv 1000 wr 1
                a         post  send 1000
                a         post  send 300
                a -> b    UC_SEND_FIRST   psn 100
                a -x b    UC_SEND_MIDDLE  psn 101
                a -> b    UC_SEND_MIDDLE  psn 102  => dropped.message
                a -> b    UC_SEND_LAST    psn 103  => dropped.message
                a -> b    UC_SEND_FIRST   psn 104  => accepted
                a -> b    UC_SEND_LAST    psn 105  => accepted
                b         completion  wr 1 success byte-len 300
                b         memory  in+0 len 300 as sent
                """);
    }

    @Test
    void withASharedReceiveQueueABrokenSendEndsItsReceiveWithAnError() {
        uc().srq().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 1000 wr 2
                a         post  send 600
                a -> b    UC_SEND_FIRST   psn 100
                a -x b    UC_SEND_MIDDLE  psn 101
                a -> b    UC_SEND_LAST    psn 102  => dropped.message
                b         completion  wr 1 rem-inv-req-err
                b         state  RTS
                a         post  send 5
                a -> b    UC_SEND_ONLY    psn 103  => accepted
                b         completion  wr 2 success byte-len 5
                """);
    }

    @Test
    void withASharedReceiveQueueANewMessageEndsTheReceiveOfABrokenOne() {
        uc().srq().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 1000 wr 2
                a         post  send 300
                a -> b    UC_SEND_FIRST  psn 100
                a -x b    UC_SEND_LAST   psn 101
                b         completion  none
                a         post  send 5
                a -> b    UC_SEND_ONLY   psn 102  => accepted
                b         completion  wr 1 rem-inv-req-err
                b         completion  wr 2 success byte-len 5
                """);
    }
}
