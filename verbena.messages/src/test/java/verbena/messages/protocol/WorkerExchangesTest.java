package verbena.messages.protocol;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import verbena.messages.protocol.WorkerScript.Setting;

/// What workers send each other and tell their programs, as scripts. Windows have 4 frames of 64 bytes, so that a
/// message of up to 48 bytes goes whole; two offers of a kind and two calls may be under way.
class WorkerExchangesTest {
    /// The beginning of many: each end gives its credits.
    private static final String OPEN = """
            a -> b    CREDIT  credits 3
            b -> a    CREDIT  credits 3
            """;

    private static void run(String script) {
        WorkerScript.run(OPEN + script);
    }

    @AfterAll
    static void tell() {
        System.out.println("workers of messages: " + WorkerScript.count() + " scripts");
    }

    // ---- matching

    @Test
    void aMessageGoesIntoTheReceiveThatWaitsForIt() {
        run("""
            b         receive   tag 7  len 20
            a         send b    tag 7  len 10
            a -> b    TAGGED    tag 7  len 10  reserve yes
            a         told      sent 1
            b         told      received 1 from a tag 7 len 10
            a         idle b    yes
            """);
    }

    @Test
    void aMessageThatComesFirstWaitsForItsReceive() {
        run("""
            a         send b    tag 7  len 10
            a -> b    TAGGED    tag 7
            a         told      sent 1
            b         told      nothing
            b         state a   unexpected 1  kept 138
            b         receive   tag 7
            b         told      received 1 from a tag 7 len 10
            b         state a   unexpected 0  kept 0
            """);
    }

    @Test
    void ofTwoReceivesThatMatchTheOlderTakesTheMessage() {
        run("""
            b         receive   tag 7
            b         receive   tag 7
            a         send b    tag 7  len 1
            a -> b    TAGGED
            a         told      sent 1
            b         told      received 1 from a tag 7 len 1
            b         withdraw  2
            b         told      withdrawn 2
            """);
    }

    @Test
    void ofTwoMessagesThatMatchTheReceiveTakesTheOlder() {
        run("""
            a         send b    tag 7  len 1
            a         send b    tag 7  len 2
            a -> b    TAGGED    len 1
            a -> b    TAGGED    len 2
            a         told      sent 1
            a         told      sent 2
            b         receive   tag 7
            b         told      received 1 from a tag 7 len 1
            b -> a    CREDIT    credits 2
            """);
    }

    @Test
    void aMaskSaysWhichBitsOfTheTagCount() {
        run("""
            b         receive   tag 0x10  mask 0xf0
            a         send b    tag 0x2f
            a         send b    tag 0x1f
            a -> b    TAGGED    tag 47
            b         told      nothing
            a -> b    TAGGED    tag 31
            b         told      received 1 from a tag 31 len 0
            b         receive   tag 0  mask 0
            b         told      received 2 from a tag 47 len 0
            a         told      sent 1
            a         told      sent 2
            b -> a    CREDIT    credits 2
            """);
    }

    @Test
    void aReceiveFromOnePeerLetsMessagesOfOthersPass() {
        run("""
            b -> c    CREDIT    credits 3
            c -> b    CREDIT    credits 3
            b         receive   tag 7  from a
            b         receive   tag 7
            c         send b    tag 7  len 3
            c -> b    TAGGED
            c         told      sent 1
            b         told      received 2 from c tag 7 len 3
            a         send b    tag 7  len 4
            a -> b    TAGGED
            a         told      sent 1
            b         told      received 1 from a tag 7 len 4
            a -> c    CREDIT    credits 3
            c -> a    CREDIT    credits 3
            """);
    }

    @Test
    void aMessageThatIsLongerThanTheMemoryFillsItAndTheRestIsLost() {
        run("""
            b         receive   tag 7  len 4
            a         send b    tag 7  len 10
            a -> b    TAGGED
            a         told      sent 1
            b         told      received 1 from a tag 7 len 10
            """);
    }

