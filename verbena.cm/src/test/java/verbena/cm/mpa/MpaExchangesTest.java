package verbena.cm.mpa;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/// What the ends of an iWARP connection say to each other before and after the stream (RFC 5044 7, RFC
/// 6581), as scripts. There is every exchange, each answer that does not come or does not fit, and each way
/// to the end.
class MpaExchangesTest {
    /// The request is with b, whose owner decides.
    private static final String ASKED = """
            a         connect
            a         tcp       connected
            b         tcp       connected
            a -> b    MPA request rev 2 ird 4 ord 5 p2p rtr write,read | 3
            b         told      requested ird 4 ord 5 data 010203
            """;

    /// Both streams have begun.
    private static final String STREAMING = ASKED + """
            b         accept
            b -> a    MPA reply
            b         begins
            b         told      established
            a         told      accepted
            a         ready
            a         begins
            """;

    private static void run(String script) {
        MpaScript.run(script);
    }

    @AfterAll
    static void tell() {
        System.out.println("MPA: " + MpaScript.count() + " scripts");
    }

    // ---- making a connection (RFC 5044 7.1)

    @Test
    void aRequestAndAReplyMakeAConnection() {
        run("""
            a         connect
            a         state     CONNECTING
            a         tcp       connected
            a         state     REQUEST_SENT
            b         tcp       connected
            b         state     REQUEST_EXPECTED
            a -> b    MPA request rev 2 ird 4 ord 5 p2p rtr write,read | 3
            b         told      requested ird 4 ord 5 data 010203
            b         state     REQUEST_RECEIVED
            b         accept
            b -> a    MPA reply rev 2 ird 7 ord 3 p2p rtr write | 1
            b         begins    ird 7 ord 3 rtr write mulpdu 1442
            b         told      established
            b         state     STREAMING
            a         told      accepted ird 7 ord 3 data 0a
            a         state     REPLY_RECEIVED
            a         ready
            a         begins    ird 4 ord 5 rtr write mulpdu 1442
            a         state     STREAMING
            nothing   for       3600s
            """);
    }

    /// TCP cuts where it likes.
    @Test
    void framesMayArriveByteByByte() {
        run("""
            a         connect
            a         tcp       connected
            b         tcp       connected
            a -/> b   MPA request
            b         told      requested ird 4 ord 5 data 010203
            b         accept
            b -/> a   MPA reply
            b         begins
            b         told      established
            a         told      accepted ird 7 ord 3 data 0a
            """);
    }

    /// The queue pair gets what follows the reply when it is ready.
    @Test
    void whatFollowsTheReplyStaysUntilTheQueuePairIsReady() {
        run(ASKED + """
            b         accept
            b -> a    MPA reply
            b         begins
            b         told      established
            b => a    bytes     0001020304
            a         told      accepted
            a         left      5
            a         ready
            a         begins
            """);
    }

    /// RFC 5044 7.1.1: 512 bytes; RFC 6581 9 takes 4 of them for the depths.
    @Test
    void privateDataHasALimit() {
        run("""
            a         cannot    connect data %1$s
            a         connect   data %2$s
            a         tcp       connected
            b         tcp       connected
            a -> b    MPA request rev 2 ird 4 ord 5 p2p rtr write,read | 508
            b         told      requested ird 4 ord 5 data %2$s
            b         cannot    accept data %1$s
            b         cannot    reject data %1$s
            b         accept    data %2$s
            b -> a    MPA reply rev 2 ird 7 ord 3 p2p rtr write | 508
            b         begins
            b         told      established
            a         told      accepted ird 7 ord 3 data %2$s
            """.formatted("5a".repeat(509), "5a".repeat(508)));
    }

    // ---- what is agreed (RFC 5044 7.1.1, RFC 6581 9)

    /// RFC 6581 9: an end has no more READs outstanding than the other can serve.
    @Test
    void anEndAsksForNoMoreReadsThanTheOtherServes() {
        run("""
            a         connect   ird 4 ord 100
            a         tcp       connected
            b         tcp       connected
            a -> b    MPA request rev 2 ird 4 ord 100
            b         told      requested ird 4 ord 100
            b         accept    ird 7 ord 50
            b -> a    MPA reply rev 2 ird 7 ord 4
            b         begins    ird 7 ord 4
            b         told      established
            a         told      accepted ird 7 ord 4
            a         ready
            a         begins    ird 4 ord 7
            """);
    }

