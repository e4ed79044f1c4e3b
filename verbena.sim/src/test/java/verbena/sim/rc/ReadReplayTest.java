package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// What a responder keeps of READs to answer them again, and what a requester may have outstanding (IBTA 9.7.5.1.3).
class ReadReplayTest {
    @Test
    void aDuplicateReadIsReadAgainFromMemoryAsItIsNow() {
        rc().run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 100  msn 1
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8  => duplicate
                b -> peer    READ_RESPONSE_ONLY  psn 100  msn 1
                """);
    }

    @Test
    void aDuplicateMayAskForTheRestOfTheFirstRead() {
        rc().mtu(256).run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 1000
                b -> peer    READ_RESPONSE_FIRST   psn 100
                b -> peer    READ_RESPONSE_MIDDLE  psn 101
                b -> peer    READ_RESPONSE_MIDDLE  psn 102
                b -> peer    READ_RESPONSE_LAST    psn 103
                peer -> b    READ_REQUEST  psn 102  r1+512 len 488  => duplicate
                b -> peer    READ_RESPONSE_FIRST   psn 102  | 256
                b -> peer    READ_RESPONSE_LAST    psn 103  | 232
                """);
    }

    @Test
    void aDuplicateThatAsksForMoreThanTheFirstReadIsDropped() {
        rc().run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    READ_REQUEST  psn 100  r1+0 len 9  => dropped.no-replay
                peer -> b    READ_REQUEST  psn 100  r1+8 len 8  => dropped.no-replay
                nothing
                """);
    }

    @Test
    void aDuplicateWithAnotherKeyIsDropped() {
        rc().run("""
                b         region  other
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    READ_REQUEST  psn 100  r1+0 rkey other len 8  => dropped.no-replay
                nothing
                """);
    }

    @Test
    void aReadWhoseResourceWasRecycledIsDropped() {
        rc().reads(2).run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 100
                peer -> b    READ_REQUEST  psn 101  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 101
                peer -> b    READ_REQUEST  psn 102  r1+0 len 8
                b -> peer    READ_RESPONSE_ONLY  psn 102
                peer -> b    READ_REQUEST  psn 100  r1+0 len 8  => dropped.no-replay
                nothing
                peer -> b    READ_REQUEST  psn 101  r1+0 len 8  => duplicate
                b -> peer    READ_RESPONSE_ONLY  psn 101
                b         counter  dropped.no-replay 1
                """);
    }

    @Test
    void aDuplicateReadBreaksTheOldAnswerOff() {
        rc().mtu(256).run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 1000
                b -> peer    READ_RESPONSE_FIRST   psn 100
                b -> peer    READ_RESPONSE_MIDDLE  psn 101
                peer -> b    READ_REQUEST  psn 100  r1+0 len 1000  => duplicate
                b -> peer    READ_RESPONSE_FIRST   psn 100
                b -> peer    READ_RESPONSE_MIDDLE  psn 101
                b -> peer    READ_RESPONSE_MIDDLE  psn 102
                b -> peer    READ_RESPONSE_LAST    psn 103
                nothing
                """);
    }

    @Test
    void theRequesterKeepsToItsLimitOfReads() {
        rc().reads(2).run("""
                a         post  read 8 <- r1+0
                a         post  read 8 <- r1+8
                a         post  read 8 <- r1+16
                a -> b    READ_REQUEST  psn 100
                a -> b    READ_REQUEST  psn 101
                b -> a    READ_RESPONSE_ONLY  psn 100
                a -> b    READ_REQUEST  psn 102
                b -> a    READ_RESPONSE_ONLY  psn 101
                b -> a    READ_RESPONSE_ONLY  psn 102
                """);
    }

    @Test
    void aReadBeyondTheLimitHoldsWhatIsBehindIt() {
        // Requests start in order (IBTA 10.8.3.1).
        rc().reads(1).run("""
                a         post  read 8 <- r1+0
                a         post  read 8 <- r1+8
                a         post  write 8 -> r1+16
                a -x b    READ_REQUEST  psn 100
                nothing
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8
                a -> peer    READ_REQUEST  psn 101
                a -> peer    WRITE_ONLY    psn 102
                peer -> a    READ_RESPONSE_ONLY  psn 101  | 8
                peer -> a    ACK  psn 102
                """);
    }

    @Test
    void atomicsCountAsReads() {
        rc().reads(1).run("""
                a         post  fetch-add 1 -> r1+0
                a         post  fetch-add 1 -> r1+0
                a -x b    FETCH_ADD  psn 100
                nothing
                peer -> a    ATOMIC_ACKNOWLEDGE  psn 100
                a -> peer    FETCH_ADD  psn 101
                peer -> a    ATOMIC_ACKNOWLEDGE  psn 101
                """);
    }

    @Test
    void severalReadsAreRepairedFromTheFirstThatIsMissing() {
        rc().run("""
                a         post  read 8 <- r1+0   wr 1 signaled into in+0 len 8
                a         post  read 8 <- r1+8   wr 2 signaled into in+8 len 8
                a         post  read 8 <- r1+16  wr 3 signaled into in+16 len 8
                a -> b    READ_REQUEST  psn 100
                a -> b    READ_REQUEST  psn 101
                a -> b    READ_REQUEST  psn 102
                b -> a    READ_RESPONSE_ONLY  psn 100
                b -x a    READ_RESPONSE_ONLY  psn 101     lost
                b -> a    READ_RESPONSE_ONLY  psn 102  => dropped.early-response
                a -> b    READ_REQUEST  psn 101  => duplicate
                a -> b    READ_REQUEST  psn 102  => duplicate
                b -> a    READ_RESPONSE_ONLY  psn 101
                b -> a    READ_RESPONSE_ONLY  psn 102
                a         completion  wr 1 success
                a         completion  wr 2 success
                a         completion  wr 3 success
                a         memory  in+0 len 24 as r1+0 only
                """);
    }

    @Test
    void aLongReadSharesTheWireWithAcknowledgements() {
        // Answers go out in the order of their requests (IBTA 9.7.5.1.1).
        rc().mtu(256).run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 600
                b -> peer    READ_RESPONSE_FIRST   psn 100
                peer -> b    WRITE_ONLY  psn 103  r1+8  ackreq  | 8
                b -> peer    READ_RESPONSE_MIDDLE  psn 101
                b -> peer    READ_RESPONSE_LAST    psn 102  msn 1
                b -> peer    ACK  psn 103  msn 2
                """);
    }

    @Test
    void aPeerThatAsksAgainAndAgainIsNotOwedMoreThanThereIsRoomFor() {
        rc().reads(1).run("""
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => duplicate
                peer -> b    FETCH_ADD  psn 100  r1+0 add 1  => dropped.busy
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                b -> peer    ATOMIC_ACKNOWLEDGE  psn 100
                """);
    }

    @Test
    void aDuplicateReadOfWhatIsStillToComeChangesNothing() {
        rc().mtu(256).run("""
                peer -> b    READ_REQUEST  psn 100  r1+0 len 1000
                b -> peer    READ_RESPONSE_FIRST   psn 100
                b -> peer    READ_RESPONSE_MIDDLE  psn 101
                peer -> b    READ_REQUEST  psn 102  r1+512 len 488  => duplicate
                b -> peer    READ_RESPONSE_MIDDLE  psn 102
                b -> peer    READ_RESPONSE_LAST    psn 103
                nothing
                """);
    }
}
