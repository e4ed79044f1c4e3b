package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Every packet that can get lost, come late, twice or damaged, and how the two ends recover (IBTA 9.7.5.1.2,
/// 9.7.6).
class LossTest {
    @Test
    void aLostFirstPacketIsReportedByTheOneAfterIt() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 7 signaled
                a -x b    WRITE_FIRST   psn 100     lost
                a -> b    WRITE_MIDDLE  psn 101  => out-of-sequence
                b -> a    NAK sequence  psn 100  msn 0
                a -> b    WRITE_FIRST   psn 100  r1+0 len 600
                a -> b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_LAST    psn 102
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 600 as sent only
                """);
    }

    @Test
    void aLostMiddlePacketIsResentFromTheGap() {
        rc().mtu(1024).psn(100).run("""
                a         post  write 3000 -> r1+0  wr 7 signaled
                a -> b    WRITE_FIRST   psn 100  r1+0 len 3000  | 1024
                a -x b    WRITE_MIDDLE  psn 101                 | 1024     lost
                a -> b    WRITE_LAST    psn 102  ackreq         | 952
                b -> a    NAK sequence  psn 101  msn 0
                a -> b    WRITE_MIDDLE  psn 101                 | 1024
                a -> b    WRITE_LAST    psn 102  ackreq         | 952
                b -> a    ACK           psn 102  msn 1
                a         completion    wr 7 success
                b         memory        r1+0 len 3000 as sent only
                b         counter       out-of-sequence 1
                """);
    }

    @Test
    void aLostLastPacketIsResentWhenTheTimerEnds() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 7 signaled
                a -> b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101
                a -x b    WRITE_LAST    psn 102     lost
                +67.108864ms  a -> b    WRITE_FIRST   psn 100  => duplicate
                b -> a    ACK  psn 101  msn 0
                a -> b    WRITE_LAST    psn 102  ackreq
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                a         counter  ack.timeouts 1
                """);
    }

    @Test
    void aLostAcknowledgementIsMadeUpForByTheNext() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 1 -> r1+1  wr 2 signaled
                a -> b    WRITE_ONLY  psn 100
                b -x a    ACK  psn 100  msn 1     lost
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101  msn 2
                a         completion  wr 1 success
                a         completion  wr 2 success
                """);
    }

    @Test
    void aLostLastAcknowledgementIsRepeatedForTheDuplicate() {
        rc().run("""
                b         post  recv 100 wr 1
                b         post  recv 100 wr 2
                a         post  send 10 wr 7 signaled
                a -> b    SEND_ONLY  psn 100
                b -x a    ACK  psn 100  msn 1     lost
                b         completion  wr 1 success
                +67.108864ms  a -> b    SEND_ONLY  psn 100  => duplicate
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         completion  none
                """);
    }

    @Test
    void aLostSequenceNakLeavesItToTheTimer() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 7 signaled
                a -x b    WRITE_FIRST   psn 100     lost
                a -> b    WRITE_MIDDLE  psn 101
                b -x a    NAK sequence  psn 100     lost
                a -> b    WRITE_LAST    psn 102  => out-of-sequence
                nothing until +67.108863ms
                +1ns      a -> b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_LAST    psn 102
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         counter  sent.nak.sequence 1
                """);
    }

    @Test
    void aLostReadRequestIsSentAgainWhenTheTimerEnds() {
        rc().run("""
                a         post  read 10 <- r1+0  wr 7 signaled
                a -x b    READ_REQUEST  psn 100     lost
                +67.108864ms  a -> b    READ_REQUEST  psn 100  r1+0 len 10
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1
                a         completion  wr 7 success
                """);
    }

    @Test
    void aLostReadRequestIsReportedByTheRequestAfterIt() {
        rc().mtu(256).run("""
                a         post  read 600 <- r1+0  wr 7 signaled
                a         post  write 1 -> r1+0  wr 8 signaled
                a -x b    READ_REQUEST  psn 100     lost
                a -> b    WRITE_ONLY    psn 103  => out-of-sequence
                b -> a    NAK sequence  psn 100
                a -> b    READ_REQUEST  psn 100  r1+0 len 600
                a -> b    WRITE_ONLY    psn 103
                b -> a    READ_RESPONSE_FIRST   psn 100
                b -> a    READ_RESPONSE_MIDDLE  psn 101
                b -> a    READ_RESPONSE_LAST    psn 102
                b -> a    ACK  psn 103
                a         completion  wr 7 success
                a         completion  wr 8 success
                """);
    }

    @Test
    void aLostFirstResponseMakesTheReadStartAnew() {
        rc().mtu(256).run("""
                a         post  read 600 <- r1+0  wr 7 signaled
                a -> b    READ_REQUEST  psn 100  r1+0 len 600
                b -x a    READ_RESPONSE_FIRST   psn 100     lost
                b -> a    READ_RESPONSE_MIDDLE  psn 101  => dropped.early-response
                a -> b    READ_REQUEST  psn 100  r1+0 len 600  => duplicate
                b -> a    READ_RESPONSE_FIRST   psn 100  msn 1
                b -> a    READ_RESPONSE_MIDDLE  psn 101
                b -> a    READ_RESPONSE_LAST    psn 102  msn 1
                a         completion  wr 7 success
                a         memory  in+0 len 600 as r1+0 only
                a         counter  implied.naks 1
                """);
    }

    @Test
    void aLostMiddleResponseMakesTheReadGoOnFromThere() {
        rc().mtu(256).run("""
                a         post  read 1000 <- r1+0  wr 7 signaled
                a -> b    READ_REQUEST  psn 100  r1+0 len 1000
                b -> a    READ_RESPONSE_FIRST   psn 100
                b -x a    READ_RESPONSE_MIDDLE  psn 101     lost
                b -> a    READ_RESPONSE_MIDDLE  psn 102  => dropped.early-response
                b -> a    READ_RESPONSE_LAST    psn 103  => dropped.early-response
                a -> b    READ_REQUEST  psn 101  r1+256 len 744  => duplicate
                b -> a    READ_RESPONSE_FIRST   psn 101  | 256
                b -> a    READ_RESPONSE_MIDDLE  psn 102  | 256
                b -> a    READ_RESPONSE_LAST    psn 103  | 232
                a         completion  wr 7 success
                a         memory  in+0 len 1000 as r1+0 only
                """);
    }

    @Test
    void aLostLastResponseMakesTheReadAskForTheRestAlone() {
        rc().mtu(256).run("""
                a         post  read 600 <- r1+0  wr 7 signaled
                a -> b    READ_REQUEST  psn 100  r1+0 len 600
                b -> a    READ_RESPONSE_FIRST   psn 100
                b -> a    READ_RESPONSE_MIDDLE  psn 101
                b -x a    READ_RESPONSE_LAST    psn 102     lost
                +1ms      a -> b    READ_REQUEST  psn 102  r1+512 len 88  => duplicate
                b -> a    READ_RESPONSE_ONLY    psn 102  | 88
                a         completion  wr 7 success
                a         memory  in+0 len 600 as r1+0 only
                """);
    }

    @Test
    void anAnswerThatGoesOnWithAMiddlePacketIsTaken() {
        // rxe resumes a READ so; the standard would have FIRST.
        rc().mtu(256).run("""
                a         post  read 700 <- r1+0  wr 7 signaled
                a -> peer    READ_REQUEST  psn 100  r1+0 len 700
                peer -> a    READ_RESPONSE_FIRST   psn 100  msn 1  | 256
                +1ms      a -> peer    READ_REQUEST  psn 101  r1+256 len 444
                peer -> a    READ_RESPONSE_MIDDLE  psn 101  | 256  => accepted
                peer -> a    READ_RESPONSE_LAST    psn 102  msn 1  | 188
                a         completion  wr 7 success
                """);
    }

    @Test
    void aResponseAfterALostAnswerBringsTheReadBack() {
        rc().run("""
                a         post  read 10 <- r1+0  wr 1 signaled
                a         post  write 5 -> r1+0  wr 2 signaled
                a -> b    READ_REQUEST  psn 100
                a -> b    WRITE_ONLY    psn 101
                b -x a    READ_RESPONSE_ONLY  psn 100     lost
                b -> a    ACK  psn 101  msn 2
                a         completion  none
                a -> b    READ_REQUEST  psn 100  => duplicate
                a -> b    WRITE_ONLY    psn 101  => duplicate
                b -> a    READ_RESPONSE_ONLY  psn 100
                a         completion  wr 1 success
                b -> a    ACK  psn 101  msn 2
                a         completion  wr 2 success
                """);
    }

    @Test
    void aLostAtomicRequestIsSentAgain() {
        rc().run("""
                b         set   r1+0 word 100
                a         post  fetch-add 5 -> r1+0  wr 7 signaled
                a -x b    FETCH_ADD  psn 100     lost
                +67.108864ms  a -> b    FETCH_ADD  psn 100  r1+0 add 5
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 100
                a         completion  wr 7 success
                b         word  r1+0 is 105
                """);
    }

    @Test
    void aLostAtomicAcknowledgementIsRepeatedWithoutAddingTwice() {
        rc().run("""
                b         set   r1+0 word 100
                a         post  fetch-add 5 -> r1+0  wr 7 signaled
                a -> b    FETCH_ADD  psn 100
                b -x a    ATOMIC_ACKNOWLEDGE  psn 100  msn 1  original 100     lost
                +67.108864ms  a -> b    FETCH_ADD  psn 100  => duplicate
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  msn 1  original 100
                a         completion  wr 7 success opcode fetch-add
                a         word  in+0 is 100
                b         word  r1+0 is 105
                """);
    }

    @Test
    void aLostRnrNakLeavesItToTheAckTimer() {
        rc().run("""
                a         post  send 10 wr 7 signaled
                a -> b    SEND_ONLY  psn 100  => receiver-not-ready
                b -x a    RNR timer 12  psn 100     lost
                b         post  recv 100 wr 1
                nothing until +67.108863ms
                +1ns      a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success
                """);
    }

    @Test
    void aDuplicateOfEveryPacketOfAMessageChangesNothing() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 1000 wr 2
                a         post  send 600 wr 7 signaled
                a -2> b   SEND_FIRST   psn 100     twice
                a -2> b   SEND_MIDDLE  psn 101     twice
                a -2> b   SEND_LAST    psn 102     twice
                b -2> a   ACK  psn 102  msn 1      twice
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 600
                b         memory  in+0 len 600 as sent only
                b         counter  duplicate 3
                a         counter  duplicate 1
                """);
    }

    @Test
    void aDuplicateReadRequestIsAnsweredOnceWhileTheAnswerIsOnItsWay() {
        rc().run("""
                a         post  read 10 <- r1+0  wr 7 signaled
                a -2> b   READ_REQUEST  psn 100     twice
                b -> a    READ_RESPONSE_ONLY  psn 100
                a         completion  wr 7 success
                nothing
                b         counter  duplicate 1
                """);
    }

    @Test
    void aDuplicateResponseIsDropped() {
        rc().mtu(256).run("""
                a         post  read 300 <- r1+0  wr 7 signaled
                a -> b    READ_REQUEST  psn 100
                b -2> a   READ_RESPONSE_FIRST  psn 100     twice
                b -2> a   READ_RESPONSE_LAST   psn 101     twice
                a         completion  wr 7 success
                a         memory  in+0 len 300 as r1+0 only
                nothing
                """);
    }

    @Test
    void aDuplicateAtomicAcknowledgementIsDropped() {
        rc().run("""
                b         set   r1+0 word 1
                a         post  fetch-add 1 -> r1+0  wr 7 signaled
                a -> b    FETCH_ADD  psn 100
                b -2> a   ATOMIC_ACKNOWLEDGE  psn 100  original 1     twice
                a         completion  wr 7 success
                a         counter  duplicate 1
                """);
    }

    @Test
    void aPacketOvertakenByTheNextCountsAsLost() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 7 signaled
                a -> b    WRITE_FIRST   psn 100
                a ->>1ms b  WRITE_MIDDLE  psn 101     late
                a -> b    WRITE_LAST    psn 102
                b -> a    NAK sequence  psn 101
                nobody moves until +1ms
                a -> b    WRITE_MIDDLE  psn 101  => duplicate
                b -> a    ACK  psn 101  msn 0
                a -> b    WRITE_LAST    psn 102
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 600 as sent only
                """);
    }

    @Test
    void aCopyThatComesLongAfterTheMessageChangesNothing() {
        rc().run("""
                b         post  recv 100 wr 1
                b         post  recv 100 wr 2
                a         post  send 10 wr 7 signaled
                a -2>>5ms b  SEND_ONLY  psn 100
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success
                +5ms      b -> a    ACK  psn 100  msn 1  => duplicate
                b         completion  none
                """);
    }

    @Test
    void aLateCopyOfAWriteDoesNotOverwriteWhatCameAfterIt() {
        rc().run("""
                a         post  write 8 -> r1+0  wr 1 signaled
                a -2>>5ms b  WRITE_ONLY  psn 100
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 1 success
                a         set   out+0 len 8 byte 0x55
                a         post  write 8 -> r1+0  wr 2 signaled
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101  msn 2
                a         completion  wr 2 success
                +5ms      b -> a    ACK  psn 101  msn 2
                b         memory  r1+0 len 8 as wr 2 only
                """);
    }

    @Test
    void aDamagedPacketIsDroppedAsIfLost() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 7 signaled
                a -> b    WRITE_FIRST   psn 100
                a -~> b   WRITE_MIDDLE  psn 101  => dropped.icrc
                a -> b    WRITE_LAST    psn 102
                b -> a    NAK sequence  psn 101
                a -> b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_LAST    psn 102
                b -> a    ACK  psn 102
                a         completion  wr 7 success
                b         memory  r1+0 len 600 as sent only
                b         counter  dropped.icrc 1
                """);
    }

    @Test
    void aDamagedAcknowledgementIsDroppedAsIfLost() {
        rc().run("""
                a         post  write 6 -> r1+0  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100
                b -~> a   ACK  psn 100  => dropped.icrc
                a         completion  none
                +67.108864ms  a -> b    WRITE_ONLY  psn 100  => duplicate
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                """);
    }

    /// IBTA C9-115.
    @Test
    void oneGapDrawsOneNakHoweverMuchFollowsIt() {
        // IBTA 9.7.5.1.2: else a burst behind a gap becomes a storm of retries.
        rc().run("""
                a         post  write 1 -> r1+0
                a         post  write 2 -> r1+0
                a         post  write 3 -> r1+0
                a         post  write 4 -> r1+0
                a -x b    WRITE_ONLY  psn 100     lost
                a -> b    WRITE_ONLY  psn 101  => out-of-sequence
                b -> a    NAK sequence  psn 100  msn 0
                a -> b    WRITE_ONLY  psn 100
                b -x a    ACK  psn 100
                peer -> b    WRITE_ONLY  psn 103  r1+0  | 1  => out-of-sequence
                b -> peer    NAK sequence  psn 101  msn 1
                peer -> b    WRITE_ONLY  psn 104  r1+0  | 1  => out-of-sequence
                peer -> b    WRITE_ONLY  psn 105  r1+0  | 1  => out-of-sequence
                a -> b    WRITE_ONLY  psn 101
                a -> b    WRITE_ONLY  psn 102
                a -> b    WRITE_ONLY  psn 103
                b -> a    ACK  psn 103  msn 4
                b         counter  sent.nak.sequence 2
                """);
    }

    @Test
    void aNakForTheNextGapIsSentWhenTheFirstIsClosed() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 101  r1+0  ackreq  | 1  => out-of-sequence
                b -> peer    NAK sequence  psn 100  msn 0
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 1  => accepted
                b -> peer    ACK  psn 100  msn 1
                peer -> b    WRITE_ONLY  psn 102  r1+0  ackreq  | 1  => out-of-sequence
                b -> peer    NAK sequence  psn 101  msn 1
                """);
    }

    @Test
    void aSecondNakOfTheSameGapIsIgnoredUntilThereIsProgress() {
        rc().run("""
                a         post  write 1 -> r1+0
                a         post  write 2 -> r1+0
                a -> peer    WRITE_ONLY  psn 100
                a -> peer    WRITE_ONLY  psn 101
                peer -> a    NAK sequence  psn 100
                a -> peer    WRITE_ONLY  psn 100
                peer -> a    NAK sequence  psn 100
                a -> peer    WRITE_ONLY  psn 101
                nothing
                peer -> a    ACK  psn 101  msn 2
                """);
    }

    @Test
    void aSequenceNakAcknowledgesWhatLiesBeforeIt() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 2 -> r1+0  wr 2 signaled
                a         post  write 3 -> r1+0  wr 3 signaled
                a -> b    WRITE_ONLY  psn 100
                a -x b    WRITE_ONLY  psn 101     lost
                a -> b    WRITE_ONLY  psn 102
                b -x a    ACK  psn 100  msn 1     lost
                b -> a    NAK sequence  psn 101  msn 1
                a         completion  wr 1 success
                a -> b    WRITE_ONLY  psn 101
                a -> b    WRITE_ONLY  psn 102
                b -> a    ACK  psn 102  msn 3
                a         completion  wr 2 success
                a         completion  wr 3 success
                """);
    }

    @Test
    void anOldAnswerThatComesAfterGoingBackIsStillTaken() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 2 -> r1+0  wr 2 signaled
                a -> b    WRITE_ONLY  psn 100
                a -> b    WRITE_ONLY  psn 101
                b ->>68ms a  ACK  psn 101  msn 2     late
                +67.108864ms  a -> b    WRITE_ONLY  psn 100  => duplicate
                nobody moves until +0.891136ms
                a         completion  wr 1 success
                a         completion  wr 2 success
                b -> a    ACK  psn 101  msn 2  => duplicate
                nothing
                """);
    }

    @Test
    void aLatePacketFromTheOtherSideOfThePsnCircleIsADuplicate() {
        // Half the circle behind: the oldest PSN that counts as seen.
        rc().psn(0x800000).run("""
                peer -> b    WRITE_ONLY  psn 0  r1+0  ackreq  | 8  => duplicate
                b -> peer    ACK  psn 0x7fffff  msn 0
                peer -> b    WRITE_ONLY  psn 0x800001  r1+0  ackreq  | 8  => out-of-sequence
                b -> peer    NAK sequence  psn 0x800000
                b         memory  unchanged
                """);
    }

    @Test
    void theFarthestPsnAheadIsOutOfSequence() {
        rc().psn(0).run("""
                peer -> b    WRITE_ONLY  psn 0x7fffff  r1+0  | 8  => out-of-sequence
                b -> peer    NAK sequence  psn 0
                peer -> b    WRITE_ONLY  psn 0x800000  r1+0  | 8  => duplicate
                b -> peer    ACK  psn 0xffffff
                """);
    }

    @Test
    void aNakAfterProgressIsTakenAgain() {
        rc().run("""
                a         post  write 1 -> r1+0
                a         post  write 2 -> r1+0
                a         post  write 3 -> r1+0
                a -> peer    WRITE_ONLY  psn 100
                a -> peer    WRITE_ONLY  psn 101
                a -> peer    WRITE_ONLY  psn 102
                peer -> a    NAK sequence  psn 100
                a -> peer    WRITE_ONLY  psn 100
                a -> peer    WRITE_ONLY  psn 101
                a -> peer    WRITE_ONLY  psn 102
                peer -> a    ACK  psn 100
                peer -> a    NAK sequence  psn 101
                a -> peer    WRITE_ONLY  psn 101
                a -> peer    WRITE_ONLY  psn 102
                peer -> a    ACK  psn 102
                """);
    }
}
