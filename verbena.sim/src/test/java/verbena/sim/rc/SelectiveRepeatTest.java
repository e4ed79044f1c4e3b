package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;
import static verbena.sim.script.PacketScript.xrc;

import org.junit.jupiter.api.Test;
import verbena.sim.script.PacketScript;

/// Answers to READs that come early are kept, and only the missing ones are asked for again (decision 05). In
/// scripts of other classes an end goes back instead.
class SelectiveRepeatTest {
    private static PacketScript selective() {
        return rc().mtu(256).selectiveRepeat();
    }

    @Test
    void aMissingAnswerIsAskedForAlone() {
        selective().run("""
                a         post  read 1280 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 100  r1+0 len 1280
                b -> a    READ_RESPONSE_FIRST   psn 100
                b -x a    READ_RESPONSE_MIDDLE  psn 101
                b -> a    READ_RESPONSE_MIDDLE  psn 102  => accepted
                a -> b    READ_REQUEST  psn 101  r1+256 len 256  => duplicate
                b -> a    READ_RESPONSE_MIDDLE  psn 103               # what is being answered goes on
                b -> a    READ_RESPONSE_LAST    psn 104
                b -> a    READ_RESPONSE_ONLY    psn 101  | 256
                a         completion  wr 1 success
                a         memory  in+0 len 1280 as b r1+0
                a         counter  early.answers 3
                a         counter  retransmitted.packets 1
                """);
    }

    @Test
    void missingAnswersInARowAreAskedForTogether() {
        selective().run("""
                a         post  read 1280 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 100
                b -x a    READ_RESPONSE_FIRST   psn 100
                b -x a    READ_RESPONSE_MIDDLE  psn 101
                b -> a    READ_RESPONSE_MIDDLE  psn 102
                a -> b    READ_REQUEST  psn 100  r1+0 len 512  => duplicate
                b -x a    READ_RESPONSE_MIDDLE  psn 103
                b -> a    READ_RESPONSE_LAST    psn 104
                a -> b    READ_REQUEST  psn 103  r1+768 len 256  => duplicate
                b -> a    READ_RESPONSE_FIRST   psn 100
                b -> a    READ_RESPONSE_LAST    psn 101
                b -> a    READ_RESPONSE_ONLY    psn 103
                a         completion  wr 1 success
                a         memory  in+0 len 1280 as b r1+0
                a         counter  retransmitted.packets 2
                """);
    }

    @Test
    void thePeerIsNotAskedForMoreAtOnceThanItTakes() {
        selective().reads(1).run("""
                a         post  read 1280 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 100
                b -x a    READ_RESPONSE_FIRST   psn 100
                b -> a    READ_RESPONSE_MIDDLE  psn 101
                a -> b    READ_REQUEST  psn 100  r1+0 len 256  => duplicate
                b -x a    READ_RESPONSE_MIDDLE  psn 102
                b -> a    READ_RESPONSE_MIDDLE  psn 103
                a         silent
                b -> a    READ_RESPONSE_LAST    psn 104
                b -> a    READ_RESPONSE_ONLY    psn 100
                a -> b    READ_REQUEST  psn 102  r1+512 len 256  => duplicate
                b -> a    READ_RESPONSE_ONLY    psn 102
                a         completion  wr 1 success
                a         memory  in+0 len 1280 as b r1+0
                """);
    }

    @Test
    void aLaterReadIsReadAgainAfterTheOneBeforeItAndAllCompleteInOrder() {
        selective().run("""
                a         post  read 512 <- r1+0    wr 1 signaled into in+0 len 512
                a         post  write 10 -> r1+2048 wr 2 signaled
                a         post  read 512 <- r1+512  wr 3 signaled into in+512 len 512
                a -> b    READ_REQUEST  psn 100
                a -> b    WRITE_ONLY    psn 102
                a -> b    READ_REQUEST  psn 103
                b -x a    READ_RESPONSE_FIRST  psn 100
                b -> a    READ_RESPONSE_LAST   psn 101
                a -> b    READ_REQUEST  psn 100  r1+0 len 256  => duplicate
                b -> a    ACK  psn 102
                b -> a    READ_RESPONSE_FIRST  psn 103  => dropped.early-response
                a -> b    READ_REQUEST  psn 103  r1+512 len 512  => duplicate
                b -> a    READ_RESPONSE_LAST   psn 104  => dropped.early-response
                b -> a    READ_RESPONSE_ONLY   psn 100
                a         completion  wr 1 success
                a         completion  wr 2 success
                b -> a    READ_RESPONSE_FIRST  psn 103
                b -> a    READ_RESPONSE_LAST   psn 104
                a         completion  wr 3 success
                a         memory  in+0 len 1024 as b r1+0
                a         counter  retransmitted.packets 2
                """);
    }

