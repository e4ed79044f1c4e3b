package verbena.cm;

import org.junit.jupiter.api.Test;

/// Another alternate path for an established connection: LAP and APR (IBTA 12.8, 12.8.1, 12.8.2).
class PathLoadingTest {
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
            a         established
            """;

    private static void run(String script) {
        CmScript.run(CONNECTED + script);
    }

    @Test
    void aPathIsNamedAndLoaded() {
        run("""
            a         ask-path  5-9
            a -> b    LAP  qp 0x2222  lids 5-9  rate 3  ack 14  data none
            b         told      path 5-9
            b         answer-path 0
            b -> a    APR  status loaded  data none
            a         told      path 5-9 status 0
            nothing   for       3600s
            """);
    }

    @Test
    void aLostLapAndALostAprAreSentAgain() {
        run("""
            a         ask-path  5-9
            a -x b    LAP
            nothing   for       603ms
            a -> b    LAP
            b         told      path 5-9
            b         answer-path 0
            b -x a    APR
            a -> b    LAP
            b -> a    APR  status loaded
            a         told      path 5-9 status 0
            b         counts    cm.duplicates 1
            """);
    }

    @Test
    void thePeerMayRefuseAndThenTakeAnother() {
        run("""
            a         ask-path  5-9
            a -> b    LAP
            b         told      path 5-9
            b         answer-path 7
            b -> a    APR  status lid
            a         told      path 5-9 status 7
            a         ask-path  6-9
            a -> b    LAP  lids 6-9
            b         told      path 6-9
            b         answer-path 0
            b         answer-path 3
            b -> a    APR  status loaded
            a         told      path 6-9 status 0
            """);
    }

    @Test
    void aLapThatALaterOneHasOvertakenIsNotTakenForANewOne() {
        run("""
            a         ask-path  5-9
            a ->>2s b LAP  lids 5-9
            nothing   for       603ms
            a -> b    LAP  lids 5-9
            b         told      path 5-9
            b         answer-path 0
            b -> a    APR  status loaded
            a         told      path 5-9 status 0
            a         ask-path  6-9
            a -> b    LAP  lids 6-9
            b         told      path 6-9
            b         answer-path 0
            b -> a    APR  status loaded
            a         told      path 6-9 status 0
            nothing   for       3s
            b         counts    cm.strays 1
            """);
    }

    @Test
    void aPathThatIsNamedBeforeTheAnswerWaitsForItAndTheLastOneCounts() {
        run("""
            a         ask-path  5-9
            a ->>1s b LAP  lids 5-9
            a         ask-path  6-9
            a         ask-path  7-9
            nothing   for       603ms
            a -x b    LAP  lids 5-9
            b         told      path 5-9
            b         answer-path 0
            b -> a    APR  status loaded
            a         told      path 5-9 status 0
            a -> b    LAP  lids 7-9
            b         told      path 7-9
            b         answer-path 0
            b -> a    APR  status loaded
            a         told      path 7-9 status 0
            nothing   for       3600s
            """);
    }

    @Test
    void aPathThatIsNamedMeanwhileIsAskedForWhenThePeerDoesNotAnswer() {
        run("""
            a         ask-path  5-9
            a         ask-path  6-9
            """ + "a -x b    LAP  lids 5-9\n".repeat(16) + """
            a -> b    LAP  lids 6-9
            b         told      path 6-9
            b         answer-path 0
            b -> a    APR  status loaded
            a         told      path 6-9 status 0
            nothing   for       3600s
            """);
    }

    @Test
    void aPeerThatDoesNotAnswerIsAskedSoOftenAsForAConnection() {
        run("""
            a         ask-path  5-9
            a -2> b   LAP
            b         told      path 5-9
            """ + "a -> b    LAP\n".repeat(15) + """
            nothing   for       3600s
            a         state     ESTABLISHED
            b         answer-path 0
            b -> a    APR
            a         counts    cm.strays 1
            """);
    }

    @Test
    void anEndedConnectionAsksNoMore() {
        run("""
            a         ask-path  5-9
            a -x b    LAP
            a         disconnect
            a -> b    DREQ
            b         told      disconnected by peer
            b -> a    DREP
            a         told      disconnected
            a -> b    again LAP
            b         counts    cm.strays 1
            a         told      timewait-exit
            b         told      timewait-exit
            a         gone
            b         gone
            """);
    }

    @Test
    void onlyThePassiveSideIsAsked() {
        run("""
            a         ask-path  5-9
            a -> b    LAP
            b         told      path 5-9
            b -> a    again REP
            a -> b    RTU
            b         answer-path 2
            b -> a    APR  status unsupported
            b -> a    again APR
            a         told      path 5-9 status 2
            a         counts    cm.strays 1
            """);
    }
}