    @Test
    void aReceiveThatWasTakenBackTakesNoMessage() {
        run("""
            b         receive   tag 7
            b         withdraw  1
            b         told      withdrawn 1
            a         send b    tag 7
            a -> b    TAGGED
            a         told      sent 1
            b         state a   unexpected 1
            b         receive   tag 7
            b         told      received 2 from a
            b         withdraw  2
            b         told      too late 2
            """);
    }

    @Test
    void aReceiveFromALostPeerFailsAndOneFromAnyPeerWaits() {
        run("""
            b         receive   tag 7  from a
            b         receive   tag 7
            b         loses a
            b         told      receive 1 failed: it is gone
            b         receive   tag 8  from a
            b         told      receive 3 failed: it is gone
            b         withdraw  2
            b         told      withdrawn 2
            """);
    }

    @Test
    void wholeMessagesOfALostPeerStayAndItsOffersGo() {
        run("""
            a         send b    tag 7  len 10
            a         send b    tag 8  len 100
            a -> b    TAGGED    tag 7
            a         told      sent 1
            a -> b    OFFER     tag 8  len 100
            b         state a   unexpected 2
            b         loses a
            b         state a   unexpected 1
            b         receive   tag 7
            b         told      received 1 from a tag 7 len 10
            a         loses b
            a         told      send 2 failed: it is gone
            """);
    }

    /// Each costs its bytes and 128 more.
    @Test
    void ofMessagesThatLostPeersLeaveTheOldestGoWhenThereAreTooMany() {
        WorkerScript.run(Setting.USUAL.left(300), OPEN + """
            a         send b    tag 1  len 10
            a         send b    tag 2  len 10
            a         send b    tag 3  len 10
            a -> b    TAGGED
            a -> b    TAGGED
            a -> b    TAGGED
            a         told      sent 1
            a         told      sent 2
            a         told      sent 3
            b         loses a
            b         state a   unexpected 2  dropped 1
            b         receive   mask 0
            b         told      received 1 from a tag 2
            """);
    }

    @Test
    void aWorkerThatIsClosedFailsReceivesAndThoseToCome() {
        run("""
            b         receive   tag 7
            b         close
            b         told      receive 1 failed: it is closed
            b         receive   tag 7
            b         told      receive 2 failed: it is closed
            """);
    }

    // ---- credits

    @Test
    void nothingLeavesBeforeThePeerHasGivenCredits() {
        WorkerScript.run("""
            a         send b    tag 7
            a -> b    CREDIT    credits 3
            a         nothing b
            b -> a    CREDIT    credits 3
            a -> b    TAGGED    reserve yes
            a         told      sent 1
            """);
    }

    /// The last of three credits is used, and the message behind waits for the frame of credits.
    @Test
    void anEndWithoutCreditsWaitsForSome() {
        run("""
            b         receive   mask 0
            b         receive   mask 0
            b         receive   mask 0
            b         receive   mask 0
            a         send b    tag 1
            a         send b    tag 2
            a         send b    tag 3
            a         send b    tag 4
            a -> b    TAGGED    tag 1  reserve yes
            a -> b    TAGGED    tag 2  reserve none
            a -> b    TAGGED    tag 3
            a         nothing b
            a         idle b    no
            b -> a    CREDIT    credits 3
            a -> b    TAGGED    tag 4  reserve yes
            a         idle b    yes
            a         told      sent 1
            a         told      sent 2
            a         told      sent 3
            a         told      sent 4
            b         told      received 1 from a tag 1
            b         told      received 2 from a tag 2
            b         told      received 3 from a tag 3
            b         told      received 4 from a tag 4
            """);
    }

    @Test
    void creditsGoWithMessagesThatGoAnyway() {
        run("""
            b         receive   tag 7
            a         receive   tag 8
            a         send b    tag 7
            a -> b    TAGGED    tag 7  credits none
            b         send a    tag 8
            b -> a    TAGGED    tag 8  credits 1  reserve none
            a         send b    tag 7
            a -> b    TAGGED    tag 7  credits 1  reserve none
            a         told      sent 1
            a         told      received 1 from b
            a         told      sent 2
            b         told      received 1 from a
            b         told      sent 1
            """);
    }