    /// RFC 5044 7.1.1.
    @Test
    void bothUseCrcsWhenEitherWantsThem() {
        for (String wishes : new String[] {"crc/", "/crc", "crc/crc"}) {
            String[] of = wishes.split("/", -1);
            run("""
                a         connect   %s
                a         tcp       connected
                b         tcp       connected
                a -> b    MPA request
                b         told      requested
                b         accept    %s
                b -> a    MPA reply rev 2 ird 7 ord 3 p2p rtr write crc | 1
                b         begins    ird 7 ord 3 rtr write crc
                b         told      established
                a         told      accepted
                a         ready
                a         begins    ird 4 ord 5 rtr write crc
                """.formatted(of[0], of[1]));
        }
    }

    /// RFC 5044 4.3: each end decides on what it receives.
    @Test
    void markersGoToTheEndThatWantsThem() {
        run("""
            b         tcp       connected
            a => b    MPA request rev 2 ird 4 ord 5 p2p rtr write markers
            b         told      requested
            b         accept
            b -x a    MPA reply rev 2 ird 7 ord 3 p2p rtr write | 1
            b         begins    ird 7 ord 3 rtr write markers-out mulpdu 1430
            b         told      established
            """);
    }

    /// RFC 5044 7.1.2: without peer-to-peer mode the initiator's application sends first.
    @Test
    void revisionOneSaysNothingOfReads() {
        run("""
            a         connect   basic data %s
            a         tcp       connected
            b         tcp       connected
            a -> b    MPA request rev 1 | 512
            b         told      requested data 5a
            b         accept
            b -> a    MPA reply rev 1 | 1
            b         begins    ird 7 ord 3 rtr none
            b         told      established
            a         told      accepted data 0a
            a         ready
            a         begins    ird 4 ord 5 rtr none
            """.replace("data 5a", "data " + "5a".repeat(512)).formatted("5a".repeat(512)));
    }

    /// RFC 6581 9: the responder picks one of the first messages that the initiator offers.
    @Test
    void theResponderPicksAWriteBeforeARead() {
        for (String[] each : new String[][] {
            {" p2p rtr send,write,read", " p2p rtr write", "write"},
            {" p2p rtr read", " p2p rtr read", "read"},
            {" p2p rtr send", " p2p", "none"},
            {"", "", "none"},
        }) {
            run("""
                b         tcp       connected
                a => b    MPA request rev 2 ird 4 ord 5%s
                b         told      requested
                b         accept
                b -x a    MPA reply rev 2 ird 7 ord 3%s | 1
                b         begins    ird 7 ord 3 rtr %s
                b         told      established
                """.formatted((Object[]) each));
        }
    }

    // ---- answers that do not fit

    private static void refuses(String own, String reply) {
        run("""
            a         connect   %s
            a         tcp       connected
            a -x b    MPA request
            b => a    %s
            a         resets
            a         told      rejected insufficient-responder-resources
            """.formatted(own, reply));
    }

    /// RFC 6581 9: no room for the READs that the responder wants.
    @Test
    void aResponderMayNotAskForMoreReadsThanItIsOffered() {
        refuses("ird 4", "MPA reply rev 2 ird 7 ord 5 p2p rtr write");
    }

    @Test
    void aReplyPicksOneOfTheFirstMessagesThatWereOffered() {
        refuses("", "MPA reply rev 2 ird 7 ord 3 p2p");
        refuses("", "MPA reply rev 2 ird 7 ord 3 p2p rtr send");
        refuses("", "MPA reply rev 2 ird 7 ord 3");
        refuses("basic", "MPA reply rev 2 ird 7 ord 3 p2p rtr write");
    }

    /// RFC 6581 8: a responder answers in the request's revision.
    @Test
    void aReplyIsOfTheRequestsRevision() {
        refuses("", "MPA reply rev 1");
        refuses("", "MPA reply rev 2");
        refuses("basic", "MPA reply rev 2");
    }

    /// RFC 5044 7.1.1.
    @Test
    void aReplyHasTheCrcThatWasAskedFor() {
        refuses("crc", "MPA reply rev 2 ird 7 ord 3 p2p rtr write");
    }

