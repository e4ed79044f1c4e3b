package verbena.sim.rc;

import static verbena.sim.script.PacketScript.rc;
import static verbena.sim.script.PacketScript.xrc;

import org.junit.jupiter.api.Test;
import verbena.sim.script.PacketScript;

/// Requests that come ahead of a gap are kept, and only what is missing is sent again (decision 05). In scripts of
/// other classes an end goes back instead.
class SelectiveRequestsTest {
    private static PacketScript selective() {
        return rc().mtu(256).selectiveRepeat();
    }

    @Test
    void aLostPacketOfAWriteIsSentAgainAlone() {
        selective().run("""
                a         post  write 1280 -> r1+0  wr 1 signaled
                a -> b    WRITE_FIRST   psn 100
                a -x b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_MIDDLE  psn 102  => out-of-sequence
                b -> a    SELECTIVE_ACK psn 101  | 16
                a -> b    WRITE_MIDDLE  psn 101  ackreq
                b -> a    ACK           psn 102
                a -> b    WRITE_MIDDLE  psn 103
                a -> b    WRITE_LAST    psn 104
                b -> a    ACK           psn 104
                a         completion  wr 1 success
                b         memory  r1+0 len 1280 as sent
                b         counter  early.requests 1
                a         counter  retransmitted.packets 1
                """);
    }

    @Test
    void severalGapsAreFilledInOneRoundTrip() {
        selective().run("""
                a         post  write 2048 -> r1+0  wr 1 signaled
                a -x b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101
                a -x b    WRITE_MIDDLE  psn 102
                a -x b    WRITE_MIDDLE  psn 103
                a -> b    WRITE_MIDDLE  psn 104
                a -> b    WRITE_MIDDLE  psn 105
                a -x b    WRITE_MIDDLE  psn 106
                a -> b    WRITE_LAST    psn 107
                b -> a    SELECTIVE_ACK psn 100
                a -> b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 102
                a -> b    WRITE_MIDDLE  psn 103
                a -> b    WRITE_MIDDLE  psn 106
                b -> a    ACK           psn 107
                a         completion  wr 1 success
                b         memory  r1+0 len 2048 as sent
                a         counter  retransmitted.packets 4
                """);
    }

    @Test
    void whatWasSentAgainAndGotLostIsSentOnceMoreWhenSomethingLaterHasCome() {
        selective().run("""
                a         post  write 1280 -> r1+0  wr 1 signaled
                a -x b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101
                b -> a    SELECTIVE_ACK psn 100
                a -x b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 102
                b -> a    SELECTIVE_ACK psn 100
                a -> b    WRITE_FIRST   psn 100
                b -> a    ACK           psn 102
                a -> b    WRITE_MIDDLE  psn 103
                a -> b    WRITE_LAST    psn 104
                b -> a    ACK           psn 104
                a         completion  wr 1 success
                b         memory  r1+0 len 1280 as sent
                a         counter  retransmitted.packets 2
                """);
    }

    @Test
    void whatIsSentAgainInOrderTellsOfThatBeforeIt() {
        selective().run("""
                a         post  write 1024 -> r1+0  wr 1 signaled
                a -x b    WRITE_FIRST   psn 100
                a -x b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_MIDDLE  psn 102
                a -> b    WRITE_LAST    psn 103
                b -> a    SELECTIVE_ACK psn 100
                a -x b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101  => out-of-sequence
                b -> a    SELECTIVE_ACK psn 100
                a -> b    WRITE_FIRST   psn 100
                b -> a    ACK           psn 103
                a         completion  wr 1 success
                b         memory  r1+0 len 1024 as sent
                """);
    }

    @Test
    void aLostLastPacketIsFoundByAProbe() {
        selective().run("""
                a         post  write 10 -> r1+0    wr 1 signaled
                a -> b    WRITE_ONLY    psn 100
                b -> a    ACK           psn 100
                a         completion  wr 1 success
                a         post  write 1024 -> r1+0  wr 2 signaled
                a -> b    WRITE_FIRST   psn 101
                a -> b    WRITE_MIDDLE  psn 102
                a -x b    WRITE_MIDDLE  psn 103
                a -x b    WRITE_LAST    psn 104
                nobody moves until +1ms
                a -> b    WRITE_FIRST   psn 101  => duplicate
                a -> b    WRITE_LAST    psn 104  => out-of-sequence
                b -> a    SELECTIVE_ACK psn 103
                a -> b    WRITE_MIDDLE  psn 103
                b -> a    ACK           psn 104
                a         completion  wr 2 success
                b         memory  r1+0 len 1024 as sent
                """);
    }