    @Test
    void anAtomicIsCarriedOutOnceAndItsAnswerAskedForAgain() {
        selective().run("""
                a         post  read 512 <- r1+0    wr 1 signaled into in+0 len 512
                a         post  fetch-add 1 -> r1+1024 wr 2 signaled into in+512 len 8
                a -> b    READ_REQUEST  psn 100
                a -> b    FETCH_ADD     psn 102
                b -x a    READ_RESPONSE_FIRST  psn 100
                b -> a    READ_RESPONSE_LAST   psn 101
                a -> b    READ_REQUEST  psn 100  r1+0 len 256  => duplicate
                b -> a    ATOMIC_ACKNOWLEDGE   psn 102  => dropped.early-response
                a -> b    FETCH_ADD     psn 102  => duplicate
                b -> a    READ_RESPONSE_ONLY   psn 100
                a         completion  wr 1 success
                b -> a    ATOMIC_ACKNOWLEDGE   psn 102
                a         completion  wr 2 success
                a         memory  in+0 len 512 as b r1+0
                """);
    }

    @Test
    void anAcknowledgementOfWhatIsBehindAReadShowsThatItsAnswersAreMissing() {
        selective().run("""
                a         post  read 512 <- r1+0  wr 1 signaled
                a         post  write 10 -> r1+2048 wr 2 signaled
                a -> b    READ_REQUEST  psn 100
                a -> b    WRITE_ONLY    psn 102
                b -x a    READ_RESPONSE_FIRST  psn 100
                b -x a    READ_RESPONSE_LAST   psn 101
                b -> a    ACK  psn 102
                a -> b    READ_REQUEST  psn 100  r1+0 len 512  => duplicate
                b -> a    READ_RESPONSE_FIRST  psn 100
                b -> a    READ_RESPONSE_LAST   psn 101
                a         completion  wr 1 success
                a         completion  wr 2 success
                a         memory  in+0 len 512 as b r1+0
                """);
    }

    @Test
    void whenWhatIsAskedForAgainIsLostAProbeAsksAndThenTheTimerGoesBack() {
        selective().run("""
                a         post  read 768 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 100
                b -> a    READ_RESPONSE_FIRST   psn 100
                b -x a    READ_RESPONSE_MIDDLE  psn 101
                b -> a    READ_RESPONSE_LAST    psn 102
                a -x b    READ_REQUEST  psn 101  r1+256 len 256
                nobody moves until +67.1ms
                a -x b    READ_REQUEST  psn 101  r1+256 len 256       # a probe
                nobody moves until +0.01ms
                a -> b    READ_REQUEST  psn 101  r1+256 len 512  => duplicate
                b -> a    READ_RESPONSE_FIRST   psn 101
                a         completion  wr 1 success
                b -> a    READ_RESPONSE_LAST    psn 102  => duplicate
                a         memory  in+0 len 768 as b r1+0
                """);
    }

    @Test
    void anEarlyAnswerThatDoesNotFitIsDroppedAndAskedForAgain() {
        selective().run("""
                a         post  read 768 <- r1+0  wr 1 signaled
                a -> peer    READ_REQUEST  psn 100
                peer -> a    READ_RESPONSE_MIDDLE  psn 101  | 100  => dropped.early-response
                a -> peer    READ_REQUEST  psn 100  r1+0 len 768
                peer -> a    READ_RESPONSE_MIDDLE  psn 101  | 256  => accepted
                peer -> a    READ_RESPONSE_MIDDLE  psn 101  | 256  => duplicate
                peer -> a    READ_RESPONSE_LAST    psn 102  | 256  => accepted
                peer -> a    READ_RESPONSE_FIRST   psn 100  | 256  => accepted
                a         completion  wr 1 success
                """);
    }

    @Test
    void anExtendedConnectionDoesTheSame() {
        xrc().mtu(256).selectiveRepeat().run("""
                a         post  read 768 <- r1+0  srq 77  wr 1 signaled
                a -> b    XRC_READ_REQUEST  psn 100
                b -> a    XRC_READ_RESPONSE_FIRST   psn 100
                b -x a    XRC_READ_RESPONSE_MIDDLE  psn 101
                b -> a    XRC_READ_RESPONSE_LAST    psn 102
                a -> b    XRC_READ_REQUEST  psn 101  r1+256 len 256  => duplicate
                b -> a    XRC_READ_RESPONSE_ONLY    psn 101
                a         completion  wr 1 success
                a         memory  in+0 len 768 as b r1+0
                """);
    }
}
