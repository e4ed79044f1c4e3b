package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// Receives that are missing, too small or cannot be written (IBTA 9.8.2.2, 9.9.3.2 and the fault table of 9.9.4).
class ReceiveTest {
    @Test
    void aSendThatFindsNoReceiveIsDropped() {
        uc().run("""
                a         post  send 10 wr 7 signaled
                a -> b    UC_SEND_ONLY  psn 100  => dropped.message
                a         completion  wr 7 success
                b         post  recv 10 wr 1
                nothing ever
                b         completion  none
                """);
    }

    @Test
    void aReceiveThatComesDuringAMessageIsForTheNext() {
        uc().mtu(256).run("""
                a         post  send 300
                a -> b    UC_SEND_FIRST  psn 100  => dropped.message
                b         post  recv 1000 wr 1
                a -> b    UC_SEND_LAST   psn 101  => dropped.message
                b         completion  none
                a         post  send 5
                a -> b    UC_SEND_ONLY   psn 102  => accepted
                b         completion  wr 1 success byte-len 5
                """);
    }

    @Test
    void aWriteWithImmediateThatFindsNoReceiveCompletesNothing() {
        uc().run("""
                a         post  write 8 -> r1+0 imm 1
                a -> b    UC_WRITE_ONLY_IMMEDIATE  psn 100  => dropped.message
                b         completion  none
                """);
    }

    @Test
    void aWriteWithImmediateTakesItsReceiveWithTheLastPacket() {
        uc().mtu(256).run("""
                a         post  write 300 -> r1+0 imm 1
                a -> b    UC_WRITE_FIRST           psn 100
                b         post  recv wr 1
                a -> b    UC_WRITE_LAST_IMMEDIATE  psn 101
                b         completion  wr 1 success byte-len 300 imm 1
                """);
    }

    @Test
    void aMessageLongerThanItsReceiveIsDroppedAndTheReceiveStays() {
        uc().run("""
                b         post  recv 10 wr 1
                a         post  send 11
                a -> b    UC_SEND_ONLY  psn 100  => dropped.message
                b         completion  none
                b         memory  unchanged
                a         post  send 10
                a -> b    UC_SEND_ONLY  psn 101  => accepted
                b         completion  wr 1 success byte-len 10
                """);
    }

    @Test
    void aMessageThatOutgrowsItsReceiveIsDroppedFromThere() {
        uc().mtu(256).run("""
                b         post  recv 300 wr 1
                a         post  send 600
                a -> b    UC_SEND_FIRST   psn 100  => accepted
                a -> b    UC_SEND_MIDDLE  psn 101  => dropped.message
                a -> b    UC_SEND_LAST    psn 102  => dropped.message
                b         completion  none
                b         state  RTS
                a         post  send 300
                a -> b    UC_SEND_FIRST   psn 103  => accepted
                a -> b    UC_SEND_LAST    psn 104  => accepted
                b         completion  wr 1 success byte-len 300
                """);
    }

    @Test
    void withASharedReceiveQueueAMessageThatIsTooLongEndsItsReceive() {
        uc().srq().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                a         post  send 11
                a -> b    UC_SEND_ONLY  psn 100  => dropped.message
                b         completion  wr 1 loc-len-err
                b         state  RTS
                a         post  send 10
                a -> b    UC_SEND_ONLY  psn 101  => accepted
                b         completion  wr 2 success byte-len 10
                """);
    }

    @Test
    void anEmptySharedReceiveQueueDropsTheMessage() {
        uc().srq().run("""
                a         post  send 10
                a -> b    UC_SEND_ONLY  psn 100  => dropped.message
                b         completion  none
                b         event  none
                """);
    }

    @Test
    void theLimitOfASharedQueueCountsMessagesOfUnreliableConnectionsToo() {
        uc().srq().run("""
                b         post  recv 10 wr 1
                b         arm   limit 1
                a         post  send 10
                a -> b    UC_SEND_ONLY  psn 100
                b         event  SRQ_LIMIT_REACHED
                b         completion  wr 1 success
                """);
    }

    @Test
    void aReceiveWhoseMemoryIsGoneEndsTheQueuePair() {
        uc().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                b         close arena in
                a         post  send 10
                a -> b    UC_SEND_ONLY  psn 100  => dropped.message
                b         completion  wr 1 loc-prot-err
                b         completion  wr 2 wr-flush-err
                b         state  ERR
                """);
    }

    @Test
    void anEmptyMessageNeedsNoMemoryOfTheReceive() {
        uc().run("""
                b         post  recv 10 wr 1
                b         close region in
                a         post  send 0
                a -> b    UC_SEND_ONLY  psn 100  => accepted
                b         completion  wr 1 success byte-len 0
                """);
    }

    @Test
    void receivesAreTakenInOrder() {
        uc().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                b         post  recv wr 3
                a         post  send 10
                a         post  write 8 -> r1+0
                a         post  send 5
                a         post  write 8 -> r1+0 imm 3
                a -> b    UC_SEND_ONLY             psn 100
                a -> b    UC_WRITE_ONLY            psn 101
                a -> b    UC_SEND_ONLY             psn 102
                a -> b    UC_WRITE_ONLY_IMMEDIATE  psn 103
                b         completion  wr 1 success byte-len 10
                b         completion  wr 2 success byte-len 5
                b         completion  wr 3 success imm 3
                """);
    }
}