    /// One frame may be owed: a frame of credits would cost more than it gives.
    @Test
    void lessThanHalfAWindowIsNotWorthAFrameOfCredits() {
        run("""
            b         receive   tag 7
            a         send b    tag 7
            a -> b    TAGGED
            a         told      sent 1
            b         told      received 1
            b         nothing a
            """);
    }

    @Test
    void anEndThatHasUsedItsReserveGivesNoMoreCreditsUntilItHasItBack() {
        WorkerScript.run("""
            a -> b    CREDIT    credits 3
            b         send a    tag 1
            b         send a    tag 2
            b -> a    TAGGED    tag 1  credits 3  reserve yes
            b -> a    TAGGED    tag 2  credits none  reserve none
            b         told      sent 1
            b         told      sent 2
            a -> b    CREDIT    credits 2
            b         send a    tag 3
            b -> a    TAGGED    tag 3  reserve yes
            b         told      sent 3
            """);
    }

    /// Both have used all their credits, and each can give some.
    @Test
    void twoEndsWithoutCreditsDoNotWaitForEachOther() {
        run("""
            a         send b    tag 1
            a         send b    tag 1
            a         send b    tag 1
            a         send b    tag 2
            b         send a    tag 1
            b         send a    tag 1
            b         send a    tag 1
            b         send a    tag 2
            a -> b    TAGGED
            a -> b    TAGGED
            a -> b    TAGGED
            b -> a    TAGGED    credits 3
            b -> a    TAGGED
            b -> a    TAGGED
            a -> b    TAGGED    tag 2  credits 3
            b -> a    TAGGED    tag 2  credits 1
            a         told      sent 1
            a         told      sent 2
            a         told      sent 3
            a         told      sent 4
            b         told      sent 1
            b         told      sent 2
            b         told      sent 3
            b         told      sent 4
            """);
    }

    @Test
    void aWindowOfTwoIsEnough() {
        WorkerScript.run(Setting.USUAL.window(2), """
            a -> b    CREDIT    credits 1
            b -> a    CREDIT    credits 1
            b         receive   mask 0
            b         receive   mask 0
            a         send b    tag 1
            a         send b    tag 2
            a -> b    TAGGED    tag 1  reserve yes
            a         nothing b
            b -> a    CREDIT    credits 1  reserve none
            a -> b    TAGGED    tag 2  reserve yes
            a         told      sent 1
            a         told      sent 2
            b         told      received 1
            b         told      received 2
            b -> a    CREDIT    credits 1
            """);
    }

    // ---- active messages

    @Test
    void aFrameIsTheHandlersUntilItHasReturned() {
        run("""
            a         sends b   active 3  header 2  len 5
            a         sends b   active 3
            a -> b    ACTIVE    handler 3  header 2  len 5
            a -> b    ACTIVE    handler 3  header 0  len 0
            a         told      sent 1
            a         told      sent 2
            b         told      active 3 header 2 len 5
            b         told      active 3 header 0 len 0
            b         nothing a
            b         handled a
            b         nothing a
            b         handled a
            b -> a    CREDIT    credits 2
            """);
    }

    @Test
    void anActiveMessageWithoutAHandlerCostsItsFrameForNoTime() {
        run("""
            a         sends b   active 0  len 5
            a         sends b   active 0  len 5
            a -> b    ACTIVE    handler 0
            a -> b    ACTIVE    handler 0
            a         told      sent 1
            a         told      sent 2
            b -> a    CREDIT    credits 2
            """);
    }

    @Test
    void aLongActiveMessageIsReadBehindItsHeader() {
        run("""
            a         sends b   active 3  header 5  len 100
            a -> b    OFFER     kind active  handler 3  header 5  len 100  offer 1
            b         reads a   offer 1  len 100
            b         told      active 3 header 5 len 100
            b -> a    TAKEN     offer 1
            a         told      sent 1
            """);
    }

    // ---- long messages

