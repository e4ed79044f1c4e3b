package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// The states of a queue pair and what each lets through (IBTA 10.3.1), with the events that tell of changes.
class StateTest {
    @Test
    void aQueuePairInInitDropsWhatArrives() {
        rc().run("""
                b         modify  RESET
                b         modify  INIT
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8  => dropped.state
                nothing
                b         event  none
                """);
    }

    @Test
    void aQueuePairInResetDropsWhatArrives() {
        rc().run("""
                b         modify  RESET
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8  => dropped.state
                nothing
                b         counter  dropped.state 1
                """);
    }

    @Test
    void aQueuePairInRtrAnswers() {
        rc().run("""
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                b         post  recv 100 wr 1
                a         post  send 10
                a         post  read 8 <- r1+0
                a -> b    SEND_ONLY     psn 100
                a -> b    READ_REQUEST  psn 101
                b -> a    ACK  psn 100
                b -> a    READ_RESPONSE_ONLY  psn 101
                b         completion  wr 1 success
                b         event  COMM_EST
                """);
    }

    @Test
    void aQueuePairInRtrSendsNothingOfItsOwn() {
        rc().run("""
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                b         post  send 10
                nothing
                nothing ever
                b         modify  RTS
                b -> a    SEND_ONLY  psn 7000
                a -> b    RNR  psn 7000
                """);
    }

    @Test
    void theFirstPacketInRtrIsReportedOnce() {
        rc().run("""
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8
                b         event  COMM_EST
                peer -> b    WRITE_ONLY  psn 101  r1+0  | 8
                b         event  none
                """);
    }