    @Test
    void allKindsOfRequestsAreCarriedOutOnceAndInOrder() {
        selective().run("""
                b         post  recv 100  wr 50
                b         post  recv 100  wr 51
                a         post  send 10  wr 1 signaled
                a         post  fetch-add 5 -> r1+1024 wr 2 signaled into in+0 len 8
                a         post  write 10 -> r1+0 imm 7 wr 3 signaled
                a         post  read 512 <- r1+512  wr 4 signaled into in+512 len 512
                a         post  write 10 -> r1+2048 wr 5 signaled
                a -x b    SEND_ONLY     psn 100
                a -> b    FETCH_ADD     psn 101
                a -> b    WRITE_ONLY_IMMEDIATE  psn 102
                a -> b    READ_REQUEST  psn 103
                a -> b    WRITE_ONLY    psn 105
                b -> a    SELECTIVE_ACK psn 100
                a -> b    SEND_ONLY     psn 100
                b         completion  wr 50 success
                b         completion  wr 51 success  imm 7
                b -> a    ACK           psn 100
                a         completion  wr 1 success
                b -> a    ATOMIC_ACKNOWLEDGE  psn 101
                a         completion  wr 2 success
                b -> a    ACK           psn 102
                a         completion  wr 3 success
                b -> a    READ_RESPONSE_FIRST  psn 103
                b -> a    READ_RESPONSE_LAST   psn 104
                a         completion  wr 4 success
                b -> a    ACK           psn 105
                a         completion  wr 5 success
                a         memory  in+512 len 512 as b r1+512
                a         counter  retransmitted.packets 1
                """);
    }

    @Test
    void whatFindsNoReceiveInItsTurnIsAskedForLaterAndSoIsWhatFollows() {
        selective().run("""
                a         post  write 10 -> r1+0  wr 1 signaled
                a         post  send 10  wr 2 signaled
                a         post  write 10 -> r1+10  wr 3 signaled
                a -x b    WRITE_ONLY    psn 100
                a -> b    SEND_ONLY     psn 101
                a -> b    WRITE_ONLY    psn 102
                b -> a    SELECTIVE_ACK psn 100
                a -> b    WRITE_ONLY    psn 100
                b -> a    ACK           psn 100
                a         completion  wr 1 success
                b -> a    RNR timer 12  psn 101
                b         post  recv 100 wr 9
                nobody moves until +0.64ms
                a -> b    SEND_ONLY     psn 101
                b         completion  wr 9 success
                b -> a    ACK           psn 102
                a         completion  wr 2 success
                a         completion  wr 3 success
                """);
    }

    @Test
    void whatIsWrongIsRefusedInItsTurnAndNotBefore() {
        selective().run("""
                a         post  write 10 -> r1+0  wr 1 signaled
                a         post  write 10 -> r1+65530  wr 2 signaled
                a         post  write 10 -> r1+10  wr 3 signaled
                a -x b    WRITE_ONLY    psn 100
                a -> b    WRITE_ONLY    psn 101  => out-of-sequence
                a -> b    WRITE_ONLY    psn 102  => out-of-sequence
                b -> a    SELECTIVE_ACK psn 100
                a -> b    WRITE_ONLY    psn 100  => accepted
                b         event  QP_ACCESS_ERR
                b -> a    ACK           psn 100
                a         completion  wr 1 success
                b -> a    NAK access    psn 101
                a         completion  wr 2 rem-access-err
                a         completion  wr 3 wr-flush-err
                """);
    }

    @Test
    void withoutRoomForEarlyPacketsAnEndGoesBack() {
        selective().spareFrames(1).run("""
                a         post  write 1280 -> r1+0  wr 1 signaled
                a -x b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_MIDDLE  psn 102
                b -> a    NAK sequence  psn 100
                a -> b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101  => duplicate
                a -> b    WRITE_MIDDLE  psn 102
                a -> b    WRITE_MIDDLE  psn 103
                a -> b    WRITE_LAST    psn 104
                b -> a    ACK           psn 104
                a         completion  wr 1 success
                b         memory  r1+0 len 1280 as sent
                b         counter  early.requests 1
                """);
    }

    @Test
    void theNumbersMayWrap() {
        selective().psn(0xFFFFFE).run("""
                a         post  write 1280 -> r1+0  wr 1 signaled
                a -x b    WRITE_FIRST   psn 0xfffffe
                a -> b    WRITE_MIDDLE  psn 0xffffff
                a -x b    WRITE_MIDDLE  psn 0
                a -> b    WRITE_MIDDLE  psn 1
                a -> b    WRITE_LAST    psn 2
                b -> a    SELECTIVE_ACK psn 0xfffffe
                a -> b    WRITE_FIRST   psn 0xfffffe
                a -> b    WRITE_MIDDLE  psn 0
                b -> a    ACK           psn 2
                a         completion  wr 1 success
                b         memory  r1+0 len 1280 as sent
                """);
    }

    @Test
    void whenNothingTellsTheTimerGoesBackToAllThatHasNoAnswer() {
        selective().run("""
                a         post  write 768 -> r1+0  wr 1 signaled
                a -x b    WRITE_FIRST   psn 100
                a -> b    WRITE_MIDDLE  psn 101
                a -> b    WRITE_LAST    psn 102
                b -> a    SELECTIVE_ACK psn 100
                a -x b    WRITE_FIRST   psn 100
                nobody moves until +67.2ms
                a -> b    WRITE_FIRST   psn 100
                b -> a    ACK           psn 102
                a         completion  wr 1 success
                b         memory  r1+0 len 768 as sent
                a         counter  ack.timeouts 1
                """);
    }

