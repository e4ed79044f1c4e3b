package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// PSNs are compared on a circle of 2^24 (IBTA 9.7.2): every kind of message across its seam.
class PsnWrapTest {
    @Test
    void aSendCrossesTheSeam() {
        rc().mtu(256).psn(0xFFFFFF).run("""
                b         post  recv 1000 wr 1
                a         post  send 600 wr 7 signaled
                a -> b    SEND_FIRST   psn 0xffffff
                a -> b    SEND_MIDDLE  psn 0
                a -> b    SEND_LAST    psn 1
                b -> a    ACK  psn 1  msn 1
                a         completion  wr 7 success
                b         completion  wr 1 success byte-len 600
                b         memory  in+0 len 600 as sent only
                """);
    }

    @Test
    void aWriteCrossesTheSeamWithALoss() {
        rc().mtu(256).psn(0xFFFFFE).run("""
                a         post  write 1000 -> r1+0  wr 7 signaled
                a -> b    WRITE_FIRST   psn 0xfffffe
                a -x b    WRITE_MIDDLE  psn 0xffffff     lost
                a -> b    WRITE_MIDDLE  psn 0  => out-of-sequence
                b -> a    NAK sequence  psn 0xffffff
                a -> b    WRITE_MIDDLE  psn 0xffffff
                a -> b    WRITE_MIDDLE  psn 0
                a -> b    WRITE_LAST    psn 1
                b -> a    ACK  psn 1  msn 1
                a         completion  wr 7 success
                b         memory  r1+0 len 1000 as sent only
                """);
    }

    @Test
    void aReadsAnswerCrossesTheSeam() {
        rc().mtu(256).psn(0xFFFFFE).run("""
                a         post  read 1000 <- r1+0  wr 7 signaled
                a         post  write 1 -> r1+0  wr 8 signaled
                a -> b    READ_REQUEST  psn 0xfffffe
                a -> b    WRITE_ONLY    psn 2
                b -> a    READ_RESPONSE_FIRST   psn 0xfffffe
                b -> a    READ_RESPONSE_MIDDLE  psn 0xffffff
                b -> a    READ_RESPONSE_MIDDLE  psn 0
                b -> a    READ_RESPONSE_LAST    psn 1
                a         completion  wr 7 success
                b -> a    ACK  psn 2
                a         completion  wr 8 success
                """);
    }

    @Test
    void aReadThatBrokeOffBeforeTheSeamGoesOnBehindIt() {
        rc().mtu(256).psn(0xFFFFFE).run("""
                a         post  read 1000 <- r1+0  wr 7 signaled
                a -> b    READ_REQUEST  psn 0xfffffe
                b -> a    READ_RESPONSE_FIRST   psn 0xfffffe
                b -> a    READ_RESPONSE_MIDDLE  psn 0xffffff
                b -x a    READ_RESPONSE_MIDDLE  psn 0     lost
                b -> a    READ_RESPONSE_LAST    psn 1  => dropped.early-response
                a -> b    READ_REQUEST  psn 0  r1+512 len 488  => duplicate
                b -> a    READ_RESPONSE_FIRST  psn 0
                b -> a    READ_RESPONSE_LAST   psn 1
                a         completion  wr 7 success
                a         memory  in+0 len 1000 as r1+0 only
                """);
    }

    @Test
    void anAtomicAtTheLastPsnIsReplayedBehindTheSeam() {
        rc().psn(0xFFFFFF).run("""
                b         set   r1+0 word 7
                a         post  fetch-add 1 -> r1+0  wr 7 signaled
                a -> b    FETCH_ADD  psn 0xffffff
                b -x a    ATOMIC_ACKNOWLEDGE  psn 0xffffff     lost
                +67.108864ms  a -> b    FETCH_ADD  psn 0xffffff  => duplicate
                b -> a    ATOMIC_ACKNOWLEDGE  psn 0xffffff  original 7
                a         completion  wr 7 success
                a         post  cmp-swap 8 9 -> r1+0  wr 8 signaled
                a -> b    COMPARE_SWAP  psn 0
                b -> a    ATOMIC_ACKNOWLEDGE  psn 0  original 8
                a         completion  wr 8 success
                b         word  r1+0 is 9
                """);
    }

    @Test
    void anAcknowledgementBehindTheSeamCoversWhatLiesBeforeIt() {
        rc().psn(0xFFFFFE).run("""
                a         post  write 1 -> r1+0  wr 1 signaled
                a         post  write 1 -> r1+0  wr 2 signaled
                a         post  write 1 -> r1+0  wr 3 signaled
                a -> b    WRITE_ONLY  psn 0xfffffe
                a -> b    WRITE_ONLY  psn 0xffffff
                a -> b    WRITE_ONLY  psn 0
                b -> a    ACK  psn 0  msn 3
                a         completion  wr 1 success
                a         completion  wr 2 success
                a         completion  wr 3 success
                """);
    }

    @Test
    void anRnrNakAtTheSeamResumesThere() {
        rc().psn(0xFFFFFF).run("""
                a         post  send 1
                a         post  send 2
                b         post  recv 100 wr 1
                a -> b    SEND_ONLY  psn 0xffffff
                a -> b    SEND_ONLY  psn 0  => receiver-not-ready
                b -> a    ACK  psn 0xffffff
                b -> a    RNR timer 12  psn 0
                b         completion  wr 1 success
                b         post  recv 100 wr 2
                +0.64ms   a -> b    SEND_ONLY  psn 0
                b -> a    ACK  psn 0
                b         completion  wr 2 success
                """);
    }

    @Test
    void aWriteWithImmediateAndASendWithInvalidateCrossTheSeam() {
        rc().psn(0xFFFFFF).mtu(256).run("""
                b         window  w1 type 2
                b         post  bind w1 -> r1+0 len 1000 access remote-write  wr 5 signaled
                b         completion  wr 5 success opcode bind-mw
                b         post  recv 100 wr 1
                b         post  recv 1000 wr 2
                a         post  write 300 -> w1+0  imm 1
                a         post  send 300 inv w1
                a -> b    WRITE_FIRST            psn 0xffffff
                a -> b    WRITE_LAST_IMMEDIATE   psn 0
                a -> b    SEND_FIRST             psn 1
                a -> b    SEND_LAST_INVALIDATE   psn 2  inv w1
                b -> a    ACK  psn 2  msn 2
                b         completion  wr 1 success imm 1 byte-len 300
                b         completion  wr 2 success inv w1 byte-len 300
                """);
    }

    @Test
    void aDuplicateFromBeforeTheSeamIsSeenAsOne() {
        rc().psn(0xFFFFFF).run("""
                a         post  write 8 -> r1+0
                a         post  write 8 -> r1+8
                a -2>>1ms b  WRITE_ONLY  psn 0xffffff
                a -> b    WRITE_ONLY  psn 0
                b -> a    ACK  psn 0  msn 2
                +1ms      b -> a    ACK  psn 0  msn 2  => duplicate
                """);
    }
}