    @Test
    void inRtsTheFirstPacketIsNoEvent() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8
                b         event  none
                """);
    }

    @Test
    void goingToErrorFlushesBothQueuesInOrder() {
        rc().run("""
                a         post  recv 10 wr 1
                a         post  recv 10 wr 2
                a         post  write 8 -> r1+0  wr 3
                a         post  send 8  wr 4 signaled
                a -x b    WRITE_ONLY  psn 100
                a         modify  ERR
                nothing
                a         completion  wr 3 wr-flush-err
                a         completion  wr 4 wr-flush-err
                a         completion  wr 1 wr-flush-err
                a         completion  wr 2 wr-flush-err
                nothing ever
                """);
    }

    @Test
    void whatIsPostedInErrorIsFlushed() {
        rc().run("""
                a         modify  ERR
                a         post  send 8  wr 4
                a         completion  wr 4 wr-flush-err
                a         post  recv 8  wr 5
                a         completion  wr 5 wr-flush-err
                nothing
                """);
    }

    @Test
    void aQueuePairInErrorDropsEverythingInSilence() {
        rc().run("""
                b         modify  ERR
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8  => dropped.state
                peer -> b    WRITE_ONLY  psn 105  r1+0  ackreq  | 8  => dropped.state
                peer -> b    ACK  psn 7000  => dropped.state
                nothing
                b         memory  unchanged
                """);
    }

    @Test
    void aReceiveInUseIsFlushedFirst() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                b         post  recv 1000 wr 2
                peer -> b    SEND_FIRST  psn 100  | 256
                b         modify  ERR
                b         completion  wr 1 wr-flush-err
                b         completion  wr 2 wr-flush-err
                """);
    }

    @Test
    void goingToErrorForgetsWhatIsOwed() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8
                b         modify  ERR
                nothing
                """);
    }

    @Test
    void resetDiscardsRequestsWithoutCompletions() {
        rc().run("""
                a         post  recv 10 wr 1
                a         post  write 8 -> r1+0  wr 3
                a -x b    WRITE_ONLY  psn 100
                a         modify  RESET
                nothing ever
                a         completion  none
                """);
    }

    @Test
    void aQueuePairIsAsNewAfterReset() {
        rc().run("""
                a         post  write 8 -> r1+0
                a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100  msn 1
                a         modify  RESET
                b         modify  RESET
                a         modify  INIT
                b         modify  INIT
                a         modify  rq-psn 900 RTR
                b         modify  rq-psn 500 RTR
                a         modify  sq-psn 500 RTS
                b         modify  sq-psn 900 RTS
                a         post  write 8 -> r1+0  wr 9 signaled
                a -> b    WRITE_ONLY  psn 500
                b -> a    ACK  psn 500  msn 1
                a         completion  wr 9 success
                b         event  none
                """);
    }

    @Test
    void resetForgetsAHalfReceivedMessage() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 300  | 256
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                b         modify  RTS
                peer -> b    WRITE_ONLY  psn 100  r1+0  ackreq  | 8  => accepted
                b -> peer    ACK  psn 100  msn 1
                """);
    }

    @Test
    void aDrainingQueueFinishesWhatWasStartedAndStartsNothing() {
        rc().run("""
                a         post  write 8 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100
                a         post  write 8 -> r1+0  wr 2 signaled
                a         modify  notify-drained SQD
                a         event  none
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                a         event  SQ_DRAINED
                nothing ever
                a         completion  none
                a         modify  RTS
                a -> b    WRITE_ONLY  psn 101
                b -> a    ACK  psn 101
                a         completion  wr 2 success
                """);
    }

    @Test
    void aLongMessageThatHasStartedIsFinishedWhileDraining() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 1 signaled
                a         post  write 8 -> r1+0  wr 2 signaled
                a -> b    WRITE_FIRST  psn 100
                a         modify  notify-drained SQD
                a -> b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_LAST    psn 102
                a         event  none
                b -> a    ACK  psn 102
                a         event  SQ_DRAINED
                a         completion  wr 1 success
                nothing
                """);
    }

    @Test
    void lossesAreRepairedWhileDraining() {
        rc().run("""
                a         post  write 8 -> r1+0  wr 1 signaled
                a -x b    WRITE_ONLY  psn 100     lost
                a         modify  notify-drained SQD
                +67.108864ms  a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                a         event  SQ_DRAINED
                a         completion  wr 1 success
                """);
    }

    @Test
    void anEmptyQueueIsDrainedAtOnce() {
        rc().run("""
                a         modify  notify-drained SQD
                a         event  SQ_DRAINED
                """);
    }

    @Test
    void drainingIsSilentUnlessAskedToTell() {
        rc().run("""
                a         modify  SQD
                a         event  none
                a         state  SQD
                """);
    }

    @Test
    void aDrainedQueuePairStillAnswers() {
        rc().run("""
                b         modify  SQD
                b         post  send 5
                a         post  write 8 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 100  => accepted
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                nothing
                """);
    }

    @Test
    void aFailureOfTheResponderFlushesTheSenderToo() {
        rc().run("""
                b         post  write 8 -> r2+0  wr 3
                b -x a    WRITE_ONLY  psn 7000
                peer -> b    WRITE_ONLY  psn 100  va 1 rkey 1  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                b         completion  wr 3 wr-flush-err
                b         state  ERR
                """);
    }

    @Test
    void rightsCanBeTakenAwayInRts() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8  => accepted
                b         modify  access none
                peer -> b    WRITE_ONLY  psn 101  r1+0  | 8  => refused
                b -> peer    NAK invalid-request  psn 101
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void theRnrTimerCanBeChangedInRts() {
        rc().run("""
                b         modify  rnr-timer 20
                peer -> b    SEND_ONLY  psn 100  | 8
                b -> peer    RNR timer 20  psn 100
                """);
    }

    @Test
    void aDrainedQueueIsReportedOnce() {
        rc().run("""
                a         modify  notify-drained SQD
                a         event  SQ_DRAINED
                a         modify  timeout 15
                a         event  none
                a         modify  RTS
                a         modify  SQD
                a         event  SQ_DRAINED
                """);
    }
}
