package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;
import static verbena.sim.script.PacketScript.xrc;

import org.junit.jupiter.api.Test;

/// Packets that lie where a peer on the same host has not read them (decision 08): a peer without a processor is
/// waited for, and a peer that reads and does not answer is given up as everywhere.
class UnreadPacketsTest {
    @Test
    void packetsThatThePeerHasNotReadAreWaitedForWithoutRetries() {
        rc().retries(1).run("""
                a         messages  busy
                a         post  send 8  wr 1 signaled
                b         post  recv 8
                a -x b    SEND_ONLY  psn 100
                nothing until +10s
                a         completion  none
                a         messages  read
                +133.438464ms  a -x b    SEND_ONLY  psn 100
                nothing until +67.108864ms
                a         completion  wr 1 retry-exc-err
                """);
    }

    /// The peer's socket may have been too full for them.
    @Test
    void packetsThatMayBeLostAreSentAgainWithoutRetriesUntilThePeerReads() {
        rc().retries(1)
                .run("""
                a         messages  lossy
                a         messages  busy
                a         post  send 8  wr 1 signaled
                b         post  recv 8
                a -x b    SEND_ONLY  psn 100
                """ + "+67.108864ms  a -x b    SEND_ONLY  psn 100\n".repeat(20) + """
                a         completion  none
                a         messages  read
                """
                        + "+67.108864ms  a -x b    SEND_ONLY  psn 100\n".repeat(2) + """
                nothing until +67.108864ms
                a         completion  wr 1 retry-exc-err cause after 1 retries with an ACK timeout of 67 ms
                """);
    }

    /// It is stopped, which the timeouts shall notice in the end.
    @Test
    void aPeerThatReadsNothingForFiveSecondsIsGivenUp() {
        rc().retries(1).run("""
                a         messages  lossy
                a         messages  busy
                a         post  send 8  wr 1 signaled
                b         post  recv 8
                a -x b    SEND_ONLY  psn 100
                """ + "+67.108864ms  a -x b    SEND_ONLY  psn 100\n".repeat(77) + """
                a         completion  none
                nothing until +67.108864ms
                a         completion  wr 1 retry-exc-err
                """);
    }

    @Test
    void alsoThoseOfAnExtendedConnection() {
        xrc().retries(0).run("""
                a         messages  busy
                a         post  write 8 -> r1+0  srq 77  wr 1 signaled
                a -x b    XRC_WRITE_ONLY  psn 100
                nothing until +10s
                a         completion  none
                """);
    }

    /// It may have read them at this moment, and its answer is on the way.
    @Test
    void whoHasReadThemJustNowHasTheTimeForAnAnswer() {
        rc().retries(0).run("""
                a         messages  busy
                a         post  send 8  wr 1 signaled
                b         post  recv 8  wr 60
                a -x b    SEND_ONLY  psn 100
                nothing until +1s
                a         messages  read
                nothing until +67.1ms
                a         completion  none
                nothing until +67.1ms
                a         completion  wr 1 retry-exc-err
                """);
    }

    /// Others use the same way all the time, so there is always something that the peer has not read.
    @Test
    void aBusyWayHidesNoPeerThatDoesNotAnswer() {
        rc().retries(1)
                .run("""
                a         post  send 8  wr 1 signaled
                b         post  recv 8
                a         messages  busy
                a -x b    SEND_ONLY  psn 100
                """ + "nothing until +67.1ms\na  messages  busy\n".repeat(2) + """
                a         completion  none
                +67.126592ms  a -x b    SEND_ONLY  psn 100
                """
                        + "nothing until +67.1ms\na  messages  busy\n".repeat(3) + """
                nothing until +67.2ms
                a         completion  wr 1 retry-exc-err
                """);
    }

    /// What has an answer is no reason to wait for the next one's.
    @Test
    void anAnswerEndsTheWait() {
        rc().retries(0).run("""
                a         messages  busy
                a         post  send 8  wr 1 signaled
                b         post  recv 8  wr 60
                b         post  recv 8  wr 61
                a -> b    SEND_ONLY  psn 100
                nobody moves until +100ms
                b -> a    ACK  psn 100
                a         completion  wr 1 success
                b         completion  wr 60 success
                a         post  write 8 -> r1+0  wr 2 signaled
                a -x b    WRITE_ONLY  psn 101
                a         messages  read
                nothing until +67.2ms
                a         completion  wr 2 retry-exc-err
                """);
    }
}