    @Test
    void aLongMessageIsOfferedReadAndTaken() {
        run("""
            b         receive   tag 7  len 200
            a         send b    tag 7  len 100
            a -> b    OFFER     kind tagged  tag 7  len 100  offer 1  keys 1
            a         told      nothing
            a         state b   exposed 1
            b         begins a  offer 1  len 100
            b         nothing a
            b         ends a    offer 1
            b         told      received 1 from a tag 7 len 100
            b -> a    TAKEN     offer 1
            a         told      sent 1
            a         state b   exposed 0
            """);
    }

    @Test
    void theLongestMessageThatFitsGoesWholeAndOneByteMoreIsOffered() {
        run("""
            a         send b    tag 7  len 48
            a         send b    tag 8  len 49
            a -> b    TAGGED    tag 7  len 48
            a -> b    OFFER     tag 8  len 49
            a         told      sent 1
            b         receive   tag 8
            b         reads a   len 49
            b         told      received 1 from a tag 8 len 49
            b -> a    TAKEN     offer 1  credits 2
            a         told      sent 2
            """);
    }

    @Test
    void anOfferWaitsForItsReceive() {
        run("""
            a         send b    tag 7  len 100
            a -> b    OFFER     offer 1
            b         nothing a
            b         state a   unexpected 1  kept 0
            b         receive   tag 7  len 100
            b         reads a   offer 1
            b         told      received 1 from a tag 7 len 100
            b -> a    TAKEN     offer 1
            a         told      sent 1
            """);
    }

    @Test
    void ofALongMessageOnlyWhatTheMemoryTakesIsRead() {
        run("""
            b         receive   tag 7  len 60
            a         send b    tag 7  len 100
            a -> b    OFFER     len 100
            b         reads a   offer 1  len 60
            b         told      received 1 from a tag 7 len 100
            b -> a    TAKEN     offer 1
            a         told      sent 1
            """);
    }

    @Test
    void aReceiveWithoutMemoryTakesALongMessageWithoutReadingIt() {
        run("""
            b         receive   tag 7  len 0
            a         send b    tag 7  len 100
            a -> b    OFFER     offer 1
            b         told      received 1 from a tag 7 len 100
            b -> a    TAKEN     offer 1
            a         told      sent 1
            """);
    }

    /// The third offer waits, and a short message behind it, so that the order stays. An active one passes by.
    @Test
    void offersThatThePeerDoesNotTakeYetAreHeldBackWithWhatIsBehindThem() {
        run("""
            a         send b    tag 1  len 100
            a         send b    tag 2  len 100
            a         send b    tag 3  len 100
            a         send b    tag 4  len 1
            a         sends b   active 3  len 1
            a -> b    OFFER     tag 1
            a -> b    OFFER     tag 2
            a -> b    ACTIVE    handler 3
            a         told      sent 5
            b         told      active 3
            a         state b   held 2
            b -> a    CREDIT    credits 2
            a         nothing b
            b         receive   tag 1
            b         reads a   offer 1
            b         told      received 1 from a tag 1
            b -> a    TAKEN     offer 1
            a         told      sent 1
            a -> b    OFFER     tag 3  offer 3
            a -> b    TAGGED    tag 4
            a         told      sent 4
            a         state b   held 0
            b         handled a
            b -> a    CREDIT    credits 3
            """);
    }

    @Test
    void messagesOfTwoLanesWaitForTheirOwnLaneOnly() {
        run("""
            a         sends b   active 3  len 100
            a         sends b   active 3  len 100
            a         sends b   active 3  len 100
            a         send b    tag 1  len 100
            a -> b    OFFER     kind active  offer 1
            a -> b    OFFER     kind active  offer 2
            a -> b    OFFER     kind tagged  offer 3
            a         state b   held 1
            b -> a    CREDIT    credits 3
            b         reads a   offer 1
            b         told      active 3
            b -> a    TAKEN     offer 1
            a         told      sent 1
            a -> b    OFFER     kind active  offer 4
            b         begins a  offer 2
            b         begins a  offer 4
            b         ends a    offer 2
            b         told      active 3
            b         ends a    offer 4
            b         told      active 3
            b -> a    TAKEN     offer 2
            b -> a    TAKEN     offer 4
            a         told      sent 2
            a         told      sent 3
            a -> b    CREDIT    credits 2
            """);
    }

