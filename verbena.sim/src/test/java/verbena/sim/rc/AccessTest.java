package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Keys, bounds, rights and domains that a request may violate: NAK remote access error (IBTA 9.7.4.1.5, 9.9.3.1,
/// 10.6.3).
class AccessTest {
    @Test
    void aWriteWithAnUnknownKeyIsRefused() {
        rc().run("""
                a         post  write 10 -> r1+0  rkey 0x12345678 wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100  msn 0
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                a         state  ERR
                b         state  ERR
                b         memory  unchanged
                b         counter  sent.nak.access 1
                a         counter  received.nak.fatal 1
                """);
    }

    @Test
    void aReadWithAnUnknownKeyIsRefused() {
        rc().run("""
                a         post  read 10 <- r1+0  rkey 0x12345678 wr 7
                a -> b    READ_REQUEST  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void anAtomicWithAnUnknownKeyIsRefused() {
        rc().run("""
                a         post  fetch-add 1 -> r1+0  rkey 0 wr 7
                a -> b    FETCH_ADD  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aWriteUpToTheLastByteIsAllowed() {
        rc().run("""
                b         region  small len 100
                a         post  write 100 -> small+0  wr 7 signaled
                a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                a         completion  wr 7 success
                b         memory  small+0 len 100 as sent only
                """);
    }

    @Test
    void aWriteOneByteBeyondTheEndIsRefused() {
        rc().run("""
                b         region  small len 100
                a         post  write 100 -> small+1  wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aReadThatStartsBeforeTheRegionIsRefused() {
        rc().run("""
                b         region  small len 100
                peer -> b    READ_REQUEST  psn 100  small-1 len 10  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aLongWriteIsRefusedAtItsFirstPacketForTheWholeOfIt() {
        // IBTA C9-90: the length of the RETH counts.
        rc().mtu(256).run("""
                b         region  small len 500
                peer -> b    WRITE_FIRST  psn 100  small+0 len 501  | 256  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aRangeThatWrapsRoundTheAddressSpaceIsRefused() {
        rc().run("""
                b         region  top len 4096 iova 0xfffffffffffff000
                peer -> b    READ_REQUEST  psn 100  top+4088 len 16  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void theLastBytesOfTheAddressSpaceCanBeRead() {
        rc().run("""
                b         region  top len 4096 iova 0xfffffffffffff000
                peer -> b    READ_REQUEST  psn 100  top+4088 len 8  => accepted
                b -> peer    READ_RESPONSE_ONLY  psn 100  | 8
                """);
    }

    @Test
    void aKeyOfAnotherProtectionDomainIsRefused() {
        rc().run("""
                b         region  other pd 2
                a         post  write 10 -> other+0  wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aRegionWithoutTheRightToWriteIsNotWritten() {
        rc().run("""
                b         region  readable access remote-read
                a         post  write 10 -> readable+0  wr 7
                a -> b    WRITE_ONLY  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void aRegionWithoutTheRightToReadIsNotRead() {
        rc().run("""
                b         region  writable access local-write remote-write
                a         post  read 10 <- writable+0  wr 7
                a -> b    READ_REQUEST  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                a         memory  unchanged
                """);
    }

    @Test
    void aRegionWithoutTheRightToAtomicsGetsNone() {
        rc().run("""
                b         region  writable access local-write remote-write remote-read
                a         post  cmp-swap 1 2 -> writable+0  wr 7
                a -> b    COMPARE_SWAP  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                b         memory  unchanged
                """);
    }

    @Test
    void theKeyOfLocalMemoryOpensNothingToPeers() {
        rc().run("""
                a         post  read 10 <- b.out+0  wr 7
                a -> b    READ_REQUEST  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aMisalignedAtomicWithABadKeyIsCalledInvalidFirst() {
        // The standard's order: what is wrong with the request itself comes before its key.
        rc().run("""
                peer -> b    FETCH_ADD  psn 100  va 0x3 rkey 0x5  => refused
                b -> peer    NAK invalid-request  psn 100
                b         event  QP_REQ_ERR
                """);
    }

    @Test
    void anAccessErrorOfAWriteWithImmediateIsToldByItsReceive() {
        rc().mtu(256).run("""
                b         post  recv wr 1
                peer -> b    WRITE_FIRST  psn 100  r1+0 len 300  | 256
                b         close region r1
                peer -> b    WRITE_LAST_IMMEDIATE  psn 101  imm 5  | 44  => refused
                b -> peer    NAK access  psn 101
                b         completion  wr 1 loc-access-err
                """);
    }

    @Test
    void anAccessErrorOfAWriteWithImmediateInOnePacketIsToldByItsReceive() {
        // IBTA 11.6.2: a local access error is that of the receive of a WRITE with immediate.
        rc().run("""
                b         post  recv wr 1
                b         post  recv wr 2
                peer -> b    WRITE_ONLY_IMMEDIATE  psn 100  va 0 rkey 5 imm 5  | 8  => refused
                b -> peer    NAK access  psn 100
                b         completion  wr 1 loc-access-err
                b         completion  wr 2 wr-flush-err
                b         counter     completion.errors 1
                b         counter     flushed.completions 1
                """);
    }

    @Test
    void anAccessErrorOfAWriteWithImmediateWithoutAReceiveIsToldByAnEvent() {
        rc().run("""
                peer -> b    WRITE_ONLY_IMMEDIATE  psn 100  va 0 rkey 5 imm 5  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aRefusedRequestEndsTheConnectionForWhatFollows() {
        rc().run("""
                b         post  recv 10 wr 1
                peer -> b    WRITE_ONLY  psn 100  va 0 rkey 5  | 8  => refused
                b -> peer    NAK access  psn 100
                b         event  QP_ACCESS_ERR
                b         completion  wr 1 wr-flush-err
                peer -> b    WRITE_ONLY  psn 101  r1+0  | 8  => dropped.state
                peer -> b    WRITE_ONLY  psn 100  r1+0  | 8  => dropped.state
                nothing
                b         memory  unchanged
                """);
    }

    @Test
    void whatWasOwedBeforeARefusedRequestIsSentBeforeTheNak() {
        rc().run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                peer -> b    WRITE_ONLY    psn 101  r1+0  ackreq  | 8
                peer -> b    WRITE_ONLY    psn 102  va 0 rkey 5  | 8  => refused
                b -> peer    READ_RESPONSE_ONLY  psn 100  msn 1
                b -> peer    ACK  psn 101  msn 2
                b -> peer    NAK access  psn 102  msn 2
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void aRegionThatIsWithdrawnInTheMiddleOfAWriteEndsIt() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 7
                a -> b    WRITE_FIRST   psn 100  => accepted
                b         close region r1
                a -> b    WRITE_MIDDLE  psn 101  => refused
                b -> a    NAK access  psn 101
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                b         memory  r1+0 len 256 as sent only
                """);
    }

    @Test
    void aRegionThatIsWithdrawnInTheMiddleOfAnAnswerEndsIt() {
        rc().mtu(256).run("""
                a         post  read 600 <- r1+0  wr 7
                a -> b    READ_REQUEST  psn 100
                b -> a    READ_RESPONSE_FIRST  psn 100
                b         close region r1
                b -> a    NAK access  psn 101  msn 1
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void anArenaThatIsClosedInTheMiddleOfAWriteEndsIt() {
        rc().mtu(256).run("""
                a         post  write 600 -> r1+0  wr 7
                a -> b    WRITE_FIRST   psn 100  => accepted
                b         close arena r1
                a -> b    WRITE_MIDDLE  psn 101  => refused
                b -> a    NAK access  psn 101
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void anArenaThatIsClosedBeforeAnAtomicRefusesIt() {
        rc().run("""
                b         close arena r1
                a         post  fetch-add 1 -> r1+0  wr 7
                a -> b    FETCH_ADD  psn 100  => refused
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }

    @Test
    void anAnswerThatEndsAfterTheConnectionHasEndedIsNotToldAgain() {
        rc().mtu(256).srq().run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 600
                b -> peer    READ_RESPONSE_FIRST  psn 100
                peer -> b    WRITE_ONLY  psn 103  va 0x3 rkey 0x5 len 8  | 8  => refused
                b         event  QP_ACCESS_ERR
                b         event  QP_LAST_WQE_REACHED
                b         close region r1
                b -> peer    NAK access  psn 101
                b         event  none
                """);
    }

    @Test
    void aReplayedReadLooksItsKeyUpAgain() {
        rc().run("""
                a         post  read 8 <- r1+0  wr 7
                a -> b    READ_REQUEST  psn 100
                b -x a    READ_RESPONSE_ONLY  psn 100     lost
                b         close region r1
                +67.108864ms  a -> b    READ_REQUEST  psn 100
                b -> a    NAK access  psn 100
                a         completion  wr 7 rem-access-err
                b         event  QP_ACCESS_ERR
                """);
    }
}