    @Test
    void anAnswerThatIsNoMpaIsKnownByItsFirstByte() {
        run("""
            a         connect
            a         tcp       connected
            a -x b    MPA request
            b => a    bytes     48       # an H, perhaps of HTTP
            a         resets
            a         told      rejected unsupported-request
            a         state     CLOSED
            """);
    }

    /// RFC 5044 7.1.1: at most 512 bytes of private data.
    @Test
    void aReplyWithTooMuchPrivateDataIsNone() {
        run("""
            a         connect
            a         tcp       connected
            a -x b    MPA request
            b => a    bytes     4d504120494420526570204672616d6500020201
            a         resets
            a         told      rejected unsupported-request
            """);
    }

    // ---- requests that are none

    @Test
    void aPeerThatDoesNotAskWithMpaIsBrokenOffInSilence() {
        run("""
            b         tcp       connected
            a => b    bytes     47455420
            b         resets
            b         state     CLOSED
            """);
    }

    /// RFC 5044 7.1.2: an initiator sends nothing before it has the reply.
    @Test
    void anInitiatorThatDoesNotWaitForTheReplyIsBrokenOff() {
        run("""
            b         tcp       connected
            a => b    bytes     4d504120494420526571204672616d650002000400010002aa
            b         resets
            """);
        run(ASKED + """
            a => b    bytes     00
            b         resets
            b         told      disconnected by failure
            b         cannot    accept
            """);
    }

    // ---- no

    /// RFC 5044 7.1.1: the reply's R bit. The responder waits for the initiator to close.
    @Test
    void aRejectionCarriesPrivateData() {
        run(ASKED + """
            b         reject    data 0b0c
            b -> a    MPA reply rev 2 ird 0 ord 0 p2p rtr write reject | 2
            b         ends
            b         state     ENDING
            a         resets
            a         told      rejected consumer-reject data 0b0c
            b         tcp       reset
            b         closes
            b         state     CLOSED
            """);
    }

    @Test
    void aPeerThatDoesNotCloseAfterARejectionIsBrokenOffAfterFiveSeconds() {
        run(ASKED + """
            b         reject
            b -x a    MPA reply
            b         ends
            nothing   for       4999ms
            b         resets
            b         state     CLOSED
            a         resets             # its own time was up a little later
            a         told      unreachable
            """);
    }

    @Test
    void aRejectionOfRevisionOneToo() {
        run("""
            a         connect   basic
            a         tcp       connected
            b         tcp       connected
            a -> b    MPA request rev 1 | 3
            b         told      requested
            b         reject    crc
            b -> a    MPA reply rev 1 crc reject | 1
            b         ends
            a         resets
            a         told      rejected consumer-reject data 0a
            """);
    }

    // ---- no answer

    @Test
    void aPeerThatTcpDoesNotReachInTenSecondsIsUnreachable() {
        run("""
            a         connect
            nothing   for       9999ms
            a         resets
            a         told      unreachable
            nothing   for       3600s
            """);
    }

    @Test
    void aReplyMayTakeTenSecondsWithTcpsConnecting() {
        run("""
            a         connect
            nothing   for       4s
            a         tcp       connected
            a -x b    MPA request
            nothing   for       5999ms
            a         resets
            a         told      unreachable
            a         cannot    ready
            """);
    }

    @Test
    void aRequestMayTakeFiveSeconds() {
        run("""
            b         tcp       connected
            nothing   for       4999ms
            b         resets
            b         state     CLOSED
            """);
        run("""
            b         tcp       connected
            a => b    bytes     4d50
            nothing   for       4999ms
            b         resets
            """);
    }

    @Test
    void theOwnerMayTakeItsTime() {
        run(ASKED + """
            b         state     REQUEST_RECEIVED
            nothing   for       9999ms
            a         resets             # but the initiator waits for ten seconds
            a         told      unreachable
            b         tcp       reset
            b         closes
            b         told      disconnected by peer
            b         cannot    reject
            """);
    }

    // ---- no listener (decision 20)

    @Test
    void aRefusedConnectionIsTriedAgainUntilAListenerIsThere() {
        run("""
            a         connect
            a         tcp       refused
            a         state     RETRYING
            nothing   for       4ms
            a         opens
            a         tcp       refused
            nothing   for       4ms
            a         opens
            a         tcp       connected
            a -x b    MPA request
            """);
    }