    /// 128 and the bytes of each; behind 200 the end asks for offers, so even a short message is one.
    @Test
    void anEndWithMuchThatNoReceiveWaitsForAsksForOffers() {
        WorkerScript.run(Setting.USUAL.crowded(200), OPEN + """
            a         send b    tag 1  len 10
            a         send b    tag 1  len 10
            a -> b    TAGGED
            a -> b    TAGGED
            a         told      sent 1
            a         told      sent 2
            b -> a    CREDIT    credits 2  crowded yes
            b         state a   crowded 1  kept 276
            a         send b    tag 1  len 10
            a         sends b   active 3  len 10
            a -> b    OFFER     tag 1  len 10
            a -> b    ACTIVE    len 10
            a         told      sent 4
            b         told      active 3
            b         receive   tag 1
            b         receive   tag 1
            b         receive   tag 1
            b         told      received 1 from a tag 1 len 10
            b         told      received 2 from a tag 1 len 10
            b         reads a   offer 1  len 10
            b         told      received 3 from a tag 1 len 10
            b -> a    TAKEN     crowded none
            a         told      sent 3
            a         send b    tag 1  len 10
            a -> b    TAGGED
            a         told      sent 5
            b         handled a
            b -> a    CREDIT
            """);
    }

    @Test
    void aPeerThatIsLostWhileItsMessageIsReadFailsTheReceive() {
        run("""
            b         receive   tag 7
            a         send b    tag 7  len 100
            a -> b    OFFER     offer 1
            b         begins a  offer 1
            b         loses a
            b         told      receive 1 failed: it is gone
            a         loses b
            a         told      send 1 failed: it is gone
            a         state b   exposed 0
            a         send b    tag 7
            a         told      send 2 failed: it is gone
            """);
    }

    // ---- calls

    @Test
    void aCallIsAnsweredOnce() {
        run("""
            a         call b    len 10
            a -> b    CALL      call 1  len 10  limit none
            b         told      asked 1 len 10
            b         answer a 1  len 5
            b -> a    ANSWER    call 1  len 5
            a         told      answer 1 len 5
            a         cancel b 1
            a         told      too late 1
            a         state b   unanswered 0
            b         state a   answering 0
            """);
    }

    @Test
    void aHandlerThatFailsFailsTheCall() {
        run("""
            a         call b
            a -> b    CALL      call 1
            b         told      asked 1 len 0
            b         fault a 1
            b -> a    FAULT     call 1
            a         told      fault 1 it failed
            """);
    }

    @Test
    void aLongRequestAndALongAnswerAreRead() {
        run("""
            a         call b    len 100
            a -> b    OFFER     kind call  call 1  len 100  offer 1
            b         reads a   offer 1
            b         told      asked 1 len 100
            b         state a   requests 100
            b -> a    TAKEN     offer 1
            b         answer a 1  len 200
            b -> a    OFFER     kind answer  call 1  len 200  offer 1
            b         state a   requests 0
            a         reads b   offer 1
            a         told      answer 1 len 200
            a -> b    TAKEN     offer 1
            """);
    }

    @Test
    void asManyCallsAsAgreedAreUnderWay() {
        run("""
            a         call b
            a         places b  some
            a         call b
            a         places b  none
            a -> b    CALL      call 1
            a -> b    CALL      call 2
            b         told      asked 1
            b         told      asked 2
            b         answer a 2
            b -> a    ANSWER    call 2
            a         told      answer 2 len 0
            a         places b  some
            """);
    }

