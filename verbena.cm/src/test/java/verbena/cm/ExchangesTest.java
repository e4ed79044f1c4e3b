package verbena.cm;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/// What communication managers say to each other (IBTA 12.9), as scripts: every exchange, and each message of it
/// lost, doubled, late and out of order. A retry comes after 604 ms (67 ms for the way, 537 ms for the peer's time).
class ExchangesTest {
    private static void run(String script) {
        CmScript.run(script);
    }

    /// The beginning of many.
    private static final String CONNECTED = """
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a         ready
            a         told      established
            a -> b    RTU
            b         told      established
            a         established        # a packet of b has come: RTU need not be repeated
            """;

    @AfterAll
    static void tell() {
        System.out.println("connection manager: " + CmScript.count() + " scripts");
    }

    // ---- making a connection

    @Test
    void threeMessagesMakeAConnectionAndTwoEndIt() {
        run("""
            a         connect
            a -> b    REQ   service TCP:7471  qp 0x1111  psn 100  mtu 1024  resources 4  depth 5  rnr 6  retries 15
            b         told      requested
            b         accept
            b -> a    REP   qp 0x2222  psn 200  resources 7  depth 3  rnr 5  delay 15  failover 0  data 03
            a         told      accepted
            a         state     REP_RECEIVED
            a         ready
            a         told      established
            a -> b    RTU   data none
            b         told      established
            a         established
            nothing   for       3600s
            a         state     ESTABLISHED
            a         disconnect
            a -> b    DREQ  qp 0x2222
            b         told      disconnected by peer
            b -> a    DREP
            a         told      disconnected
            a         state     TIMEWAIT
            a         told      timewait-exit
            b         told      timewait-exit
            a         gone
            b         gone
            """);
    }

    /// IBTA 12.7.21, 12.9.8.2.
    @Test
    void aLostReqIsSentAgainAfterTheTimeThatThePeerMayTake() {
        run("""
            a         connect
            a -x b    REQ   retries 15
            nothing   for       603ms
            a -> b    REQ   qp 0x1111  psn 100
            b         told      requested
            b         reject
            b -> a    REJ
            a         told      rejected consumer-reject
            """);
    }

    @Test
    void withoutAnAnswerToAnyReqThePeerIsUnreachable() {
        run("""
            a         connect
            """ + "a -x b    REQ\n".repeat(16) + """
            a -x b    REJ   of other  reason timeout  to 0x0  info 0000000000000061
            a         told      unreachable
            a         state     CLOSED
            a         gone
            nothing   for       60s
            """);
    }

    /// It finds all that was sent to it when it has a processor again, here after 63 s, and answers the first.
    @Test
    void withinAHostAPeerWithoutAProcessorIsWaitedForLongerEachTime() {
        CmScript.runWithinHost("""
            a         connect
            a -x b    REQ
            nothing   for       603ms
            a -x b    REQ
            nothing   for       1207ms
            a -x b    REQ
            nothing   for       1811ms
            """ + "a -x b    REQ\n".repeat(12) + """
            nothing   for       9s
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            """);
    }