    @Test
    void aDuplicateAheadOfAGapIsToldOfAgain() {
        selective().run("""
                peer -> b    WRITE_MIDDLE  psn 101  | 256  => out-of-sequence
                b -> a       SELECTIVE_ACK psn 100  => dropped.ghost-ack
                peer -> b    WRITE_MIDDLE  psn 101  | 256  => duplicate
                b -> a       SELECTIVE_ACK psn 100  => dropped.ghost-ack
                b            silent
                b            counter  early.requests 1
                """);
    }

    @Test
    void whatLiesInsideAReadThatIsCarriedOutIsForgotten() {
        selective().spareFrames(2).run("""
                peer -> b    WRITE_ONLY    psn 101  r1+0 len 8 | 8    => out-of-sequence
                peer -> b    WRITE_ONLY    psn 102  r1+0 len 8 | 8    => out-of-sequence
                b -> a       SELECTIVE_ACK psn 100  => dropped.ghost-ack
                peer -> b    READ_REQUEST  psn 100  r1+0 len 768      => accepted
                b -> a       READ_RESPONSE_FIRST   psn 100  => dropped.ghost-ack
                b -> a       READ_RESPONSE_MIDDLE  psn 101  => dropped.ghost-ack
                b -> a       READ_RESPONSE_LAST    psn 102  => dropped.ghost-ack
                peer -> b    WRITE_ONLY    psn 104  r1+0 len 8 | 8    => out-of-sequence
                peer -> b    WRITE_ONLY    psn 105  r1+0 len 8 | 8    => out-of-sequence
                b -> a       SELECTIVE_ACK psn 103  => dropped.ghost-ack
                b            counter  early.requests 4
                """);
    }

    @Test
    void whatIsTooFarAheadIsNotKept() {
        selective().run("""
                peer -> b    WRITE_ONLY    psn 227  r1+0 len 8 | 8    => out-of-sequence
                b -> a       SELECTIVE_ACK psn 100  => dropped.ghost-ack
                peer -> b    WRITE_ONLY    psn 228  r1+0 len 8 | 8    => out-of-sequence
                b -> a       NAK sequence  psn 100  => dropped.ghost-ack
                b            counter  early.requests 1
                """);
    }

    @Test
    void aPeerThatKeepsWhatWasNeverSentIsNotBelieved() {
        selective().run("""
                a            post  write 512 -> r1+0  wr 1 signaled
                a -> peer    WRITE_FIRST   psn 100
                a -> peer    WRITE_LAST    psn 101
                peer -> a    SELECTIVE_ACK psn 102  | 16  => dropped.ghost-ack
                peer -> a    SELECTIVE_ACK psn 99   | 16  => duplicate
                peer -> a    ACK           psn 101
                a            completion  wr 1 success
                """);
    }

    @Test
    void endsThatHaveNotAgreedDropIt() {
        rc().mtu(256).run("""
                a            post  write 512 -> r1+0  wr 1 signaled
                a -> peer    WRITE_FIRST   psn 100
                a -> peer    WRITE_LAST    psn 101
                peer -> a    SELECTIVE_ACK psn 100  | 16  => dropped.wrong-service
                peer -> a    ACK           psn 101
                a            completion  wr 1 success
                """);
    }

    @Test
    void aLostReadRequestIsSentAgainAlone() {
        selective().run("""
                a         post  read 768 <- r1+0  wr 1 signaled
                a         post  write 10 -> r1+2048 wr 2 signaled
                a -x b    READ_REQUEST  psn 100
                a -> b    WRITE_ONLY    psn 103
                b -> a    SELECTIVE_ACK psn 100
                a -> b    READ_REQUEST  psn 100  r1+0 len 768
                b -> a    READ_RESPONSE_FIRST   psn 100
                b -> a    READ_RESPONSE_MIDDLE  psn 101
                b -> a    READ_RESPONSE_LAST    psn 102
                a         completion  wr 1 success
                b -> a    ACK           psn 103
                a         completion  wr 2 success
                a         memory  in+0 len 768 as b r1+0
                a         counter  retransmitted.packets 1
                """);
    }

    @Test
    void anExtendedConnectionDoesTheSame() {
        xrc().mtu(256).selectiveRepeat().run("""
                a         post  write 768 -> r1+0  srq 77  wr 1 signaled
                a -> b    XRC_WRITE_FIRST   psn 100
                a -x b    XRC_WRITE_MIDDLE  psn 101
                a -> b    XRC_WRITE_LAST    psn 102
                b -> a    SELECTIVE_ACK     psn 101
                a -> b    XRC_WRITE_MIDDLE  psn 101
                b -> a    XRC_ACK           psn 102
                a         completion  wr 1 success
                b         memory  r1+0 len 768 as sent
                """);
    }
}
