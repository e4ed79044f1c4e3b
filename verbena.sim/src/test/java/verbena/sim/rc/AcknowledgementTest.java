package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Who asks for an acknowledgement, when one is sent and what it says (IBTA 9.7.5.1), and how far a requester may
/// run ahead of it.
class AcknowledgementTest {
    @Test
    void oneAcknowledgementCoversEverythingBeforeIt() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 2 -> r1+8  wr 2 signaled
                a         post  write 3 -> r1+16 wr 3 signaled
                a -> b    WRITE_ONLY  psn 100  ackreq
                a -> b    WRITE_ONLY  psn 101  ackreq
                a -> b    WRITE_ONLY  psn 102  ackreq
                b -> a    ACK  psn 102  msn 3
                a         completion  wr 1 success
                a         completion  wr 2 success
                a         completion  wr 3 success
                """);
    }

    @Test
    void anAcknowledgementThatCanLeaveAtOnceDoes() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 2 -> r1+8  wr 2 signaled
                a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 1 success
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101  msn 2
                a         completion  wr 2 success
                """);
    }

    @Test
    void aPacketThatDoesNotAskIsNotAcknowledged() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8  => accepted
                nothing
                peer -> b    WRITE_ONLY  psn 101  r1+8  ackreq  | 8
                b -> peer    ACK  psn 101  msn 2
                """);
    }

    @Test
    void aMiddlePacketThatAsksIsAcknowledgedWithTheOldMsn() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 300  ackreq  | 256
                b -> peer    ACK  psn 100  msn 0
                peer -> b    WRITE_LAST   psn 101  ackreq  | 44
                b -> peer    ACK  psn 101  msn 1
                """);
    }

    /// IBTA 9.7.7.1.
    @Test
    void theMsnCountsMessagesNotPackets() {
        rc().mtu(256).run("""
                b         post  recv 100 wr 1
                a         post  write 700 -> r1+0
                a         post  send 1
                a         post  read 300 <- r1+0
                a         post  fetch-add 1 -> r1+0
                a -> b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_LAST    psn 102
                b -> a    ACK  psn 102  msn 1
                a -> b    SEND_ONLY     psn 103
                b -> a    ACK  psn 103  msn 2
                b         completion  wr 1 success
                a -> b    READ_REQUEST  psn 104
                b -> a    READ_RESPONSE_FIRST  psn 104  msn 3
                b -> a    READ_RESPONSE_LAST   psn 105  msn 3
                a -> b    FETCH_ADD     psn 106
                b -> a    ATOMIC_ACKNOWLEDGE   psn 106  msn 4
                """);
    }

    @Test
    void aResponseCoversTheWritesBeforeIt() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  read 8 <- r1+8   wr 2 signaled
                a -> b    WRITE_ONLY    psn 100  ackreq
                a -> b    READ_REQUEST  psn 101
                b -x a    ACK  psn 100  msn 1     lost
                b -> a    READ_RESPONSE_ONLY  psn 101  msn 2  | 8
                a         completion  wr 1 success
                a         completion  wr 2 success
                """);
    }

    @Test
    void creditsOfZeroAreAnAcknowledgementLikeAnyOther() {
        // Seen from hardware: credits are advice.
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a -> peer    WRITE_ONLY  psn 100
                peer -> a    ACK  psn 100  credits 0  msn 1  => accepted
                a         completion  wr 1 success
                a         post  write 1 -> r1+0  wr 2 signaled
                a -> peer    WRITE_ONLY  psn 101
                peer -> a    ACK  psn 101  credits 3  msn 2
                a         completion  wr 2 success
                """);
    }

    @Test
    void ourAcknowledgementsCarryNoCredits() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8
                b -> peer    ACK  psn 100  syndrome 0x1f  credits 31
                """);
    }

    @Test
    void anAcknowledgementOfWhatWasNeverSentIsDropped() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a -> peer    WRITE_ONLY  psn 100
                peer -> a    ACK  psn 101  msn 1  => dropped.ghost-ack
                a         completion  none
                peer -> a    ACK  psn 100  msn 1  => accepted
                a         completion  wr 1 success
                """);
    }

    @Test
    void anAcknowledgementFromBeforeTheOldestIsADuplicate() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 1 -> r1+0  wr 2 signaled
                a -> peer    WRITE_ONLY  psn 100
                a -> peer    WRITE_ONLY  psn 101
                peer -> a    ACK  psn 100  msn 1  => accepted
                peer -> a    ACK  psn 100  msn 1  => duplicate
                peer -> a    ACK  psn 99   msn 2  => duplicate
                a         completion  wr 1 success
                a         completion  none
                peer -> a    ACK  psn 101  msn 2
                a         completion  wr 2 success
                """);
    }

    @Test
    void aReservedSyndromeEndsTheConnection() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1
                a -> peer    WRITE_ONLY  psn 100
                peer -> a    ACKNOWLEDGE  psn 100  syndrome 0x41  msn 1
                a         completion  wr 1 bad-resp-err
                a         state  ERR
                """);
    }

    @Test
    void theWindowHoldsTheSenderUntilSomethingIsAcknowledged() {
        rc().window(2).run("""
                a         post  write 1 -> r1+0
                a         post  write 2 -> r1+0
                a         post  write 3 -> r1+0
                a -> b    WRITE_ONLY  psn 100
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101  msn 2
                a -> b    WRITE_ONLY  psn 102
                b -> a    ACK  psn 102  msn 3
                """);
    }

    @Test
    void aFullWindowIsSilent() {
        rc().window(2).run("""
                a         post  write 1 -> r1+0
                a         post  write 2 -> r1+0
                a         post  write 3 -> r1+0
                a -> b    WRITE_ONLY  psn 100
                a -x b    WRITE_ONLY  psn 101
                b -x a    ACK  psn 100
                nothing until +67.108863ms
                +1ns      a -> b    WRITE_ONLY  psn 100  => duplicate
                b -> a    ACK  psn 100  msn 1
                a -> b    WRITE_ONLY  psn 101
                a -> b    WRITE_ONLY  psn 102
                b -> a    ACK  psn 102  msn 3
                """);
    }

    @Test
    void aMessageLongerThanTheWindowAsksInTheMiddle() {
        // IBTA 9.7.3.2 leaves open where; without it the window would never open again.
        rc().mtu(256).window(4).run("""
                a         post  write 1500 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100  r1+0 len 1500
                a -> b    WRITE_MIDDLE  psn 101  ackreq
                a -> b    WRITE_MIDDLE  psn 102
                a -> b    WRITE_MIDDLE  psn 103  ackreq
                b -> a    ACK  psn 103  msn 0
                a -> b    WRITE_MIDDLE  psn 104
                a -> b    WRITE_LAST    psn 105  ackreq  | 220
                b -> a    ACK  psn 105  msn 1
                a         completion  wr 1 success
                b         memory  r1+0 len 1500 as sent only
                """);
    }

    @Test
    void aWindowOfOnePacketStillWorks() {
        rc().mtu(256).window(1).run("""
                a         post  write 600 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100  ackreq
                b -> a    ACK  psn 100  msn 0
                a -> b    WRITE_MIDDLE  psn 101  ackreq
                b -> a    ACK  psn 101  msn 0
                a -> b    WRITE_LAST    psn 102  ackreq
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 1 success
                """);
    }

    @Test
    void unsignaledRequestsCompleteInSilence() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1
                a         post  write 1 -> r1+0  wr 2 signaled
                a -> b    WRITE_ONLY  psn 100
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 2 success
                a         completion  none
                """);
    }

    @Test
    void aQueuePairThatSignalsAllCompletesEveryRequest() {
        rc().signalAll().run("""
                a         post  write 1 -> r1+0  wr 1
                a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                """);
    }

    @Test
    void dataIsInPlaceBeforeTheAcknowledgementLeaves() {
        rc().run("""
                a         post  write 100 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100
                b         memory  r1+0 len 100 as sent only
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                """);
    }

    @Test
    void betweenItsQuestionsALongMessageIsNotAcknowledged() {
        rc().mtu(256).window(4).run("""
                a         post  write 1000 -> r1+0
                a -> b    WRITE_FIRST   psn 100
                b         silent
                a -> b    WRITE_MIDDLE  psn 101
                b -> a    ACK  psn 101
                a -> b    WRITE_MIDDLE  psn 102
                b         silent
                a -> b    WRITE_LAST    psn 103
                b -> a    ACK  psn 103
                """);
    }
}
