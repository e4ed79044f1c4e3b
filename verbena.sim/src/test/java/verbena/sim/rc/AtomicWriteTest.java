package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// ATOMIC WRITE (IBTA A19): eight aligned bytes at once, once, answered like a READ of nothing.
class AtomicWriteTest {
    @Test
    void itIsAnsweredWithAReadResponseOfNothing() {
        rc().run("""
                a         post  atomic-write 0x1122334455667788 -> r1+16 wr 7 signaled
                a -> b    ATOMIC_WRITE        psn 100  ackreq  r1+16 len 8  | 8
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1  | 0
                a         completion  wr 7 success opcode atomic-write
                b         word        r1+16 is 0x1122334455667788
                nothing ever
                """);
    }

    @Test
    void itTakesOnePsn() {
        rc().psn(0xFFFFFF).run("""
                a         post  atomic-write 5 -> r1+0
                a         post  write 8 -> r1+8
                a -> b    ATOMIC_WRITE        psn 0xffffff
                a -> b    WRITE_ONLY          psn 0
                b -> a    READ_RESPONSE_ONLY  psn 0xffffff  msn 1
                b -> a    ACK                 psn 0         msn 2
                """);
    }

    @Test
    void aLostRequestIsSentAgain() {
        rc().run("""
                a         post  atomic-write 5 -> r1+0 wr 7 signaled
                a -x b    ATOMIC_WRITE        psn 100
                +67.108864ms  a -> b    ATOMIC_WRITE  psn 100
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1
                a         completion  wr 7 success
                """);
    }

    @Test
    void aLostAnswerIsGivenAgainAndNothingIsWrittenTwice() {
        rc().run("""
                a         post  atomic-write 5 -> r1+0 wr 7 signaled
                a -> b    ATOMIC_WRITE        psn 100
                b -x a    READ_RESPONSE_ONLY  psn 100  msn 1
                b         set   r1+0 word 9
                +67.108864ms  a -> b    ATOMIC_WRITE  psn 100  => duplicate
                b -> a    READ_RESPONSE_ONLY  psn 100  msn 1
                a         completion  wr 7 success
                b         word  r1+0 is 9
                """);
    }

    @Test
    void aDuplicateThatIsNotRememberedIsNotAnswered() {
        rc().reads(1).run("""
                a         post  atomic-write 5 -> r1+0
                a -> b    ATOMIC_WRITE        psn 100
                b -> a    READ_RESPONSE_ONLY  psn 100
                a         post  read 8 <- r1+0
                a -> b    READ_REQUEST        psn 101
                b -> a    READ_RESPONSE_ONLY  psn 101
                peer -> b    ATOMIC_WRITE  psn 100  r1+0  | 8  => dropped.no-replay
                b         word  r1+0 is 5
                """);
    }

    @Test
    void aDuplicateOfAnotherKindIsNotAnswered() {
        rc().run("""
                a         post  atomic-write 5 -> r1+0
                a -> b    ATOMIC_WRITE        psn 100
                b -> a    READ_RESPONSE_ONLY  psn 100
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => dropped.no-replay
                b         word  r1+0 is 5
                """);
    }

    @Test
    void itCountsAmongTheReadsThatMayBeOutstanding() {
        rc().reads(1).run("""
                a         post  atomic-write 5 -> r1+0 wr 7 signaled
                a         post  atomic-write 6 -> r1+8 wr 8 signaled
                a -> b    ATOMIC_WRITE        psn 100  r1+0
                a         silent
                b -> a    READ_RESPONSE_ONLY  psn 100
                a -> b    ATOMIC_WRITE        psn 101  r1+8
                b -> a    READ_RESPONSE_ONLY  psn 101
                a         completion  wr 7 success
                a         completion  wr 8 success
                """);
    }

