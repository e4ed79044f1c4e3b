package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Faults of one's own memory and requests, on both sides (IBTA 9.9.2.1, 9.9.3.1, 10.8.5.2).
class LocalErrorTest {
    @Test
    void aSendBeyondItsOwnRegionFailsBeforeAnythingIsSent() {
        rc().run("""
                a         post  send 100 from out+65500 len 100 wr 7
                nothing
                a         completion  wr 7 loc-prot-err
                a         state  ERR
                """);
    }

    @Test
    void aSendFromAWithdrawnRegionFails() {
        rc().run("""
                a         post  send 100 wr 7
                a         close region out
                nothing
                a         completion  wr 7 loc-prot-err
                """);
    }

    @Test
    void aSendFromAClosedArenaFails() {
        rc().run("""
                a         post  send 100 wr 7
                a         close arena out
                nothing
                a         completion  wr 7 loc-prot-err
                """);
    }

    @Test
    void aSendFromAnotherProtectionDomainFails() {
        rc().run("""
                a         region  foreign pd 2
                a         post  send 100 from foreign+0 len 100 wr 7
                nothing
                a         completion  wr 7 loc-prot-err
                """);
    }

    @Test
    void aReadIntoMemoryThatMayNotBeWrittenFailsBeforeAnythingIsSent() {
        rc().run("""
                a         region  readonly access none
                a         post  read 8 <- r1+0 into readonly+0 len 8 wr 7
                nothing
                a         completion  wr 7 loc-prot-err
                a         memory  unchanged
                """);
    }

    @Test
    void aLocalErrorWaitsForTheRequestsBeforeIt() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  send 100 from out+65500 len 100 wr 2
                a         post  write 1 -> r1+0  wr 3
                a -x b    WRITE_ONLY  psn 100
                nothing
                a         completion  none
                +67.108864ms  a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                a         completion  wr 2 loc-prot-err
                a         completion  wr 3 wr-flush-err
                """);
    }

    @Test
    void memoryWithdrawnInTheMiddleOfAMessageFailsItInOrder() {
        rc().mtu(256).run("""
                a         post  write 8 -> r1+0  wr 1 signaled from r2+0 len 8
                a         post  write 600 -> r1+0  wr 2
                a -x b    WRITE_ONLY   psn 100
                a -x b    WRITE_FIRST  psn 101
                a         close region out
                nothing
                a         completion  none
                +67.108864ms  a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                a         completion  wr 2 loc-prot-err
                a         state  ERR
                """);
    }

    @Test
    void anAnswerIntoMemoryWithdrawnMeanwhileFailsTheRead() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 7
                a -> b    READ_REQUEST  psn 100
                a         close region in
                b -> a    READ_RESPONSE_ONLY  psn 100
                a         completion  wr 7 loc-prot-err
                a         state  ERR
                """);
    }

    @Test
    void anAtomicsResultIntoAClosedArenaFailsTheAtomic() {
        rc().run("""
                b         set   r1+0 word 1
                a         post  fetch-add 1 -> r1+0  wr 7
                a -> b    FETCH_ADD  psn 100
                a         close arena in
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100
                a         completion  wr 7 loc-prot-err
                b         word  r1+0 is 2
                """);
    }

    @Test
    void aReceiveIntoWithdrawnMemoryIsAnOperationalErrorToThePeer() {
        rc().run("""
                b         post  recv 100 wr 1
                b         close region in
                a         post  send 10 wr 7
                a -> b    SEND_ONLY  psn 100  => refused
                b -> a    NAK operational  psn 100  msn 0
                a         completion  wr 7 rem-op-err
                b         completion  wr 1 loc-prot-err
                b         state  ERR
                b         counter  sent.nak.operational 1
                """);
    }

    @Test
    void aReceiveIntoMemoryThatMayNotBeWrittenFails() {
        rc().run("""
                b         region  readonly access none
                b         post  recv wr 1 into readonly+0 len 100
                a         post  send 10 wr 7
                a -> b    SEND_ONLY  psn 100  => refused
                b -> a    NAK operational  psn 100
                a         completion  wr 7 rem-op-err
                b         completion  wr 1 loc-prot-err
                b         memory  unchanged
                """);
    }

    @Test
    void aMessageLongerThanItsReceiveIsRefused() {
        rc().run("""
                b         post  recv 9 wr 1
                b         post  recv 100 wr 2
                a         post  send 10 wr 7
                a -> b    SEND_ONLY  psn 100  => refused
                b -> a    NAK invalid-request  psn 100  msn 0
                a         completion  wr 7 rem-inv-req-err
                b         completion  wr 1 loc-len-err
                b         completion  wr 2 wr-flush-err
                b         memory  unchanged
                """);
    }

    @Test
    void aLongMessageIsRefusedWhereItOutgrowsItsReceive() {
        rc().mtu(256).run("""
                b         post  recv 300 wr 1
                a         post  send 600 wr 7
                a -> b    SEND_FIRST   psn 100  => accepted
                a -> b    SEND_MIDDLE  psn 101  => refused
                b -> a    NAK invalid-request  psn 101
                a         completion  wr 7 rem-inv-req-err
                b         completion  wr 1 loc-len-err
                """);
    }

    @Test
    void aMessageAsLongAsItsReceiveFits() {
        rc().run("""
                b         post  recv 10 wr 1
                a         post  send 10 wr 7 signaled
                a -> b    SEND_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 10
                """);
    }

    @Test
    void aReadWhereNoneMayBeOutstandingIsALocalError() {
        rc().run("""
                a         modify  reads-outstanding 0
                a         post  read 8 <- r1+0  wr 7
                nothing
                a         completion  wr 7 loc-qp-op-err
                a         state  ERR
                """);
    }

    @Test
    void anUnsignaledRequestThatFailsCompletesAllTheSame() {
        rc().run("""
                a         post  write 1 -> 0x1 rkey 0x1  wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void flushedRequestsNameTheRootCause() {
        rc().run("""
                a         post  write 1 -> 0x1 rkey 0x1  wr 7
                a         post  write 1 -> r1+0  wr 8
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err cause NAK access
                a         completion  wr 8 wr-flush-err cause wrId 7
                b         event  QP_ACCESS_ERR
                """);
    }
}
