package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;

import org.junit.jupiter.api.Test;

/// Connections to one peer share a window. A request that waits for room in it has no PSNs yet: nothing that arrives
/// can be meant for it, and a keep-alive that overtakes it takes the PSNs before it.
class SharedWindowTest {
    /// `c` fills the window, and `d` answers after 60 ms.
    private static final String C_FILLS_THE_WINDOW = """
            c         post  write 4000 -> r1+4096  wr 1 signaled
            c ->>60ms d    WRITE_FIRST   psn 100  | 1024
            c ->>60ms d    WRITE_MIDDLE  psn 101  | 1024
            c ->>60ms d    WRITE_MIDDLE  psn 102  | 1024
            c ->>60ms d    WRITE_LAST    psn 103  | 928
            """;

    private static final String D_ANSWERS = """
            +10ms     d -> c    ACK  psn 103
            c         completion  wr 1 success
            """;

    @Test
    void aReadThatWaitsForRoomKeepsItsBytesInPlaceThoughAKeepAliveOvertakesIt() {
        rc().window(4).twoConnections().run("""
                a         modify keep-alive 50ms
                """ + C_FILLS_THE_WINDOW + """
                a         post  read 2000 <- r1+0  into in+0 len 2000  wr 2 signaled
                nothing until +49.999999ms
                +1ns      a -> b    WRITE_ONLY  psn 100  | 0
                b -> a    ACK  psn 100
                """ + D_ANSWERS + """
                a -> b    READ_REQUEST  psn 101  r1+0 len 2000
                b -> a    READ_RESPONSE_FIRST  psn 101  | 1024
                b -> a    READ_RESPONSE_LAST   psn 102  | 976
                a         completion  wr 2 success
                a         memory  in+0 len 2000 as r1+0
                """);
    }

    @Test
    void anAnswerToARequestThatWaitsForRoomIsAGhost() {
        rc().window(4).twoConnections().run(C_FILLS_THE_WINDOW + """
                a         post  write 100 -> r1+0  wr 2 signaled
                a         post  read 8 <- r1+0  wr 3 signaled
                peer -> a    ACK  psn 100                            => dropped.ghost-ack
                peer -> a    READ_RESPONSE_ONLY  psn 101  | 8        => dropped.ghost-ack
                a         completion  none
                +50ms     nothing
                """ + D_ANSWERS + """
                a -> b    WRITE_ONLY    psn 100  | 100
                a -> b    READ_REQUEST  psn 101
                b -> a    ACK  psn 100
                b -> a    READ_RESPONSE_ONLY  psn 101  | 8
                a         completion  wr 2 success
                a         completion  wr 3 success
                """);
    }

    @Test
    void aKeepAliveDoesNotAskInTheMiddleOfAMessageThatWaitsForRoom() {
        rc().window(4)
                .twoConnections()
                .run("""
                a         modify keep-alive 20ms
                a         post  write 3000 -> r1+0  wr 2 signaled
                a -> b    WRITE_FIRST  psn 100  | 1024
                """ + C_FILLS_THE_WINDOW.replaceFirst("(?m)^.*WRITE_LAST.*\n", "") + """
                peer -> a    ACK  psn 100
                c ->>60ms d    WRITE_LAST  psn 103  | 928
                nothing until +50ms
                """ + D_ANSWERS + """
                a -> b    WRITE_MIDDLE  psn 101  | 1024
                a -> b    WRITE_LAST    psn 102  | 952
                b -> a    ACK  psn 102
                a         completion  wr 2 success
                a         memory unchanged
                b         memory  r1+0 len 3000 as sent
                a         counter  keep.alives 0
                """);
    }

    /// Nothing is known of how long answers take, and the ACK timer never runs out.
    @Test
    void aPeerThatNeverAnswersKeepsTheRoomFromOthersForAQuarterOfASecondOnly() {
        rc().window(4).timeout(0).twoConnections().run("""
                c         post  write 4000 -> r1+4096  wr 1 signaled
                c -x d    WRITE_FIRST   psn 100  | 1024
                c -x d    WRITE_MIDDLE  psn 101  | 1024
                c -x d    WRITE_MIDDLE  psn 102  | 1024
                c -x d    WRITE_LAST    psn 103  | 928
                a         post  write 100 -> r1+0  wr 2 signaled
                nothing until +249.999999ms
                +1ns      a -> b    WRITE_ONLY  psn 100  | 100
                b -> a    ACK  psn 100
                a         completion  wr 2 success
                """);
    }
}
