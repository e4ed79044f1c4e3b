package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// No receive is posted: RNR NAK, the wait that it asks for, and the RNR retry counter (IBTA 9.7.5.2.8, 9.9.2.1.2).
class ReceiverNotReadyTest {
    @Test
    void aSendThatFindsNoReceiveIsRepeatedAfterTheWait() {
        // timer code 12: 0.64 ms
        rc().rnrTimer(12).run("""
                a         post  send 10 wr 7 signaled
                a -> b    SEND_ONLY  psn 100  => receiver-not-ready
                b -> a    RNR timer 12  psn 100  msn 0
                b         post  recv 100 wr 1
                nothing until +0.639999ms
                +1ns      a -> b    SEND_ONLY  psn 100  => accepted
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success
                b         counter  receiver-not-ready 1
                """);
    }

    @Test
    void timerCodeZeroIsTheLongestWait() {
        rc().rnrTimer(0).run("""
                a         post  send 10
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 0  psn 100
                b         post  recv 100 wr 1
                nothing until +655.359999ms
                +1ns      a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                b         completion  wr 1 success
                """);
    }

    @Test
    void timerCodeOneIsTheShortestWait() {
        rc().rnrTimer(1).run("""
                a         post  send 10
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 1  psn 100
                b         post  recv 100 wr 1
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                b         completion  wr 1 success
                """);
    }

    @Test
    void theRequesterWaitsAsThePeerAsksWhateverItsOwnTimerIs() {
        // timer code 31: 491.52 ms
        rc().rnrTimer(1).run("""
                a         post  send 10
                a -> peer    SEND_ONLY  psn 100
                peer -> a    RNR timer 31  psn 100
                nothing until +491.519999ms
                +1ns      a -> peer    SEND_ONLY  psn 100
                peer -> a    ACK  psn 100  msn 1
                """);
    }

    @Test
    void theAckTimerDoesNotRunDuringTheWait() {
        rc().timeout(14).rnrTimer(0).retries(0).run("""
                a         post  send 10
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 0  psn 100
                nothing until +655.359999ms
                a         counter  ack.timeouts 0
                b         post  recv 100 wr 1
                +1ns      a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                b         completion  wr 1 success
                """);
    }

    @Test
    void theAckTimerRunsAgainAfterTheWait() {
        rc().timeout(14).run("""
                a         post  send 10
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 12  psn 100
                +0.64ms   a -x b    SEND_ONLY  psn 100     lost
                b         post  recv 100 wr 1
                nothing until +67.108863ms
                +1ns      a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                b         completion  wr 1 success
                """);
    }

    @Test
    void theRnrRetriesAreMadeAndThenTheRequestFails() {
        rc().rnrRetries(2).run("""
                a         post  send 10 wr 7
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 12  psn 100
                +0.64ms   a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 12  psn 100
                +0.64ms   a -> b    SEND_ONLY  psn 100
                a         completion  none
                b -> a    RNR timer 12  psn 100
                a         completion  wr 7 rnr-retry-exc-err
                a         state  ERR
                b         state  RTS
                b         counter  sent.nak.rnr 3
                a         counter  received.nak.rnr 3
                """);
    }

    @Test
    void withoutRnrRetriesTheFirstNakFails() {
        rc().rnrRetries(0).run("""
                a         post  send 10 wr 7
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 12  psn 100
                a         completion  wr 7 rnr-retry-exc-err
                """);
    }

    @Test
    void sevenRnrRetriesAreForEver() {
        rc().rnrRetries(7).rnrTimer(1).run("""
                a         post  send 10
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                b         post  recv 10 wr 1
                +10us     a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                b         completion  wr 1 success
                a         state  RTS
                """);
    }

    @Test
    void rnrRetriesDoNotCostAckRetries() {
        rc().retries(0).rnrRetries(3).run("""
                a         post  send 10 wr 7 signaled
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                +0.64ms   a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                b         post  recv 10 wr 1
                +0.64ms   a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         completion  wr 1 success
                """);
    }

    @Test
    void anRnrNakGivesTheAckRetriesBack() {
        rc().retries(1).timeout(14).run("""
                a         post  send 10 wr 7 signaled
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 12  psn 100
                +0.64ms   a -x b    SEND_ONLY  psn 100     lost
                +67.108864ms   a -> b    SEND_ONLY  psn 100
                b -> a    RNR timer 12  psn 100
                +0.64ms   a -x b    SEND_ONLY  psn 100     lost
                b         post  recv 10 wr 1
                +67.108864ms   a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         completion  wr 1 success
                """);
    }

    @Test
    void progressGivesTheRnrRetriesBack() {
        rc().rnrRetries(1).run("""
                a         post  send 1 wr 1 signaled
                a         post  send 2 wr 2 signaled
                a -> b    SEND_ONLY  psn 100
                b -> a    RNR  psn 100
                b         post  recv 10 wr 8
                +0.64ms   a -> b    SEND_ONLY  psn 100
                a -> b    SEND_ONLY  psn 101
                b -> a    ACK  psn 100
                b -> a    RNR  psn 101
                a         completion  wr 1 success
                b         completion  wr 8 success
                b         post  recv 10 wr 9
                +0.64ms   a -> b    SEND_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 2 success
                b         completion  wr 9 success
                """);
    }