    @Test
    void aCallIsLateWhenItsTimeHasPassedAndNotBefore() {
        run("""
            a         call b    limit 100ms
            a         call b    limit 50ms
            a -> b    CALL      call 1  limit 100ms
            a -> b    CALL      call 2  limit 50ms
            b         told      asked 1 len 0 limit 100ms
            b         told      asked 2 len 0 limit 50ms
            a         deadline b 50ms
            after     49ms
            a         deadline b 1ms
            a         told      nothing
            after     1ms
            a         deadline b 50ms
            a         told      late 2
            a -> b    CANCEL    call 2
            b         told      interrupted 2
            after     50ms
            a         deadline b none
            a         told      late 1
            b -> a    CREDIT    credits 3
            a -> b    CANCEL    call 1
            b         told      interrupted 1
            b         answer a 1
            b         answer a 2
            b -> a    ANSWER    call 1
            b -> a    ANSWER    call 2
            a         told      nothing
            a         state b   unanswered 0
            a -> b    CREDIT
            """);
    }

    /// It waits for a credit; its peer never hears of it.
    @Test
    void aCallThatIsCancelledBeforeItHasLeftIsNotSent() {
        run("""
            a         send b    tag 1
            a         send b    tag 1
            a         send b    tag 1
            a         call b
            a -> b    TAGGED
            a -> b    TAGGED
            a -> b    TAGGED
            a         cancel b 1
            a         told      sent 1
            a         told      sent 2
            a         told      sent 3
            a         told      cancelled 1
            b -> a    CREDIT    credits 3
            a         nothing b
            a         state b   unanswered 0
            """);
    }

    @Test
    void aCallThatIsCancelledKeepsItsPlaceThereUntilItIsAnswered() {
        run("""
            a         call b
            a -> b    CALL      call 1
            b         told      asked 1
            a         cancel b 1
            a         told      cancelled 1
            a -> b    CANCEL    call 1
            b         told      interrupted 1
            a         state b   unanswered 1
            b         answer a 1  len 100
            b -> a    OFFER     kind answer  call 1
            a         told      nothing
            a -> b    TAKEN     offer 1
            a         state b   unanswered 0
            """);
    }

    @Test
    void callsThatWereGivenUpHaveAsManyPlacesAgainAndNoMore() {
        WorkerScript.run(Setting.USUAL.window(20), """
            a -> b    CREDIT    credits 19
            b -> a    CREDIT    credits 19
            a         call b
            a         call b
            a -> b    CALL      call 1
            a -> b    CALL      call 2
            a         places b  none
            a         cancel b 1
            a         places b  some
            a         cancel b 2
            a         call b
            a         call b
            a -> b    CANCEL    call 1
            a -> b    CANCEL    call 2
            a -> b    CALL      call 3
            a -> b    CALL      call 4
            a         cancel b 3
            a         cancel b 4
            a         places b  none
            a -> b    CANCEL    call 3
            a -> b    CANCEL    call 4
            a         state b   unanswered 4
            a         told      cancelled 1
            a         told      cancelled 2
            a         told      cancelled 3
            a         told      cancelled 4
            b         told      asked 1
            b         told      asked 2
            b         told      interrupted 1
            b         told      interrupted 2
            b         told      asked 3
            b         told      asked 4
            b         told      interrupted 3
            b         told      interrupted 4
            b         answer a 4
            b -> a    ANSWER    call 4
            a         told      nothing
            a         places b  some
            """);
    }

    @Test
    void anAnswerThatCrossesTheCancellationIsDropped() {
        run("""
            a         call b
            a -> b    CALL      call 1
            b         told      asked 1
            b         answer a 1
            a         cancel b 1
            a         told      cancelled 1
            b -> a    ANSWER    call 1
            a         told      nothing
            a -> b    CANCEL    call 1
            b         told      nothing
            a         state b   unanswered 0
            """);
    }

    /// The request waits for room, so that nothing of it was read.
    @Test
    void aLongCallThatIsCancelledBeforeItIsReadIsDropped() {
        run("""
            b         claim a   4000
            a         call b    len 100  limit 50ms
            a -> b    OFFER     kind call  call 1  limit 50ms
            b         nothing a
            b         state a   unread 1
            after     50ms
            a         deadline b none
            a         told      late 1
            a -> b    CANCEL    call 1
            b -> a    TAKEN     offer 1
            b -> a    FAULT     call 1
            a         told      nothing
            b         state a   unread 0  answering 0
            a -> b    CREDIT    credits 2
            """);
    }