    @Test
    void withinAHostTheAskingSideHasAsMuchTimeForItsRtu() {
        CmScript.runWithinHost("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -x a    REP
            a         restart
            nothing   for       60s
            b         told      unreachable
            """);
    }

    @Test
    void aReqThatComesTwiceIsPutOffWhileTheOwnerThinks() {
        run("""
            a         connect
            a -2> b   REQ
            b         told      requested
            b -> a    MRA   of REQ  timeout 18
            nothing   for       1s
            b         accept
            b -> a    REP
            a         told      accepted
            b         counts    cm.duplicates 1
            """);
    }

    @Test
    void aLostRepIsMissedSoonAfterAnMra() {
        run("""
            a         connect
            a -2> b   REQ
            b         told      requested
            b -> a    MRA   of REQ  timeout 18
            b         accept
            b -x a    REP   qp 0x2222
            nothing   for       1600ms
            a -> b    REQ
            b -> a    REP   qp 0x2222
            a         told      accepted
            """);
    }

    @Test
    void afterTheTimeThatAnMraAsksForTheReqIsSentAgainAndEachMraAsksForTwiceTheTime() {
        run("""
            a         connect
            a -2> b   REQ
            b         told      requested
            b -> a    MRA   of REQ  timeout 18
            nothing   for       1600ms        # 1.07 s, and as long as any answer may take
            a -> b    REQ
            b -> a    MRA   of REQ  timeout 19
            nothing   for       2700ms
            a -> b    REQ
            b -> a    MRA   of REQ  timeout 20
            nothing   for       4800ms
            a -> b    REQ
            b -> a    MRA   of REQ  timeout 21
            nothing   for       9s
            a -> b    REQ
            b -> a    MRA   of REQ  timeout 22
            nothing   for       17s
            a -> b    REQ
            b -> a    MRA   of REQ  timeout 23
            nothing   for       34s
            a -> b    REQ
            b -> a    MRA   of REQ  timeout 24
            nothing   for       69s
            a -> b    REQ
            b -> a    MRA   of REQ  timeout 24
            nothing   for       69s
            a -> b    REQ
            b -> a    MRA
            b         reject
            b -> a    REJ   of REQ
            a         told      rejected consumer-reject
            """);
    }

    @Test
    void anMraIsGoodForOneSendingOnly() {
        run("""
            a         connect
            a -2> b   REQ
            b         told      requested
            b -> a    MRA   of REQ
            nothing   for       1s
            b -> a    again MRA
            a         counts    cm.duplicates 1
            nothing   for       600ms
            a -> b    REQ
            b -> a    MRA
            """);
    }

    @Test
    void aReqThatComesTwiceGetsTheRepTwice() {
        run("""
            a         connect
            a ->>50ms b  REQ
            b         told      requested
            b         accept
            b -> a    REP   qp 0x2222
            a         told      accepted
            a -> b    again REQ
            b -> a    REP   qp 0x2222
            a -> b    MRA   of REP
            a         ready
            a         told      established
            a -> b    RTU
            b         told      established
            a         established
            """);
    }

    @Test
    void aLateReqDoesNotDisturbAConnection() {
        run(CONNECTED + """
            a -> b    again REQ
            nothing   for       60s
            b         state     ESTABLISHED
            """);
    }

    @Test
    void aLostRepIsSentAgainWhenTheReqComesAgain() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -x a    REP   qp 0x2222
            nothing   for       603ms
            a -> b    REQ
            b -> a    REP   qp 0x2222
            a         told      accepted
            a         reject    no-resources
            a -> b    REJ   of REP  reason no-resources
            b         told      rejected no-resources
            b         told      timewait-exit
            a         told      timewait-exit
            """);
    }