    @Test
    void afterATenthOfASecondTheRefusalCounts() {
        run("""
            a         connect
            a         tcp       refused
            """ + """
            a         opens
            a         tcp       refused
            """.repeat(20) + """
            a         closes
            a         told      rejected invalid-service-id
            nothing   for       60s
            """);
    }

    @Test
    void fromAPortOfItsOwnAConnectionIsTriedOnce() {
        run("""
            a         connect   once
            a         tcp       refused
            a         closes
            a         told      rejected invalid-service-id
            """);
    }

    @Test
    void anAttemptThatWaitsToBeRepeatedCanBeGivenUp() {
        run("""
            a         connect
            a         tcp       refused
            a         disconnect
            a         resets
            a         told      disconnected by this-side
            nothing   for       60s
            """);
    }

    // ---- TCP breaks

    @Test
    void anUnreachablePeerIsToldAtOnce() {
        run("""
            a         connect
            a         tcp       unreachable
            a         closes
            a         told      unreachable
            """);
    }

    @Test
    void aPeerThatBreaksOffInsteadOfAnsweringHasNoResources() {
        run("""
            a         connect
            a         tcp       connected
            a -x b    MPA request
            a         tcp       reset
            a         closes
            a         told      rejected no-resources
            """);
    }

    @Test
    void aConnectionThatBreaksBetweenReplyAndReadyHasEnded() {
        run(ASKED + """
            b         accept
            b -> a    MPA reply
            b         begins
            b         told      established
            a         told      accepted
            a         tcp       reset
            a         closes
            a         told      disconnected by peer
            a         cannot    ready
            """);
    }

    @Test
    void aPeerThatGoesWithoutHavingAskedLeavesNothing() {
        run("""
            b         tcp       connected
            b         tcp       reset
            b         closes
            b         state     CLOSED
            """);
    }

    // ---- the end (RFC 5044 7.2)

    @Test
    void theSideThatDisconnectsFinishesItsStreamAndWaitsForThePeer() {
        run(STREAMING + """
            a         disconnect
            a         finishes
            a         stream    finished
            a         state     ENDING
            b         stream    ended
            b         closes
            b         told      disconnected by peer
            a         tcp       reset
            a         closes
            a         told      disconnected by this-side
            """);
    }

    @Test
    void aPeerThatDoesNotEndItsStreamIsBrokenOffAfterFiveSeconds() {
        run(STREAMING + """
            a         disconnect
            a         finishes
            a         stream    finished
            a         disconnect         # once is enough
            nothing   for       4999ms
            a         resets
            a         told      disconnected by this-side
            """);
    }

    @Test
    void aStreamThatBreaksEndsTheConnection() {
        run(STREAMING + """
            a         stream    broken
            a         closes
            a         told      disconnected by failure
            """);
    }

    /// RFC 5044 7.2: the stream may still bring the reason to the peer (TERMINATE).
    @Test
    void theFailureOfAQueuePairIsToldBeforeItsStreamIsOver() {
        run(STREAMING + """
            a         stream    failed
            a         told      disconnected by failure
            a         state     STREAMING
            a         stream    finished
            a         tcp       reset
            a         closes             # and nothing more is told
            """);
    }

    @Test
    void anAttemptCanBeGivenUpAtAnyTime() {
        run("""
            a         connect
            a         disconnect
            a         resets
            a         told      disconnected by this-side
            a         disconnect
            """);
        run(ASKED + """
            a         disconnect
            a         resets
            a         told      disconnected by this-side
            b         disconnect
            b         resets
            b         told      disconnected by this-side
            """);
    }

    @Test
    void aConnectionThatMakesRoomForOthersIsBrokenOffInSilence() {
        run("""
            b         tcp       connected
            b         abandon
            b         resets
            nothing   for       60s
            """);
    }

    // ---- owners

    @Test
    void decisionsHaveTheirTime() {
        run("""
            a         connect
            a         cannot    ready
            a         cannot    accept
            a         cannot    reject
            b         tcp       connected
            b         cannot    accept
            b         cannot    ready
            a         tcp       connected
            a -> b    MPA request
            b         told      requested
            b         cannot    ready
            b         accept
            b         cannot    accept
            b         cannot    reject
            b -> a    MPA reply
            b         begins
            b         told      established
            a         told      accepted
            a         ready
            a         cannot    ready
            a         begins
            """);
    }
}