    @Test
    void moreThanTheResponderServesIsRefused() {
        rc().run("""
                b         modify  reads-served 1 SQD
                peer -> b    ATOMIC_WRITE  psn 100  r1+0  | 8  => accepted
                peer -> b    ATOMIC_WRITE  psn 101  r1+8  | 8  => refused
                b -> peer    READ_RESPONSE_ONLY   psn 100
                b -> peer    NAK invalid-request  psn 101  msn 1
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aFencedRequestWaitsForIt() {
        rc().run("""
                a         post  atomic-write 5 -> r1+0
                a         post  write 8 -> r1+8 fence
                a -> b    ATOMIC_WRITE        psn 100
                a         silent
                b -> a    READ_RESPONSE_ONLY  psn 100
                a -> b    WRITE_ONLY          psn 101
                b -> a    ACK  psn 101
                """);
    }

    @Test
    void anAddressThatIsNoMultipleOfEightIsAnInvalidRequest() {
        rc().run("""
                peer -> b    ATOMIC_WRITE  psn 100  r1+4  | 8  => refused
                b -> peer    NAK invalid-request  psn 100  msn 0
                b         event   QP_REQ_ERR
                b         state   ERR
                b         memory  unchanged
                """);
    }

    @Test
    void anotherLengthThanEightIsAnInvalidRequest() {
        rc().run("""
                peer -> b    ATOMIC_WRITE  psn 100  r1+0 len 16  | 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event   QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void lessPayloadThanEightBytesIsAnInvalidRequest() {
        rc().run("""
                peer -> b    ATOMIC_WRITE  psn 100  r1+0 len 8  | 4  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event   QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void morePayloadThanEightBytesIsAnInvalidRequest() {
        rc().run("""
                peer -> b    ATOMIC_WRITE  psn 100  r1+0 len 8  | 12  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event   QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aQueuePairWithoutRemoteWriteRefusesIt() {
        rc().run("""
                b         modify  access remote-read remote-atomic
                peer -> b    ATOMIC_WRITE  psn 100  r1+0  | 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aRegionWithoutRemoteWriteRefusesIt() {
        rc().run("""
                b         region  r3 access local-write remote-atomic
                a         post    atomic-write 5 -> r3+0 wr 7
                a -> b    ATOMIC_WRITE  psn 100  => refused
                b -> a    NAK access    psn 100
                a         completion  wr 7 rem-access-err
                b         event   QP_ACCESS_ERR
                b         memory  r3+0 unchanged
                """);
    }

    @Test
    void aWrongKeyIsRefused() {
        rc().run("""
                peer -> b    ATOMIC_WRITE  psn 100  r1+0 rkey 0x12345678  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void theEndOfTheRegionIsTheEnd() {
        rc().run("""
                peer -> b    ATOMIC_WRITE  psn 100  r1+65528  | 8  => accepted
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    ATOMIC_WRITE  psn 101  r1+65536  | 8  => refused
                b -> peer    NAK access  psn 101
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aWindowForWritingIsEnough() {
        rc().run("""
                b         window  w1 type 2
                b         post    bind w1 -> r1+96 len 32 access remote-write wr 5 signaled
                b         completion  wr 5 success
                peer -> b    ATOMIC_WRITE  psn 100  w1+8  | 8   => accepted
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    ATOMIC_WRITE  psn 101  w1+32  | 8  => refused
                b -> peer    NAK access  psn 101
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void itDoesNotStartInTheMiddleOfAMessage() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST   psn 100  r1+0 len 300  | 256  => accepted
                peer -> b    ATOMIC_WRITE  psn 101  r1+8  | 8            => refused
                b -> peer    NAK invalid-request  psn 101
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void anAnswerWithDataIsABadOne() {
        rc().run("""
                a         post  atomic-write 5 -> r1+0 wr 7
                a -> peer    ATOMIC_WRITE        psn 100
                peer -> a    READ_RESPONSE_ONLY  psn 100  msn 1  | 8
                a         completion  wr 7 bad-resp-err
                a         state  ERR
                """);
    }

    @Test
    void anAnswerOfTheWrongKindIsABadOne() {
        rc().run("""
                a         post  atomic-write 5 -> r1+0 wr 7
                a -> peer    ATOMIC_WRITE        psn 100
                peer -> a    ATOMIC_ACKNOWLEDGE  psn 100  msn 1  original 4
                a         completion  wr 7 bad-resp-err
                """);
    }

    @Test
    void aLaterAnswerShowsThatItsOwnWasLost() {
        rc().run("""
                a         post  atomic-write 5 -> r1+0 wr 7 signaled
                a         post  write 8 -> r1+8 wr 8 signaled
                a -> b    ATOMIC_WRITE        psn 100
                a -> b    WRITE_ONLY          psn 101
                b -x a    READ_RESPONSE_ONLY  psn 100
                b -> a    ACK                 psn 101
                a -> b    ATOMIC_WRITE        psn 100  => duplicate
                a -> b    WRITE_ONLY          psn 101  => duplicate
                b -> a    READ_RESPONSE_ONLY  psn 100
                b -> a    ACK                 psn 101
                a         completion  wr 7 success
                a         completion  wr 8 success
                """);
    }
}