    /// As decision 20 has it: a request in another host's name has one message sent to that host.
    @Test
    void aPeerThatHasShownNothingGetsOneRepForEachReqAndNothingByTheTimer() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -x a    REP
            a -> b    REQ
            b -x a    REP
            a         disconnect
            a -x b    REJ   reason timeout
            nothing   for       9s
            b         state     REP_SENT
            b         told      unreachable
            nothing   for       1s
            b         told      timewait-exit
            b         gone
            """);
    }

    @Test
    void whoAnswersWithAnMraIsThereAndGetsAllReps() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a -> b    MRA   of REP    # by itself, before the REP comes again
            nothing   for       1600ms
            b -> a    REP
            a -> b    MRA   of REP
            nothing   for       2700ms
            b -> a    REP
            a -> b    MRA   of REP
            nothing   for       4800ms
            b -> a    REP
            a -> b    MRA   of REP
            a         ready
            a         told      established
            a -> b    RTU
            b         told      established
            a         established
            """);
    }

    @Test
    void anRtuIsRepeatedThreeTimesUnlessThePeerShowsThatItHasIt() {
        run("""
            a         connect
            a -> b    REQ   response 17
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a         ready
            a         told      established
            a -x b    RTU
            nothing   for       536ms
            a -x b    RTU
            nothing   for       1073ms
            a -> b    RTU
            b         told      established
            nothing   for       2147ms
            a -> b    RTU
            b         counts    cm.duplicates 1
            nothing   for       3600s
            """);
    }

    @Test
    void aPacketOfThePeerMakesRepeatingTheRtuNeedless() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a         ready
            a         told      established
            a -x b    RTU
            a -x b    RTU
            b         established
            b         told      established
            a         established
            nothing   for       3600s
            """);
    }

    @Test
    void aLostRtuIsSentAgainWhenTheRepComesAgain() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a         ready
            a         told      established
            a -x b    RTU
            b -> a    again REP
            a -> b    RTU
            b         told      established
            """ + "a -> b    RTU\n".repeat(3));
    }

    @Test
    void aPacketOnTheQueuePairIsAsGoodAsAnRtu() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a         ready
            a         told      established
            a ->>300ms b  RTU
            b         established
            b         told      established
            a         established
            nothing   for       60s
            b         counts    cm.duplicates 1
            """);
    }

    @Test
    void aRepThatComesTwiceIsAnsweredTwice() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a         ready
            a         told      established
            b -> a    again REP
            a -> b    RTU
            b         told      established
            a -> b    RTU
            a         established
            nothing   for       60s
            """);
    }

    @Test
    void aRepOfAnAttemptThatWasGivenUpIsRefused() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            a         disconnect
            a -x b    REJ   of other  reason timeout
            b         accept
            b -> a    REP
            a -> b    REJ   of REP  reason invalid-comm-id
            b         told      rejected invalid-comm-id
            b         told      timewait-exit
            """);
    }

    // ---- refusals

    /// IBTA 12.6.7.2.
    @Test
    void nobodyListens() {
        run("""
            b         unlisten
            a         connect
            a -> b    REQ
            b -> a    REJ   comm 0x0  of REQ  reason invalid-service-id
            a         told      rejected invalid-service-id
            a         gone
            b         gone
            """);
    }

    @Test
    void aRefusalThatIsLostIsGivenAnew() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         reject
            b -x a    REJ   of REQ  reason consumer-reject  data 09
            b         gone
            a -> b    REQ
            b         told      requested
            b         reject
            b -2> a   REJ   of REQ  reason consumer-reject  data 09
            a         told      rejected consumer-reject
            a         counts    cm.strays 1
            """);
    }

    @Test
    void theActiveSideMayRefuseToo() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            a         reject    consumer-reject
            a -x b    REJ   of REP  reason consumer-reject  data 09
            b -> a    again REP
            a -> b    REJ   of REP  reason consumer-reject  data 09
            b         told      rejected consumer-reject
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    @Test
    void anAttemptThatIsGivenUpIsTold() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            a         disconnect
            a -> b    REJ   of other  reason timeout  to 0x0  info 0000000000000061
            b         told      rejected timeout
            a         gone
            b         gone
            """);
    }

    @Test
    void aRefusalAfterAllEndsAConnection() {
        run(CONNECTED + """
            b         restart
            b -> a    again REP         # a late one; it is answered, and the answer meets no connection
            a -> b    RTU
            b         counts    cm.strays 1
            """);
    }

    @Test
    void whoWaitsInABacklogMakesRoomForNobodyOfTheSameHost() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            a         connect
            a -> b    REQ
            b -> a    REJ   reason stale-connection       # the same queue pair
            a         told      rejected stale-connection
            b         counts    cm.stale 1
            """);
    }

    // ---- the end

    @Test
    void eitherSideMayEndIt() {
        run(CONNECTED + """
            b         disconnect
            b -> a    DREQ  qp 0x1111
            a         told      disconnected by peer
            a -> b    DREP
            b         told      disconnected
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    @Test
    void bothMayEndItAtOnce() {
        run(CONNECTED + """
            a         disconnect
            b         disconnect
            a -> b    DREQ
            b         told      disconnected
            b -> a    DREQ
            a         told      disconnected
            b -> a    DREP
            a -> b    DREP
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    @Test
    void aLostDreqIsSentAgain() {
        run(CONNECTED + """
            a         disconnect
            a -x b    DREQ
            nothing   for       600ms
            a -> b    DREQ
            b         told      disconnected by peer
            b -> a    DREP
            a         told      disconnected
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    /// IBTA 12.9.8.4.
    @Test
    void aLostDrepIsGivenAgainOutOfTimewaitAndAfterIt() {
        run(CONNECTED + """
            a         disconnect
            a -> b    DREQ
            b         told      disconnected by peer
            b -x a    DREP
            b         told      timewait-exit
            b         gone
            a -> b    DREQ
            b -> a    DREP             # of an end that knows nothing
            a         told      disconnected
            a -> b    again DREQ
            b -> a    DREP
            a         told      timewait-exit
            """);
    }

    @Test
    void aDreqThatComesTwiceIsAnsweredTwice() {
        run(CONNECTED + """
            a         disconnect
            a -2> b   DREQ
            b         told      disconnected by peer
            b -> a    DREP
            b -> a    DREP
            a         told      disconnected
            a         counts    cm.duplicates 1
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    @Test
    void withoutAnyDrepTheEndComesAllTheSame() {
        run(CONNECTED + """
            a         disconnect
            """ + "a -x b    DREQ\n".repeat(16) + """
            a         told      disconnected
            a         told      timewait-exit
            a         gone
            b         state     ESTABLISHED
            """);
    }

    @Test
    void thePassiveSideMayEndWhatIsNotConfirmed() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            b         disconnect
            nothing   for       260ms         # a has not shown yet that it is there
            a -> b    MRA   of REP
            b -> a    DREQ
            a         told      disconnected by peer
            a -> b    DREP
            b         told      disconnected
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    @Test
    void anEndWaitsForTheRtuToo() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -> a    REP
            a         told      accepted
            b         disconnect
            a         ready
            a         told      established
            a -> b    RTU
            b -> a    DREQ
            a         told      disconnected by peer
            a -> b    DREP
            b         told      disconnected
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    @Test
    void whoDidNotProveToBeThereIsNotToldOfTheEndUnlessHeAsksAgain() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            b         accept
            b -x a    REP
            b         disconnect
            a -> b    REQ
            b -> a    REJ   of REQ  reason consumer-reject
            a         told      rejected consumer-reject
            nothing   for       8s
            b         told      disconnected
            b         told      timewait-exit
            """);
    }

    /// IBTA 12.9.8.3.
    @Test
    void aReqInTimewaitIsStale() {
        run(CONNECTED + """
            a         disconnect
            a -> b    DREQ
            b         told      disconnected by peer
            b -> a    DREP
            a         told      disconnected
            a -> b    again REQ
            b -> a    REJ   comm 0x0  of REQ  reason stale-connection
            a         counts    cm.strays 1
            b -> a    again REP
            a -> b    REJ   of REP  reason stale-connection
            b         counts    cm.duplicates 2
            a         told      timewait-exit
            b         told      timewait-exit
            """);
    }

    @Test
    void afterTimewaitEverythingIsNew() {
        run(CONNECTED + """
            a         disconnect
            a -> b    DREQ
            b         told      disconnected by peer
            b -> a    DREP
            a         told      disconnected
            a         told      timewait-exit
            b         told      timewait-exit
            """ + CONNECTED);
    }

    // ---- a peer that has been restarted

    @Test
    void aPeerThatForgotIsStaleAndTheConnectionStaysAsItIs() {
        run(CONNECTED + """
            a         restart
            a         connect
            a -> b    REQ   qp 0x1111
            b -> a    REJ   of REQ  reason stale-connection
            a         told      rejected stale-connection
            b         state     ESTABLISHED
            nothing   for       60s
            """);
    }

    @Test
    void aPeerThatForgotAnswersADreq() {
        run(CONNECTED + """
            a         restart
            b         disconnect
            b -> a    DREQ
            a -> b    DREP
            b         told      disconnected
            b         told      timewait-exit
            """);
    }

    @Test
    void aPeerThatForgotRefusesARep() {
        run("""
            a         connect
            a -> b    REQ
            b         told      requested
            a         restart
            b         accept
            b -> a    REP
            a -> b    REJ   of REP  reason invalid-comm-id
            b         told      rejected invalid-comm-id
            b         told      timewait-exit
            """);
    }

    @Test
    void twoSidesThatConnectToOneAnotherMakeTwoConnections() {
        run("""
            a         connect
            a ->>20ms b   REQ   qp 0x1111
            b         told      requested
            b         reject
            b ->>20ms a   REJ
            a         told      rejected consumer-reject
            """);
    }

    // ---- datagram services

    /// IBTA 12.11.
    @Test
    void aSidrRequestIsAnsweredWhenTheOwnerLikes() {
        run("""
            a         ask
            a -> b    SIDR_REQ  service TCP:7472
            b         told      asked
            nothing   for       500ms
            b         answer    0
            b -> a    SIDR_REP  status valid  qp 0x77  qkey 0x88  service TCP:7472
            a         told      answer 0
            nothing   for       3600s
            """);
    }

    @Test
    void aLostSidrRequestIsSentAgain() {
        run("""
            a         ask
            a -x b    SIDR_REQ
            nothing   for       530ms
            a -> b    SIDR_REQ
            b         told      asked
            b         answer    2
            b -> a    SIDR_REP  status reject
            a         told      answer 2
            """);
    }

    @Test
    void whileTheOwnerThinksARepeatedQuestionWaitsToo() {
        run("""
            a         ask
            a -2> b   SIDR_REQ
            b         told      asked
            a -> b    SIDR_REQ
            a -> b    SIDR_REQ
            b         answer    0
            b -2> a   SIDR_REP
            a         told      answer 0
            b         counts    cm.duplicates 3
            a         counts    cm.strays 1
            """);
    }

    @Test
    void aLostAnswerIsGivenAgainTheSame() {
        run("""
            a         ask
            a -> b    SIDR_REQ
            b         told      asked
            b         answer    0
            b -x a    SIDR_REP  qp 0x77
            a -> b    SIDR_REQ
            b -> a    SIDR_REP  qp 0x77
            a         told      answer 0
            """);
    }

    @Test
    void silenceIsAnAnswerToo() {
        run("""
            a         ask
            a -x b    SIDR_REQ
            a -x b    SIDR_REQ
            a -x b    SIDR_REQ
            a -x b    SIDR_REQ
            nothing   for       530ms
            a         told      silence
            nothing   for       60s
            """);
    }

    @Test
    void nobodyTakesDatagrams() {
        run("""
            b         unlisten
            a         ask
            a -> b    SIDR_REQ
            b -> a    SIDR_REP  status unsupported  qp 0  qkey 0
            a         told      answer 1
            """);
    }

    @Test
    void aSidrRequestMayBeTakenBack() {
        run("""
            a         ask
            a -> b    SIDR_REQ
            b         told      asked
            a         cancel
            b         answer    0
            b -> a    SIDR_REP
            a         counts    cm.strays 1
            nothing   for       60s
            """);
    }
}
