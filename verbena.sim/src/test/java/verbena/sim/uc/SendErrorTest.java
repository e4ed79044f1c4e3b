package verbena.sim.uc;

import static verbena.sim.script.PacketScript.uc;

import org.junit.jupiter.api.Test;

/// A send request that fails on its own side stops the send queue only: SQE (IBTA 10.3.1.6).
class SendErrorTest {
    @Test
    void aRequestWhoseMemoryIsGoneEndsWithAnErrorAndThoseBehindItAreFlushed() {
        uc().run("""
                a         region  r5 access local-write
                a         post    write 8 -> r1+0 wr 6 from out+0 len 8
                a         post    write 8 -> r1+0 wr 7 from r5+0 len 8
                a         post    write 8 -> r1+8 wr 8 from out+0 len 8
                a         close   region r5
                a -> b    UC_WRITE_ONLY  psn 100
                a         completion  wr 7 loc-prot-err
                a         completion  wr 8 wr-flush-err
                a         state   SQE
                nothing ever
                """);
    }

    @Test
    void whatIsPostedInSqeIsFlushed() {
        uc().run("""
                a         region  r5 access local-write
                a         post    write 8 -> r1+0 wr 7 from r5+0 len 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         state   SQE
                a         post    write 8 -> r1+8 wr 8
                a         completion  wr 8 wr-flush-err
                nothing ever
                """);
    }

    @Test
    void whatWasPostedInSqeIsFlushedThoughTheQueuePairIsBackInRts() {
        uc().run("""
                a         region  r5 access local-write
                a         post    write 8 -> r1+0 wr 7 from r5+0 len 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         post    write 8 -> r1+8 wr 8
                a         modify  RTS
                a         completion  wr 8 wr-flush-err
                a         post    write 8 -> r1+8 wr 9 signaled
                a -> b    UC_WRITE_ONLY  r1+8  => accepted
                a         completion  wr 9 success
                """);
    }

    @Test
    void anErrorWhileDrainingEndsInSqe() {
        uc().mtu(256).run("""
                a         region  r5 len 256 access local-write
                a         post    write 300 -> r1+0 wr 7 from out+0 len 256, r5+0 len 44
                a         post    write 8 -> r1+0 wr 8
                a -> b    UC_WRITE_FIRST  psn 100
                a         modify  SQD
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         completion  wr 8 wr-flush-err
                a         state   SQE
                """);
    }

    @Test
    void inSqeItReceivesAsBefore() {
        uc().run("""
                a         region  r5 access local-write
                a         post    recv 10 wr 1
                a         post    write 8 -> r1+0 wr 7 from r5+0 len 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         state   SQE
                b         post    send 10
                b -> a    UC_SEND_ONLY   psn 7000  => accepted
                a         completion  wr 1 success byte-len 10
                b         post    write 8 -> r2+0
                b -> a    UC_WRITE_ONLY  psn 7001  => accepted
                a         memory  r2+0 len 8 as sent only
                """);
    }

    @Test
    void backInRtsItSendsAgain() {
        uc().run("""
                a         region  r5 access local-write
                a         post    write 8 -> r1+0 wr 7 from r5+0 len 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         state   SQE
                a         modify  RTS
                a         post    write 8 -> r1+8 wr 8 signaled
                a -> b    UC_WRITE_ONLY  r1+8  => accepted
                a         completion  wr 8 success
                """);
    }

    @Test
    void aMessageThatFailsInTheMiddleIsDroppedByThePeer() {
        uc().mtu(256).run("""
                a         region  r5 len 256 access local-write
                b         post    recv 1000 wr 1
                a         post    send 300 wr 7 from out+0 len 256, r5+0 len 44
                a -> b    UC_SEND_FIRST  psn 100  => accepted
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         state   SQE
                a         modify  RTS
                a         post    send 5 wr 8
                a -> b    UC_SEND_ONLY  => accepted
                b         completion  wr 1 success byte-len 5
                """);
    }

    @Test
    void aFailedInvalidateStopsTheSendQueueOnly() {
        uc().run("""
                a         post    recv 10 wr 1
                a         post    invalidate 0x12345678 wr 7
                a         completion  wr 7 mw-bind-err
                a         state   SQE
                b         post    send 10
                b -> a    UC_SEND_ONLY  psn 7000  => accepted
                a         completion  wr 1 success
                """);
    }

    @Test
    void fromSqeToErrTheReceivesAreFlushedToo() {
        uc().run("""
                a         region  r5 access local-write
                a         post    recv 10 wr 1
                a         post    write 8 -> r1+0 wr 7 from r5+0 len 8
                a         close   region r5
                a         completion  wr 7 loc-prot-err
                a         modify  ERR
                a         completion  wr 1 wr-flush-err
                """);
    }

    @Test
    void aReadIsNotForUnreliableConnections() {
        uc().run("""
                a         post    read 8 <- r1+0 wr 7
                a         completion  wr 7 loc-qp-op-err
                a         state   SQE
                nothing ever
                """);
    }

    @Test
    void anAtomicIsNotForUnreliableConnections() {
        uc().run("""
                a         post    fetch-add 1 -> r1+0 wr 7
                a         completion  wr 7 loc-qp-op-err
                a         state   SQE
                nothing ever
                """);
    }

    @Test
    void aSendWithInvalidateIsNotForUnreliableConnections() {
        uc().run("""
                a         post    send 8 inv 0x1234 wr 7
                a         completion  wr 7 loc-qp-op-err
                a         state   SQE
                nothing ever
                """);
    }
}