    @Test
    void aCallCannotBeGivenUpWhileItsAnswerIsReadIntoMemoryOfItsCaller() {
        run("""
            a         call b    memory yes
            a -> b    CALL      call 1
            b         told      asked 1
            b         answer a 1  len 100
            b -> a    OFFER     kind answer
            a         begins b  offer 1
            a         cancel b 1
            a         told      too late 1
            a         ends b    offer 1
            a         told      answer 1 len 100
            a -> b    TAKEN     offer 1
            """);
    }

    @Test
    void callsToAPeerThatIsLostFail() {
        run("""
            a         call b
            a         call b    limit 50ms
            a -> b    CALL      call 1
            b         told      asked 1
            a         loses b
            a         told      call 2 failed: it is gone
            a         told      call 1 failed: it is gone
            a         deadline b none
            a         places b  some
            b         loses a
            b         told      interrupted 1
            """);
    }

    // ---- rails

    private static final String OPEN_RAILS = """
            a -> b    CREDIT    credits 3  rail 0  frame 1  got 0
            b -> a    CREDIT    credits 3  rail 0  frame 1  got 1
            """;

    private static void runRails(String script) {
        WorkerScript.run(Setting.USUAL.rails(2), OPEN_RAILS + script);
    }

    @Test
    void framesOfSeveralRailsAreCountedAndTheirSlotsKeptUntilThePeerHasThem() {
        runRails("""
            b         receive   tag 7
            a         send b    tag 7
            a -> b    TAGGED    rail 0  frame 2  got 1
            a         told      sent 1
            b         told      received 1 from a
            a         state b   slots 1
            b         send a    tag 8
            b -> a    TAGGED    rail 0  frame 2  got 2
            b         told      sent 1
            a         state b   slots 0
            a         receive   tag 8
            a         told      received 1 from b
            """);
    }

    @Test
    void aFrameThatIsLostWithItsRailGoesByTheNext() {
        runRails("""
            b         receive   tag 7
            a         send b    tag 7  len 5
            a -x b    TAGGED    rail 0  frame 2
            a         told      sent 1
            a         loses b   rail 0
            a -> b    LOST      rail 1  rails 0x1  got 1
            b         told      rail 0 lost
            b -> a    LOST      rail 1  rails 0x1  got 1
            a -> b    TAGGED    rail 1  frame 2  len 5
            b         told      received 1 from a tag 7 len 5
            """);
    }

    /// The frame was received, though its sender does not know it when the rail is lost.
    @Test
    void aFrameThatThePeerHasIsNotSentAgain() {
        runRails("""
            b         receive   tag 7
            b         receive   tag 8
            a         send b    tag 7
            a -> b    TAGGED    rail 0  frame 2
            a         told      sent 1
            b         told      received 1 from a
            a         loses b   rail 0
            a -> b    LOST      rail 1
            b         told      rail 0 lost
            b -> a    LOST      rail 1  got 2
            a         nothing b
            a         send b    tag 8
            a -> b    TAGGED    rail 1  frame 3
            a         told      sent 2
            b         told      received 2 from a
            b -> a    CREDIT    rail 1
            """);
    }

    @Test
    void untilBothEndsKnowOfTheLostRailNothingElseIsSent() {
        runRails("""
            a         loses b   rail 0
            a         send b    tag 7
            a -> b    LOST      rail 1  rails 0x1
            b         told      rail 0 lost
            a         nothing b
            b -> a    LOST      rail 1  rails 0x1
            a -> b    TAGGED    rail 1  frame 2
            a         told      sent 1
            """);
    }

    @Test
    void bothEndsMayFindARailLostAtOnce() {
        runRails("""
            a         send b    tag 7
            b         send a    tag 8
            a -x b    TAGGED    rail 0  frame 2
            b -x a    TAGGED    rail 0  frame 2
            a         told      sent 1
            b         told      sent 1
            a         loses b   rail 0
            b         loses a   rail 0
            a -> b    LOST      got 1
            b -> a    LOST      got 1
            a -> b    TAGGED    rail 1  frame 2  tag 7
            b -> a    TAGGED    rail 1  frame 2  tag 8
            """);
    }