    @Test
    void packetsBehindAnRnrNakAreDroppedInSilence() {
        rc().mtu(256).run("""
                a         post  send 600
                a -> b    SEND_FIRST   psn 100  => receiver-not-ready
                a -> b    SEND_MIDDLE  psn 101  => out-of-sequence
                a -> b    SEND_LAST    psn 102  => out-of-sequence
                b -> a    RNR timer 12  psn 100
                nothing
                b         post  recv 1000 wr 1
                +0.64ms   a -> b    SEND_FIRST   psn 100
                a -> b    SEND_MIDDLE  psn 101
                a -> b    SEND_LAST    psn 102
                b -> a    ACK  psn 102  msn 1
                b         completion  wr 1 success byte-len 600
                """);
    }

    @Test
    void aSequenceNakDuringTheWaitDoesNotShortenIt() {
        // rxe NAKs what follows an RNR NAK.
        rc().run("""
                a         post  send 1
                a         post  send 2
                a -> peer    SEND_ONLY  psn 100
                a -> peer    SEND_ONLY  psn 101
                peer -> a    RNR timer 12  psn 100
                peer -> a    NAK sequence  psn 100
                nothing until +0.639999ms
                +1ns      a -> peer    SEND_ONLY  psn 100
                a -> peer    SEND_ONLY  psn 101
                peer -> a    ACK  psn 101  msn 2
                """);
    }

    @Test
    void aSecondRnrNakOfTheSamePacketDoesNotCountTwice() {
        rc().rnrRetries(1).run("""
                a         post  send 1
                a -> peer    SEND_ONLY  psn 100
                peer -> a    RNR timer 12  psn 100
                peer -> a    RNR timer 12  psn 100  => duplicate
                a         state  RTS
                +0.64ms   a -> peer    SEND_ONLY  psn 100
                peer -> a    ACK  psn 100  msn 1
                """);
    }

    @Test
    void aWriteNeedsNoReceive() {
        rc().run("""
                a         post  write 10 -> r1+0
                a -> b    WRITE_ONLY  psn 100  => accepted
                b -> a    ACK  psn 100
                """);
    }

    @Test
    void aWriteWithImmediateAsksForAReceiveAtItsLastPacket() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  imm 5 wr 7 signaled
                a -> b    WRITE_FIRST   psn 100  => accepted
                a -> b    WRITE_MIDDLE  psn 101  => accepted
                a -> b    WRITE_LAST_IMMEDIATE  psn 102  => receiver-not-ready
                b -> a    RNR timer 12  psn 102  msn 0
                b         post  recv wr 1
                +0.64ms   a -> b    WRITE_LAST_IMMEDIATE  psn 102
                b -> a    ACK  psn 102  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 600 imm 5
                b         memory  r1+0 len 600 as sent only
                """);
    }

    @Test
    void aRequesterThatRepeatsTheWholeWriteWithImmediateIsServed() {
        // rxe does so.
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 300  | 256
                peer -> b    WRITE_LAST_IMMEDIATE  psn 101  imm 5  ackreq  | 44  => receiver-not-ready
                b -> peer    RNR timer 12  psn 101
                b         post  recv wr 1
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 300  | 256  => duplicate
                b -> peer    ACK  psn 100  msn 0
                peer -> b    WRITE_LAST_IMMEDIATE  psn 101  imm 5  ackreq  | 44  => accepted
                b -> peer    ACK  psn 101  msn 1
                b         completion  wr 1 success byte-len 300 imm 5
                b         memory  r1+0 len 300 as sent only
                """);
    }

    @Test
    void anUnreadyReceiverStillAnswersReadsAfterwards() {
        rc().run("""
                a         post  send 1
                a         post  read 8 <- r1+0  wr 2 signaled
                a -> b    SEND_ONLY     psn 100  => receiver-not-ready
                a -> b    READ_REQUEST  psn 101  => out-of-sequence
                b -> a    RNR  psn 100
                b         post  recv 10 wr 1
                +0.64ms   a -> b    SEND_ONLY     psn 100
                a -> b    READ_REQUEST  psn 101
                b -> a    ACK  psn 100
                b -> a    READ_RESPONSE_ONLY  psn 101
                a         completion  wr 2 success
                b         completion  wr 1 success
                """);
    }

    @Test
    void anRnrNakBehindALostReadAnswerBringsTheReadBackFirst() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 1 signaled
                a         post  send 1 wr 2 signaled
                a -> b    READ_REQUEST  psn 100
                a -> b    SEND_ONLY     psn 101  => receiver-not-ready
                b -x a    READ_RESPONSE_ONLY  psn 100     lost
                b -> a    RNR  psn 101
                b         post  recv 10 wr 9
                a -> b    READ_REQUEST  psn 100  => duplicate
                a -> b    SEND_ONLY     psn 101  => accepted
                b -> a    READ_RESPONSE_ONLY  psn 100
                b -> a    ACK  psn 101
                a         completion  wr 1 success
                a         completion  wr 2 success
                b         completion  wr 9 success
                """);
    }

    @Test
    void aSequenceNakDuringTheWaitCostsNoRetry() {
        rc().retries(0).run("""
                a         post  send 1
                a         post  send 2
                a -> peer    SEND_ONLY  psn 100
                a -> peer    SEND_ONLY  psn 101
                peer -> a    RNR timer 12  psn 100
                peer -> a    NAK sequence  psn 100
                a         state  RTS
                +0.64ms   a -> peer    SEND_ONLY  psn 100
                a -> peer    SEND_ONLY  psn 101
                peer -> a    ACK  psn 101  msn 2
                """);
    }
}
