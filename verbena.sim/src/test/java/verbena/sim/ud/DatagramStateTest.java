package verbena.sim.ud;

import static verbena.sim.script.PacketScript.ud;

import org.junit.jupiter.api.Test;

/// States of a datagram's queue pair, and requests that fail on its own side (IBTA 10.3.1).
class DatagramStateTest {
    @Test
    void aQueuePairInResetOrInitDropsWhatArrives() {
        ud().run("""
                b         modify  RESET
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 8  => dropped.state
                b         modify  INIT
                b         post    recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 8  => dropped.state
                b         completion  none
                """);
    }

    @Test
    void inRtrItReceivesAndDoesNotSend() {
        ud().run("""
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                b         post    recv 50 wr 1
                b         post    send 1 to a
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 8  => accepted
                b         completion  wr 1 success
                nothing ever
                b         modify  RTS
                b -> peer    UD_SEND_ONLY  psn 7000
                """);
    }

    @Test
    void errFlushesSendsAndReceivesInOrder() {
        ud().run("""
                a         post    recv 50 wr 1
                a         post    send 1 to b wr 7
                a         modify  ERR
                a         completion  wr 7 wr-flush-err
                a         completion  wr 1 wr-flush-err
                peer -> a    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x12  | 8  => dropped.state
                """);
    }

    @Test
    void whatIsPostedInErrIsFlushed() {
        ud().run("""
                a         modify  ERR
                a         post    send 1 to b wr 7
                a         completion  wr 7 wr-flush-err
                a         post    recv 50 wr 1
                a         completion  wr 1 wr-flush-err
                """);
    }

    @Test
    void errWithASharedReceiveQueueTellsOfTheLastReceive() {
        ud().srq().run("""
                b         post    recv 50 wr 1
                b         modify  ERR
                b         event   QP_LAST_WQE_REACHED
                b         completion  none
                """);
    }

    @Test
    void sqdHoldsWhatHasNotLeft() {
        ud().run("""
                a         post    send 1 to b
                a         modify  notify-drained SQD
                a         event   SQ_DRAINED
                nothing ever
                a         modify  RTS
                a -> b    UD_SEND_ONLY  => dropped.message
                """);
    }

    @Test
    void inSqdItReceives() {
        ud().run("""
                b         modify  SQD
                b         post    recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 8  => accepted
                b         completion  wr 1 success
                """);
    }

    @Test
    void resetForgetsEverythingWithoutCompletions() {
        ud().run("""
                a         post    recv 50 wr 1
                a         post    send 1 to b wr 7 signaled
                a         modify  RESET
                a         modify  INIT
                a         modify  RTR
                a         modify  RTS
                nothing ever
                a         completion  none
                """);
    }

    @Test
    void aRequestWhoseMemoryIsGoneStopsTheSendQueueOnly() {
        ud().run("""
                a         region  r5 access local-write
                a         post    recv 50 wr 1
                a         post    send 8 to b wr 7 from r5+0 len 8
                a         post    send 1 to b wr 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         completion  wr 8 wr-flush-err
                a         state   SQE
                b         post    send 1 to a
                b -> a    UD_SEND_ONLY  => accepted
                a         completion  wr 1 success
                nothing ever
                """);
    }

    @Test
    void backInRtsItSendsAgain() {
        ud().run("""
                a         region  r5 access local-write
                a         post    send 8 to b wr 7 from r5+0 len 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         modify  RTS
                a         post    send 1 to b wr 8 signaled
                a -> b    UD_SEND_ONLY  => dropped.message
                a         completion  wr 8 success
                """);
    }

    @Test
    void whatIsPostedInSqeIsFlushed() {
        ud().run("""
                a         region  r5 access local-write
                a         post    send 8 to b wr 7 from r5+0 len 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         post    send 1 to b wr 8
                a         completion  wr 8 wr-flush-err
                nothing ever
                """);
    }

    @Test
    void aWriteIsNotForDatagrams() {
        ud().run("""
                a         post    write 8 -> r1+0 wr 7
                a         completion  wr 7 loc-qp-op-err
                a         state   SQE
                nothing ever
                """);
    }

    @Test
    void anEventOfTheFirstPacketBelongsToConnections() {
        ud().run("""
                b         modify  RESET
                b         modify  INIT
                b         modify  RTR
                b         post    recv 50 wr 1
                peer -> b    UD_SEND_ONLY  qkey 0x11111111 srcqp 0x11  | 8
                b         event   none
                b         completion  wr 1 success
                """);
    }
}
