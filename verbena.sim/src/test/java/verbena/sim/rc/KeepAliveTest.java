package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Whether a silent peer lives: a WRITE of no bytes that no program has posted, once nothing has come for a while.
class KeepAliveTest {
    @Test
    void aSilentPeerIsAskedAndNobodyLearnsOfIt() {
        rc().run("""
                a         modify keep-alive 100ms
                nothing until +99.999999ms
                +1ns      a -> b    WRITE_ONLY  psn 100  ackreq
                b -> a    ACK  psn 100
                nothing until +99.999999ms
                +1ns      a -> b    WRITE_ONLY  psn 101  ackreq
                b -> a    ACK  psn 101
                a         counter  keep.alives 2
                a         counter  completions 0
                b         memory unchanged
                """);
    }

    @Test
    void withoutKeepAliveNobodyAsks() {
        rc().run("""
                nothing ever
                nothing until +1000s
                """);
    }

    /// To the next beat, a sixteenth of 100 ms: many connections ask together.
    @Test
    void whateverComesFromThePeerPutsTheQuestionOff() {
        rc().run("""
                a         modify keep-alive 100ms
                nothing until +60ms
                b         post  write 1 -> r2+0
                b -> a    WRITE_ONLY  psn 7000
                a -> b    ACK  psn 7000
                nothing until +102.499999ms
                +1ns      a -> b    WRITE_ONLY  psn 100
                b -> a    ACK  psn 100
                """);
    }

    @Test
    void whatIsOutstandingIsQuestionEnough() {
        rc().timeout(17).run("""
                a         modify keep-alive 100ms
                +50ms     a         post  write 1 -> r1+0  wr 1 signaled
                a -x b    WRITE_ONLY  psn 100  | 1
                nothing until +536.870911ms
                +1ns      a -> b    WRITE_ONLY  psn 100  | 1
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                a         counter  keep.alives 0
                """);
    }

    @Test
    void aLostQuestionIsAskedAgain() {
        rc().timeout(14).run("""
                a         modify keep-alive 100ms
                +100ms    a -x b    WRITE_ONLY  psn 100     lost
                nothing until +67.108863ms
                +1ns      a -> b    WRITE_ONLY  psn 100
                b -x a    ACK  psn 100     lost
                +67.108864ms  a -> b    WRITE_ONLY  psn 100    => duplicate
                b -> a    ACK  psn 100
                a         counter  keep.alives 3
                a         counter  retransmitted.packets 2
                """);
    }

    @Test
    void aPeerThatDoesNotAnswerIsDeadThoughNothingWasPosted() {
        rc().timeout(14).retries(2).run("""
                a         post  recv 100  wr 5
                a         modify keep-alive 100ms
                +100ms    a -x b    WRITE_ONLY  psn 100
                +67.108864ms  a -x b    WRITE_ONLY  psn 100
                +67.108864ms  a -x b    WRITE_ONLY  psn 100
                nothing until +67.108863ms
                a         state RTS
                nothing until +1ns
                a         state ERR
                a         completion  wr 5 wr-flush-err cause keep-alive
                nothing ever
                """);
    }

    @Test
    void requestsWaitBehindTheQuestionAndFailWithIt() {
        rc().timeout(14).retries(1).run("""
                a         modify keep-alive 100ms
                +100ms    a -x b    WRITE_ONLY  psn 100  | 0
                a         post  write 1 -> r1+0  wr 1
                a         post  write 1 -> r1+0  wr 2
                a -x b    WRITE_ONLY  psn 101  | 1
                a -x b    WRITE_ONLY  psn 102  | 1
                +67.108864ms  a -x b    WRITE_ONLY  psn 100  | 0
                a -x b    WRITE_ONLY  psn 101  | 1
                a -x b    WRITE_ONLY  psn 102  | 1
                nothing until +67.108864ms
                a         completion  wr 1 retry-exc-err
                a         completion  wr 2 wr-flush-err
                a         state ERR
                """);
    }

    @Test
    void requestsBehindALostQuestionAreRepeatedWithIt() {
        rc().timeout(14).run("""
                a         modify keep-alive 100ms
                +100ms    a -x b    WRITE_ONLY  psn 100  | 0     lost
                a         post  write 1 -> r1+0  wr 1 signaled
                a -> b    WRITE_ONLY  psn 101  | 1
                b -> a    NAK sequence  psn 100
                a -> b    WRITE_ONLY  psn 100  | 0
                a -> b    WRITE_ONLY  psn 101  | 1
                b -> a    ACK  psn 101
                a         completion  wr 1 success
                """);
    }

    @Test
    void theAnswerToALaterRequestAnswersTheQuestionToo() {
        rc().run("""
                a         modify keep-alive 100ms
                +100ms    a -> b    WRITE_ONLY  psn 100  | 0
                b -x a    ACK  psn 100     lost
                a         post  read 8 <- r1+0  wr 1 signaled
                a -> b    READ_REQUEST  psn 101
                b -> a    READ_RESPONSE_ONLY  psn 101  | 8
                a         completion  wr 1 success
                """);
    }

    @Test
    void anAnswerThatComesAfterGoingBackEndsTheRepetition() {
        rc().timeout(14).run("""
                a         modify keep-alive 100ms
                +100ms    a -> b    WRITE_ONLY  psn 100
                b ->>67.108864ms a    ACK  psn 100
                nothing until +100ms
                """);
    }

    @Test
    void theQuestionGoesRoundTheEndOfThePsns() {
        rc().psn(0xFFFFFF).run("""
                a         modify keep-alive 100ms
                +100ms    a -> b    WRITE_ONLY  psn 0xffffff
                b -> a    ACK  psn 0xffffff
                +100ms    a -> b    WRITE_ONLY  psn 0
                b -> a    ACK  psn 0
                """);
    }

    @Test
    void anAnswerThatFitsNoQuestionEndsTheConnection() {
        rc().run("""
                a         modify keep-alive 100ms
                +100ms    a -> peer    WRITE_ONLY  psn 100
                peer -> a    READ_RESPONSE_ONLY  psn 100  | 8
                a         state ERR
                """);
    }

    @Test
    void aPeerThatForbidsWritingEndsTheConnection() {
        rc().run("""
                b         modify access remote-read
                a         modify keep-alive 100ms
                +100ms    a -> b    WRITE_ONLY  psn 100
                b -> a    NAK invalid-request  psn 100
                a         state ERR
                b         state ERR
                b         event QP_REQ_ERR
                """);
    }

    @Test
    void anErrorOrAResetEndsTheQuestions() {
        rc().run("""
                a         modify keep-alive 100ms
                a         modify ERR
                nothing ever
                """);
        rc().run("""
                a         modify keep-alive 100ms
                +100ms    a -x b    WRITE_ONLY  psn 100
                a         modify RESET
                nothing ever
                """);
    }
}