    @Test
    void aRailWithoutFramesIsLostWithoutAPause() {
        runRails("""
            a         loses b   rail 1
            a         send b    tag 7
            a -> b    LOST      rail 0  rails 0x2
            b         told      rail 1 lost
            a -> b    TAGGED    rail 0  frame 2
            a         told      sent 1
            b -> a    LOST      rail 0  rails 0x2
            """);
    }

    @Test
    void anOfferHasAKeyForEachRailThatIsLeft() {
        runRails("""
            a         send b    tag 7  len 100
            a -> b    OFFER     keys 2
            a         loses b   rail 1
            a -> b    LOST      rail 0
            b         told      rail 1 lost
            b -> a    LOST      rail 0
            a         send b    tag 8  len 100
            a -> b    OFFER     keys 1
            b -> a    CREDIT
            """);
    }

    // ---- the budget

    @Test
    void aLongActiveMessageWaitsForRoomAndIsReadWhenThereIsSome() {
        run("""
            b         claim a   3950
            a         sends b   active 3  len 100
            a -> b    OFFER     kind active
            b         nothing a
            b         state a   unread 1
            b         release a 50
            b         reads a   offer 1  len 100
            b         told      active 3 header 0 len 100
            b         state a   unread 0  requests 4000
            b -> a    TAKEN
            a         told      sent 1
            """);
    }

    @Test
    void theFirstMessageIsReadHoweverLongItIs() {
        run("""
            a         sends b   active 3  len 5000
            a -> b    OFFER     kind active
            b         reads a   len 5000
            b         told      active 3 header 0 len 5000
            b         state a   requests 5000
            b -> a    TAKEN
            a         told      sent 1
            """);
    }

    @Test
    void twoPeersShareTheBudget() {
        run("""
            c -> b    CREDIT    credits 3
            b -> c    CREDIT    credits 3
            a         sends b   active 3  len 3000
            c         sends b   active 3  len 3000
            a -> b    OFFER
            c -> b    OFFER
            b         reads a
            b         told      active 3
            b         nothing c
            b         state c   unread 1
            b         release a 3000
            b         reads c
            b         told      active 3
            b -> a    TAKEN
            b -> c    TAKEN
            a         told      sent 1
            c         told      sent 1
            a -> c    CREDIT
            c -> a    CREDIT
            """);
    }

    @Test
    void messagesForReceivesNeedNoBudget() {
        run("""
            b         claim a   9000
            b         receive   tag 7
            a         send b    tag 7  len 100
            a -> b    OFFER
            b         reads a   offer 1
            b         told      received 1 from a
            b -> a    TAKEN
            a         told      sent 1
            """);
    }

    // ---- memory of peers

    @Test
    void asManyOperationsAsAgreedAreUnderWay() {
        run("""
            a         ask b     put1
            a         ask b     put2
            a         ask b     put3
            a         told      begins put1
            a         told      begins put2
            a         told      nothing
            a         done b    put2
            a         told      begins put3
            """);
    }

    @Test
    void whatIsBehindAFenceBeginsWhenAllBeforeIsDone() {
        run("""
            a         ask b     get1
            a         fence b
            a         ask b     put2
            a         told      begins get1
            a         told      nothing
            a         done b    get1
            a         told      begins put2
            """);
    }

    @Test
    void whatWasUnderWayOnALostRailBeginsAgainBeforeAllOthers() {
        run("""
            a         ask b     put1
            a         ask b     put2
            a         ask b     put3
            a         told      begins put1
            a         told      begins put2
            a         again b
            a         told      begins put1
            a         told      begins put2
            a         told      nothing
            """);
    }

    @Test
    void operationsThatHaveNotBegunFailWithTheirPeer() {
        run("""
            a         ask b     put1
            a         fence b
            a         ask b     put2
            a         told      begins put1
            a         loses b
            a         told      operation put2 failed
            """);
    }
}
