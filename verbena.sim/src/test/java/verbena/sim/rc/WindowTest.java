package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Memory windows and SEND with invalidate (IBTA 10.6.7, 9.4.1.1.3).
class WindowTest {
    @Test
    void aBoundWindowOpensItsRangeToThePeer() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+100 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success opcode bind-mw
                a         post  write 50 -> w1+0  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100  w1+0 len 50  => accepted
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         memory  r1+100 len 50 as sent only
                """);
    }

    @Test
    void aWindowEndsWhereItWasBound() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+100 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                a         post  write 51 -> w1+0  wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aWindowGrantsOnlyTheRightsItWasBoundWith() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-read  wr 5 signaled
                b         completion  wr 5 success
                a         post  write 5 -> w1+0  wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aWindowThatIsNotBoundOpensNothing() {
        rc().run("""
                b         window  w1 type 2
                peer -> b    WRITE_ONLY  psn 100  w1+0  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void theKeyFromBeforeTheBindIsDead() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                peer -> b    WRITE_ONLY  psn 100  w1.0+0  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aWindowCanBeBoundUnderTheKeyThatItHas() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write same-key  wr 5 signaled
                b         completion  wr 5 success
                a         post  write 8 -> w1+0  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100  w1.0+0 len 8  => accepted
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         memory  r1+0 len 8 as sent only
                """);
    }

    /// IBTA 10.6.7.2.
    @Test
    void ofTheKeyThatABindGivesTheLowEightBitsCount() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write index-of-none  wr 5 signaled
                b         completion  wr 5 success
                a         post  write 8 -> w1+0  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100  w1.1+0 len 8  => accepted
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         memory  r1+0 len 8 as sent only
                """);
    }

    @Test
    void aZeroBasedWindowCountsFromItsStart() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+100 len 50 access remote-write zero-based  wr 5 signaled
                b         completion  wr 5 success
                a         post  write 10 -> w1+40  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100  va 40 rkey w1
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         memory  r1+140 len 10 as sent only
                """);
    }

    @Test
    void aSendWithInvalidateWithdrawsTheWindowAfterTheData() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  recv 100 wr 1
                a         post  send 10 inv w1 wr 7 signaled
                a         post  write 8 -> w1+0  wr 8
                a -> b    SEND_ONLY_INVALIDATE  psn 100  inv w1  ackreq  | 10
                b         completion  wr 1 success byte-len 10 inv w1
                b -> a    ACK  psn 100  msn 1
                a         completion  wr 7 success
                a -> b    WRITE_ONLY  psn 101  => refused
                b -> a    NAK access  psn 101
                a         completion  wr 8 rem-access-err
                b         event  QP_ACCESS_ERR
                b         memory  in+0 len 10 as wr 7 only
                """);
    }

    @Test
    void aLongSendInvalidatesWithItsLastPacket() {
        rc().mtu(256).run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  recv 1000 wr 1
                a         post  send 300 inv w1
                a -> b    SEND_FIRST  psn 100
                a -> b    SEND_LAST_INVALIDATE  psn 101  inv w1
                b         completion  wr 1 success byte-len 300 inv w1
                b -> a    ACK  psn 101
                """);
    }

    @Test
    void aDuplicateSendWithInvalidateDoesNotTouchTheWindowBoundSince() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  recv 100 wr 1
                peer -> b    SEND_ONLY_INVALIDATE  psn 100  inv w1.1  ackreq  | 10
                b -> peer    ACK  psn 100
                b         completion  wr 1 success inv w1.1
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 6 signaled
                b         completion  wr 6 success
                peer -> b    SEND_ONLY_INVALIDATE  psn 100  inv w1.1  ackreq  | 10  => duplicate
                b -> peer    ACK  psn 100
                peer -> b    WRITE_ONLY  psn 101  w1+0  ackreq  | 8  => accepted
                b -> peer    ACK  psn 101
                """);
    }

    @Test
    void invalidatingAKeyThatDoesNotExistEndsTheConnectionWithoutANak() {
        // IBTA 9.9.3.1, fault class J: the receive ends with an error, the queue pair in ERR, and no NAK is sent.
        rc().retries(1).run("""
                b         post  recv 100 wr 1
                a         post  send 10 inv 0x12345678 wr 7
                a -> b    SEND_ONLY_INVALIDATE  psn 100  => refused
                b         completion  wr 1 rem-inv-req-err
                b         state  ERR
                +67.108864ms  a -> b    SEND_ONLY_INVALIDATE  psn 100  => dropped.state
                nothing until +67.108864ms
                a         completion  wr 7 retry-exc-err
                """);
    }

    @Test
    void whatCameBeforeARefusedInvalidationIsAcknowledged() {
        rc().run("""
                b         post  recv 100 wr 1
                b         post  recv 100 wr 2
                peer -> b    SEND_ONLY             psn 100  ackreq  | 10
                peer -> b    SEND_ONLY_INVALIDATE  psn 101  inv 0x12345678  ackreq  | 10  => refused
                b -> peer    ACK  psn 100  msn 1
                b         completion  wr 1 success
                b         completion  wr 2 rem-inv-req-err
                nothing
                """);
    }

    /// The refusal is silent, so this acknowledgement is the responder's last word.
    @Test
    void whatCameBeforeARefusedInvalidationFailsWhenItsAcknowledgementIsLost() {
        rc().retries(1).run("""
                b         post  recv 100 wr 1
                b         post  recv 100 wr 2
                a         post  send 10 wr 6 signaled
                a         post  send 10 inv 0x12345678 wr 7
                a -> b    SEND_ONLY             psn 100
                a -> b    SEND_ONLY_INVALIDATE  psn 101  => refused
                b -x a    ACK  psn 100     lost
                b         completion  wr 1 success
                b         completion  wr 2 rem-inv-req-err
                b         state  ERR
                +67.108864ms  a -> b    SEND_ONLY  psn 100  => dropped.state
                a -> b    SEND_ONLY_INVALIDATE  psn 101  => dropped.state
                nothing until +67.108864ms
                a         completion  wr 6 retry-exc-err
                a         completion  wr 7 wr-flush-err
                """);
    }

    @Test
    void aRegionCannotBeInvalidatedByAPeer() {
        rc().run("""
                b         post  recv 100 wr 1
                peer -> b    SEND_ONLY_INVALIDATE  psn 100  inv r1  | 10  => refused
                b         completion  wr 1 rem-inv-req-err
                nothing
                """);
    }

    @Test
    void aTypeOneWindowCannotBeInvalidatedByAPeer() {
        rc().run("""
                b         window  w1 type 1
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  recv 100 wr 1
                peer -> b    SEND_ONLY_INVALIDATE  psn 100  inv w1  | 10  => refused
                b         completion  wr 1 rem-inv-req-err
                nothing
                """);
    }

    /// IBTA 10.6.6.2.
    @Test
    void aTypeOneWindowIsBoundAnewWithANewKey() {
        rc().run("""
                b         window  w1 type 1
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  bind w1 -> r1+100 len 50 access remote-write  wr 6 signaled
                b         completion  wr 6 success
                peer -> b    WRITE_ONLY  psn 100  w1+0  ackreq  | 8  => accepted
                b -> peer    ACK  psn 100
                b         memory  r1+100 len 8 as sent only
                peer -> b    WRITE_ONLY  psn 101  w1.1+0  | 8  => refused
                b -> peer    NAK access  psn 101
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aTypeOneWindowBoundToNothingIsUnbound() {
        rc().run("""
                b         window  w1 type 1
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  bind w1 -> r1+0 len 0  wr 6 signaled
                b         completion  wr 6 success
                peer -> b    WRITE_ONLY  psn 100  w1+0  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aTypeTwoWindowCannotBeBoundTwice() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  bind w1 -> r1+100 len 50 access remote-write  wr 6
                nothing
                b         completion  wr 6 mw-bind-err
                b         state  ERR
                """);
    }

    @Test
    void aLocalInvalidateWithdrawsAWindow() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  invalidate w1 wr 6 signaled
                b         completion  wr 6 success opcode local-inv
                peer -> b    WRITE_ONLY  psn 100  w1+0  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void anInvalidatedWindowCanBeBoundAgain() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                b         post  invalidate w1 wr 6 signaled
                b         completion  wr 6 success
                b         post  bind w1 -> r1+0 len 50 access remote-write  wr 7 signaled
                b         completion  wr 7 success
                peer -> b    WRITE_ONLY  psn 100  w1+0  ackreq  | 8  => accepted
                b -> peer    ACK  psn 100
                """);
    }

    @Test
    void aWindowCannotBeBoundToARegionThatDoesNotAllowIt() {
        rc().run("""
                b         region  plain
                b         window  w1 type 2
                b         post  bind w1 -> plain+0 len 50 access remote-write  wr 5
                nothing
                b         completion  wr 5 mw-bind-err
                """);
    }

    @Test
    void aWindowBeyondItsRegionCannotBeBound() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+65500 len 50 access remote-write  wr 5
                nothing
                b         completion  wr 5 mw-bind-err
                """);
    }

    @Test
    void aWindowToWriteNeedsARegionThatItsOwnerMayWrite() {
        rc().run("""
                b         region  readonly access remote-read mw-bind
                b         window  w1 type 2
                b         post  bind w1 -> readonly+0 len 50 access remote-write  wr 5
                nothing
                b         completion  wr 5 mw-bind-err
                """);
    }

    @Test
    void aWindowToNothingCannotBeBoundAsTypeTwo() {
        rc().run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 0 access remote-write  wr 5
                nothing
                b         completion  wr 5 mw-bind-err
                """);
    }

    @Test
    void aWindowDeallocatedInFlightEndsTheMessage() {
        rc().mtu(256).run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 1000 access remote-write  wr 5 signaled
                b         completion  wr 5 success
                peer -> b    WRITE_FIRST  psn 100  w1+0 len 300  | 256  => accepted
                b         close window w1
                peer -> b    WRITE_LAST   psn 101  | 44  => refused
                b -> peer    NAK access  psn 101
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void atomicsWorkThroughAWindow() {
        rc().run("""
                b         set   r1+64 word 3
                b         window  w1 type 2
                b         post  bind w1 -> r1+64 len 8 access remote-atomic  wr 5 signaled
                b         completion  wr 5 success
                a         post  fetch-add 4 -> w1+0
                a -> b    FETCH_ADD  psn 100
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 3
                b         word  r1+64 is 7
                """);
    }

    @Test
    void aWindowThatIsNotBoundCannotBeInvalidated() {
        rc().run("""
                b         window  w1 type 2
                b         post  invalidate w1 wr 5
                nothing
                b         completion  wr 5 mw-bind-err
                b         state  ERR
                """);
    }
}
