package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Requests that no correct peer sends: answered with NAK invalid request, and the connection ends (IBTA 9.7.4.1,
/// 9.9.3.1).
class InvalidRequestTest {
    @Test
    void aMiddlePacketWithoutAMessageIsRefused() {
        rc().mtu(256).run("""
                peer -> b    SEND_MIDDLE  psn 100  | 256  => refused
                b -> peer    NAK invalid-request  psn 100  msn 0
                b         event  QP_REQ_ERR
                b         state  ERR
                b         counter  sent.nak.invalid.request 1
                """);
    }

    @Test
    void aLastPacketWithoutAMessageIsRefused() {
        rc().run("""
                peer -> b    WRITE_LAST  psn 100  | 10  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aMessageWithinAMessageIsRefused() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 600  | 256
                peer -> b    WRITE_ONLY   psn 101  r1+0  | 10  => refused
                b -> peer    NAK invalid-request  psn 101  msn 0
                b         event  QP_REQ_ERR
                b         memory  r1+0 len 256 as sent only
                """);
    }

    @Test
    void aReadWithinAMessageIsRefused() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    SEND_FIRST    psn 100  | 256
                peer -> b    READ_REQUEST  psn 101  r1+0 len 8  => refused
                b -> peer    NAK invalid-request  psn 101
                b         completion  wr 1 rem-inv-req-err
                """);
    }

    @Test
    void aWritePacketWithinASendIsRefused() {
        rc().mtu(256).run("""
                b         post  recv 1000 wr 1
                peer -> b    SEND_FIRST    psn 100  | 256
                peer -> b    WRITE_MIDDLE  psn 101  | 256  => refused
                b -> peer    NAK invalid-request  psn 101
                b         completion  wr 1 rem-inv-req-err
                b         memory  r1+0 unchanged
                """);
    }

    @Test
    void aSendPacketWithinAWriteIsRefused() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 600  | 256
                peer -> b    SEND_LAST    psn 101  | 10  => refused
                b -> peer    NAK invalid-request  psn 101
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aFirstPacketShorterThanTheMtuIsRefused() {
        rc().mtu(1024).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 1000  | 512  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aFirstPacketLongerThanTheMtuIsRefused() {
        rc().mtu(256).run("""
                b         post  recv 4000 wr 1
                peer -> b    SEND_FIRST  psn 100  | 512  => refused
                b -> peer    NAK invalid-request  psn 100
                b         completion  wr 1 rem-inv-req-err
                b         memory  unchanged
                """);
    }

    @Test
    void aMiddlePacketOfAnotherSizeThanTheMtuIsRefused() {
        rc().mtu(512).run("""
                peer -> b    WRITE_FIRST   psn 100  r1+0 len 2000  | 512
                peer -> b    WRITE_MIDDLE  psn 101  | 256  => refused
                b -> peer    NAK invalid-request  psn 101
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void anEmptyLastPacketIsRefused() {
        rc().mtu(256).run("""
                b         post  recv 4000 wr 1
                peer -> b    SEND_FIRST  psn 100  | 256
                peer -> b    SEND_LAST   psn 101  | 0  => refused
                b -> peer    NAK invalid-request  psn 101
                b         completion  wr 1 rem-inv-req-err
                """);
    }

    @Test
    void anOnlyPacketLongerThanTheMtuIsRefused() {
        rc().mtu(256).run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 257  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aWriteThatSaysMoreThanItCarriesIsRefused() {
        rc().run("""
                peer -> b    WRITE_ONLY  psn 100  r1+0 len 20  | 10  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aWriteThatCarriesMoreThanItSaysIsRefused() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 300  | 256
                peer -> b    WRITE_LAST   psn 101  | 100  => refused
                b -> peer    NAK invalid-request  psn 101
                b         event  QP_REQ_ERR
                b         memory  r1+0 len 256 as sent only
                """);
    }

    @Test
    void aWriteWhoseMiddleReachesItsEndIsRefused() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST   psn 100  r1+0 len 512  | 256
                peer -> b    WRITE_MIDDLE  psn 101  | 256  => refused
                b -> peer    NAK invalid-request  psn 101
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aWriteThatEndsTooEarlyIsRefused() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 1000  | 256
                peer -> b    WRITE_LAST   psn 101  | 256  => refused
                b -> peer    NAK invalid-request  psn 101
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aReadOfMoreThanTwoGibibytesIsRefused() {
        rc().run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 0x80000001  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aWriteOfMoreThanTwoGibibytesIsRefused() {
        rc().mtu(256).run("""
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 0xffffffff  | 256  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aWriteThatTheQueuePairDoesNotEnableIsInvalid() {
        rc().run("""
                b         modify  access remote-read remote-atomic
                a         post  write 10 -> r1+0  wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK invalid-request  psn 100
                a         completion  wr 7 rem-inv-req-err
                b         event  QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aReadThatTheQueuePairDoesNotEnableIsInvalid() {
        rc().run("""
                b         modify  access remote-write
                a         post  read 10 <- r1+0  wr 7
                a -> b    READ_REQUEST  psn 100  => refused
                b -> a    NAK invalid-request  psn 100
                a         completion  wr 7 rem-inv-req-err
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void anAtomicThatTheQueuePairDoesNotEnableIsInvalid() {
        rc().run("""
                b         modify  access remote-write remote-read
                a         post  fetch-add 1 -> r1+0  wr 7
                a -> b    FETCH_ADD  psn 100  => refused
                b -> a    NAK invalid-request  psn 100
                a         completion  wr 7 rem-inv-req-err
                b         event  QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aSendNeedsNoRightOfTheQueuePair() {
        rc().run("""
                b         modify  access none
                b         post  recv 10 wr 1
                a         post  send 10
                a -> b    SEND_ONLY  psn 100  => accepted
                b -> a    ACK  psn 100
                b         completion  wr 1 success
                """);
    }

    @Test
    void aMisalignedAtomicIsInvalid() {
        rc().run("""
                a         post  fetch-add 1 -> r1+4  wr 7
                a -> b    FETCH_ADD  psn 100  r1+4  => refused
                b -> a    NAK invalid-request  psn 100
                a         completion  wr 7 rem-inv-req-err
                b         event  QP_REQ_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aReadIsRefusedWhereNoneIsServed() {
        rc().run("""
                b         modify  RESET
                b         modify  reads-served 0 INIT
                b         modify  RTR
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8  => refused
                b         event  COMM_EST
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void moreReadsAtOnceThanServedAreRefused() {
        rc().reads(2).run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                peer -> b    FETCH_ADD     psn 101  r1+0 add 1
                peer -> b    READ_REQUEST  psn 102  r1+0 len 8  => refused
                b -> peer    READ_RESPONSE_ONLY  psn 100
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 101
                b -> peer    NAK invalid-request  psn 102  msn 2
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void aReadThatWasAnsweredMakesRoomForTheNext() {
        rc().reads(1).run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    READ_REQUEST  psn 101  r1+0 len 8  => accepted
                b -> peer    READ_RESPONSE_ONLY  psn 101
                """);
    }

    @Test
    void anAnswerOwedTwiceDoesNotCountAgainstTheLimit() {
        // The peer had its first answer late, after it had asked again; it may start the next READ then.
        rc().reads(1).run("""
                a         post  read 8 <- r1+0   wr 1 signaled
                a         post  read 8 <- r1+64  wr 2 signaled
                a -> b    READ_REQUEST  psn 100
                b ->>68ms a  READ_RESPONSE_ONLY  psn 100     late
                +67.108864ms  a -> b    READ_REQUEST  psn 100  => duplicate
                nobody moves until +0.891136ms
                a         completion  wr 1 success
                a -> b    READ_REQUEST  psn 101  => accepted
                b -> a    READ_RESPONSE_ONLY  psn 100  => duplicate
                b -> a    READ_RESPONSE_ONLY  psn 101
                a         completion  wr 2 success
                """);
    }

    @Test
    void anOperationThatIsNotServedIsRefused() {
        rc().run("""
                peer -> b    FLUSH  psn 100  r1+0 len 8  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void theRequesterOfAnInvalidRequestFailsAndFlushes() {
        rc().run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 2 -> r1+0  wr 2
                a         post  write 3 -> r1+0  wr 3
                a -> peer    WRITE_ONLY  psn 100
                a -> peer    WRITE_ONLY  psn 101
                a -> peer    WRITE_ONLY  psn 102
                peer -> a    NAK invalid-request  psn 101  msn 1
                a         completion  wr 1 success
                a         completion  wr 2 rem-inv-req-err
                a         completion  wr 3 wr-flush-err
                a         state  ERR
                """);
    }

    @Test
    void aNakOperationalFailsTheRequestAsRemoteOperationError() {
        rc().run("""
                a         post  send 1 wr 1
                a -> peer    SEND_ONLY  psn 100
                peer -> a    NAK operational  psn 100
                a         completion  wr 1 rem-op-err
                """);
    }

    @Test
    void aNakInTheMiddleOfAMessageFailsThatMessage() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 1
                a -> peer    WRITE_FIRST   psn 100
                a -> peer    WRITE_MIDDLE  psn 101
                peer -> a    NAK access  psn 101
                a         completion  wr 1 rem-access-err
                a         state  ERR
                nothing ever
                """);
    }

    @Test
    void aFatalNakBehindALostReadAnswerBringsTheReadBackFirst() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 1 signaled
                a         post  write 8 -> 0x5 rkey 0x5  wr 2
                a -> b    READ_REQUEST  psn 100
                a -> b    WRITE_ONLY    psn 101  => refused
                b -x a    READ_RESPONSE_ONLY  psn 100     lost
                b -> a    NAK access  psn 101
                a         completion  none
                a -x b    READ_REQUEST  psn 100
                a -x b    WRITE_ONLY    psn 101
                b         event  QP_ACCESS_ERR
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8
                peer -> a    NAK access  psn 101
                a         completion  wr 1 success
                a         completion  wr 2 rem-access-err
                """);
    }

    @Test
    void anAnswerToSomethingElseThanWasAskedIsABadResponse() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 1
                a -> peer    READ_REQUEST  psn 100
                peer -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 1
                a         completion  wr 1 bad-resp-err
                a         memory  unchanged
                """);
    }

    @Test
    void anAnswerOfTheWrongLengthIsABadResponse() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 1
                a -> peer    READ_REQUEST  psn 100
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 12
                a         completion  wr 1 bad-resp-err
                a         memory  unchanged
                """);
    }

    @Test
    void aReadResponseThatIsNoAckIsABadResponse() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 1
                a -> peer    READ_REQUEST  psn 100
                peer -> a    READ_RESPONSE_ONLY  psn 100  syndrome 0x60  | 8
                a         completion  wr 1 bad-resp-err
                a         memory  unchanged
                """);
    }

    @Test
    void anAtomicAcknowledgeThatIsNoAckIsABadResponse() {
        rc().run("""
                a         post  fetch-add 1 -> r1+0  wr 1
                a -> peer    FETCH_ADD  psn 100
                peer -> a    ATOMIC_ACKNOWLEDGE  psn 100  syndrome 0x62  original 1
                a         completion  wr 1 bad-resp-err
                a         memory  unchanged
                """);
    }
}
