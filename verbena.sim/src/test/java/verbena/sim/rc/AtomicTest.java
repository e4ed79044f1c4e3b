package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// FETCH_ADD and COMPARE_SWAP (IBTA 9.4.5, 9.7.7): carried out exactly once whatever is lost or doubled.
class AtomicTest {
    @Test
    void aFetchAddReturnsTheValueBefore() {
        rc().run("""
                b         set   r1+8 word 40
                a         post  fetch-add 2 -> r1+8  wr 7 signaled
                a -> b    FETCH_ADD  psn 100  r1+8  add 2  ackreq
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  msn 1  original 40
                a         completion  wr 7 success opcode fetch-add byte-len 8
                a         word  in+0 is 40
                b         word  r1+8 is 42
                """);
    }

    @Test
    void aFetchAddWrapsRound() {
        rc().run("""
                b         set   r1+0 word -1
                a         post  fetch-add 3 -> r1+0
                a -> b    FETCH_ADD  psn 100
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 0xffffffffffffffff
                b         word  r1+0 is 2
                a         word  in+0 is -1
                """);
    }

    @Test
    void aCompareSwapThatMatchesSwaps() {
        rc().run("""
                b         set   r1+0 word 5
                a         post  cmp-swap 5 9 -> r1+0  wr 7 signaled
                a -> b    COMPARE_SWAP  psn 100  r1+0  compare 5  swap 9
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 5
                a         completion  wr 7 success opcode comp-swap
                b         word  r1+0 is 9
                """);
    }

    @Test
    void aCompareSwapThatDoesNotMatchOnlyReads() {
        rc().run("""
                b         set   r1+0 word 6
                a         post  cmp-swap 5 9 -> r1+0  wr 7 signaled
                a -> b    COMPARE_SWAP  psn 100
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 6
                a         completion  wr 7 success
                a         word  in+0 is 6
                b         word  r1+0 is 6
                """);
    }

    @Test
    void aDuplicateIsAnsweredFromTheSavedResultThoughTheWordHasChanged() {
        rc().run("""
                b         set   r1+0 word 1
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100  original 1
                b         set   r1+0 word 77
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100  original 1
                b         word  r1+0 is 77
                """);
    }

    @Test
    void aDuplicateAnswersWithTheMsnOfNow() {
        rc().run("""
                b         set   r1+0 word 1
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100  msn 1
                peer -> b    WRITE_ONLY  psn 101  r1+8  ackreq  | 8
                b -> peer    ACK  psn 101  msn 2
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100  msn 2  original 1
                """);
    }

    @Test
    void aSavedResultIsForgottenWhenItsSlotIsNeeded() {
        rc().reads(1).run("""
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                peer -> b    FETCH_ADD  psn 101  r1+8 add 1
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 101
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => dropped.no-replay
                nothing
                peer -> b    FETCH_ADD  psn 101  r1+8 add 1  => duplicate
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 101
                """);
    }

    @Test
    void anAtomicReplayOfAPsnThatWasAReadIsDropped() {
        rc().run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => dropped.no-replay
                nothing
                b         memory  unchanged
                """);
    }

    @Test
    void aDuplicateOfAnAtomicThatNeverWasIsDropped() {
        rc().run("""
                peer -> b    FETCH_ADD  psn 99  r1+0 add 1  => dropped.no-replay
                nothing
                b         memory  unchanged
                """);
    }

    @Test
    void theResultIsScatteredToWhereTheRequestSays() {
        rc().run("""
                b         set   r1+0 word 0x1122334455667788
                a         post  fetch-add 0 -> r1+0 into in+64 len 8
                a -> b    FETCH_ADD  psn 100
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 0x1122334455667788
                a         word  in+64 is 0x1122334455667788
                """);
    }

    @Test
    void theWordCountsInTheByteOrderOfItsHost() {
        rc().run("""
                b         set   r1+0 len 8 byte 0
                b         set   r1+0 len 1 byte 7
                a         post  fetch-add 1 -> r1+0
                a -> b    FETCH_ADD  psn 100  add 1
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 7
                b         word  r1+0 is 8
                """);
    }

    @Test
    void aReadSeesTheAtomicBeforeIt() {
        rc().run("""
                b         set   r1+0 word 10
                a         post  fetch-add 1 -> r1+0  into in+0 len 8
                a         post  read 8 <- r1+0  into in+8 len 8
                a -> b    FETCH_ADD     psn 100
                a -> b    READ_REQUEST  psn 101
                b -> a    ATOMIC_ACKNOWLEDGE  psn 100  original 10
                b -> a    READ_RESPONSE_ONLY  psn 101
                a         word  in+8 is 11
                """);
    }

    @Test
    void aDuplicateGetsItsOwnResultAndNotTheLatest() {
        rc().run("""
                b         set   r1+0 word 1
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100  original 1
                peer -> b    FETCH_ADD  psn 101  r1+0 add 1
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 101  original 2
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100  original 1
                b         word  r1+0 is 3
                """);
    }
}
