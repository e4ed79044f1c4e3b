package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// In which order requests start and complete, and what a fence adds (IBTA 10.8.3.3).
class OrderTest {
    @Test
    void aWriteMayStartBeforeTheAnswerOfTheReadBeforeIt() {
        rc().run("""
                a         post  read 8 <- r1+0
                a         post  write 8 -> r1+0
                a -> b    READ_REQUEST  psn 100
                a -> b    WRITE_ONLY    psn 101
                b -> a    READ_RESPONSE_ONLY  psn 100
                b -> a    ACK  psn 101
                """);
    }

    @Test
    void aFencedWriteWaitsForTheReadBeforeIt() {
        rc().run("""
                a         post  read 8 <- r1+0
                a         post  write 8 -> r1+0  fence
                a -> peer    READ_REQUEST  psn 100
                nothing
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8
                a -> peer    WRITE_ONLY  psn 101
                peer -> a    ACK  psn 101
                """);
    }

    @Test
    void aFencedSendWaitsForTheAtomicBeforeIt() {
        rc().run("""
                a         post  fetch-add 1 -> r1+0
                a         post  send 8  fence
                a -> peer    FETCH_ADD  psn 100
                nothing
                peer -> a    ATOMIC_ACKNOWLEDGE  psn 100
                a -> peer    SEND_ONLY  psn 101
                peer -> a    ACK  psn 101
                """);
    }

    @Test
    void aFencedReadWaitsForTheReadBeforeIt() {
        rc().run("""
                a         post  read 8 <- r1+0
                a         post  read 8 <- r1+0  fence
                a -> peer    READ_REQUEST  psn 100
                nothing
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8
                a -> peer    READ_REQUEST  psn 101
                peer -> a    READ_RESPONSE_ONLY  psn 101  | 8
                """);
    }

    @Test
    void aFenceDoesNotWaitForWrites() {
        rc().run("""
                a         post  write 8 -> r1+0
                a         post  send 8  fence
                a -> peer    WRITE_ONLY  psn 100
                a -> peer    SEND_ONLY   psn 101
                peer -> a    ACK  psn 101
                """);
    }

    @Test
    void aFenceHoldsThroughARepair() {
        rc().run("""
                a         post  read 8 <- r1+0
                a         post  write 8 -> r1+0  fence
                a -> peer    READ_REQUEST  psn 100
                +67.108864ms  a -> peer    READ_REQUEST  psn 100
                nothing
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8
                a -> peer    WRITE_ONLY  psn 101
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8  => duplicate
                peer -> a    ACK  psn 101
                """);
    }

    @Test
    void completionsComeInTheOrderOfPosting() {
        rc().run("""
                b         post  recv 10 wr 9
                a         post  read 8 <- r1+0    wr 1 signaled
                a         post  write 8 -> r1+0   wr 2 signaled
                a         post  fetch-add 1 -> r1+0  wr 3 signaled
                a         post  send 8            wr 4 signaled
                a -> b    READ_REQUEST  psn 100
                a -> b    WRITE_ONLY    psn 101
                a -> b    FETCH_ADD     psn 102
                a -> b    SEND_ONLY     psn 103
                b -> a    READ_RESPONSE_ONLY  psn 100
                b -> a    ACK  psn 101
                b -> a    ATOMIC_ACKNOWLEDGE  psn 102
                b -> a    ACK  psn 103
                a         completion  wr 1 success
                a         completion  wr 2 success
                a         completion  wr 3 success
                a         completion  wr 4 success
                b         completion  wr 9 success
                """);
    }

    @Test
    void aWriteIsNotCompleteBeforeTheReadInFrontOfIt() {
        rc().run("""
                a         post  read 8 <- r1+0   wr 1 signaled
                a         post  write 8 -> r1+0  wr 2 signaled
                a -> peer    READ_REQUEST  psn 100
                a -> peer    WRITE_ONLY    psn 101
                peer -> a    ACK  psn 101  msn 2
                a         completion  none
                a -> peer    READ_REQUEST  psn 100
                a -> peer    WRITE_ONLY    psn 101
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8
                a         completion  wr 1 success
                a         completion  none
                peer -> a    ACK  psn 101
                a         completion  wr 2 success
                """);
    }

    @Test
    void receivesCompleteInTheOrderOfPosting() {
        rc().run("""
                b         post  recv 10 wr 1
                b         post  recv 10 wr 2
                a         post  send 3
                a         post  send 4
                a -> b    SEND_ONLY  psn 100
                a -> b    SEND_ONLY  psn 101
                b         completion  wr 1 success byte-len 3
                b         completion  wr 2 success byte-len 4
                b -> a    ACK  psn 101
                """);
    }

    @Test
    void aLocalInvalidateWaitsForEverythingBeforeIt() {
        rc().run("""
                a         window  w1 type 2
                a         post  bind w1 -> r2+0 len 100 access remote-read  wr 1 signaled
                a         completion  wr 1 success opcode bind-mw
                a         post  write 8 -> r1+0
                a         post  invalidate w1  wr 2 signaled
                a -> peer    WRITE_ONLY  psn 100
                a         completion  none
                peer -> a    ACK  psn 100
                a         completion  wr 2 success opcode local-inv
                """);
    }
}
