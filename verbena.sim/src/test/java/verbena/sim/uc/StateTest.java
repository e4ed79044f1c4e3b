package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// States of an unreliable connection: what sends, what receives, what is flushed (IBTA 10.3.1).
class StateTest {
    @Test
    void aQueuePairInResetOrInitDropsWhatArrives() {
        uc().run("""
                b         modify  RESET
                peer -> b    UC_WRITE_ONLY  psn 100  r1+0  | 8  => dropped.state
                b         modify  INIT
                peer -> b    UC_WRITE_ONLY  psn 100  r1+0  | 8  => dropped.state
                b         memory  unchanged
                """);
    }

    @Test
    void inRtrItReceivesAndSaysThatItHasHeardThePeer() {
        uc().run("""
                b         modify  RESET
                b         modify  INIT
                b         post    recv 10 wr 1
                b         modify  RTR
                peer -> b    UC_SEND_ONLY  psn 100  | 8  => accepted
                b         event   COMM_EST
                b         completion  wr 1 success
                peer -> b    UC_WRITE_ONLY  psn 101  r1+0  | 8
                b         event   none
                """);
    }

    @Test
    void inRtrNothingIsSent() {
        uc().run("""
                a         modify  RESET
                a         modify  INIT
                a         modify  RTR
                a         post    write 8 -> r1+0
                nothing ever
                a         modify  RTS
                a -> b    UC_WRITE_ONLY  psn 100
                """);
    }

    @Test
    void errFlushesSendsAndReceivesInOrder() {
        uc().run("""
                a         post    recv 10 wr 1
                a         post    recv 10 wr 2
                a         post    send 10 wr 7
                a         post    write 8 -> r1+0 wr 8
                a         modify  ERR
                a         completion  wr 7 wr-flush-err
                a         completion  wr 8 wr-flush-err
                a         completion  wr 1 wr-flush-err
                a         completion  wr 2 wr-flush-err
                nothing ever
                """);
    }

    @Test
    void whatIsPostedInErrIsFlushed() {
        uc().run("""
                a         modify  ERR
                a         post    send 10 wr 7
                a         completion  wr 7 wr-flush-err
                a         post    recv 10 wr 1
                a         completion  wr 1 wr-flush-err
                """);
    }

    @Test
    void errFlushesAReceiveInUse() {
        uc().mtu(256).run("""
                b         post    recv 1000 wr 1
                b         post    recv 1000 wr 2
                peer -> b    UC_SEND_FIRST  psn 100  | 256
                b         modify  ERR
                b         completion  wr 1 wr-flush-err
                b         completion  wr 2 wr-flush-err
                peer -> b    UC_SEND_LAST   psn 101  | 8  => dropped.state
                """);
    }

    @Test
    void errBreaksAMessageOffInTheMiddle() {
        uc().mtu(256).run("""
                b         post    recv 1000 wr 1
                a         post    send 600 wr 7
                a -> b    UC_SEND_FIRST  psn 100
                a         modify  ERR
                a         completion  wr 7 wr-flush-err
                nothing ever
                b         completion  none
                """);
    }

    @Test
    void errWithASharedReceiveQueueTellsOfTheLastReceive() {
        uc().srq().run("""
                b         post    recv 10 wr 1
                b         modify  ERR
                b         event   QP_LAST_WQE_REACHED
                b         completion  none
                """);
    }

    @Test
    void resetForgetsEverythingWithoutCompletions() {
        uc().run("""
                a         post    recv 10 wr 1
                a         post    send 10 wr 7 signaled
                a         modify  RESET
                a         modify  INIT
                a         modify  RTR
                a         modify  RTS
                nothing ever
                a         completion  none
                """);
    }

    @Test
    void resetForgetsAMessageThatWasBegun() {
        uc().mtu(256).run("""
                b         post    recv 1000 wr 1
                peer -> b    UC_SEND_FIRST  psn 100  | 256
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                b         modify  RTS
                b         post    recv 1000 wr 2
                peer -> b    UC_SEND_LAST   psn 101  | 8    => dropped.message
                peer -> b    UC_SEND_ONLY   psn 102  | 8    => accepted
                b         completion  wr 2 success byte-len 8
                """);
    }

    @Test
    void sqdFinishesTheMessageThatWasBegunAndHoldsTheNext() {
        uc().mtu(256).run("""
                b         post    recv 1000 wr 1
                a         post    send 600 wr 7 signaled
                a         post    write 8 -> r1+0 wr 8 signaled
                a -> b    UC_SEND_FIRST   psn 100
                a         modify  notify-drained SQD
                a -> b    UC_SEND_MIDDLE  psn 101
                a -> b    UC_SEND_LAST    psn 102
                a         event   SQ_DRAINED
                a         completion  wr 7 success
                nothing ever
                a         modify  RTS
                a -> b    UC_WRITE_ONLY   psn 103
                a         completion  wr 8 success
                b         completion  wr 1 success byte-len 600
                """);
    }

    @Test
    void sqdOfAQuietQueuePairIsDrainedAtOnce() {
        uc().run("""
                a         modify  notify-drained SQD
                a         event   SQ_DRAINED
                """);
    }

    @Test
    void inSqdItReceives() {
        uc().run("""
                b         post    recv 10 wr 1
                b         modify  SQD
                peer -> b    UC_SEND_ONLY  psn 100  | 8  => accepted
                b         completion  wr 1 success
                """);
    }
}
