package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// Calls with time limits, step by step in virtual time: `a` calls, and `b` answers.
class CallsTest {
    private static final int PLACES = 4;
    private static final int LONG_BYTES = 1000;

    private final CallEnds ends = new CallEnds(PLACES, PLACES);
    private final CallEnds.End a = ends.a;
    private final CallEnds.End b = ends.b;

    private void assertNobodyIsLost() {
        assertThat(a.wrong).isNull();
        assertThat(b.wrong).isNull();
    }

    /// Nothing of any call is left at either end.
    private void assertNothingIsLeft() {
        ends.settle();
        assertNobodyIsLost();
        assertThat(a.own.unanswered()).isZero();
        assertThat(a.own.hasPlace()).isTrue();
        assertThat(a.own.nanosToDeadline(ends.now)).isNegative();
        assertThat(b.theirs.size()).isZero();
        assertThat(a.peer.isIdle()).isTrue();
        assertThat(b.peer.isIdle()).isTrue();
        assertThat(a.exposed).isEmpty();
        assertThat(b.exposed).isEmpty();
    }

    @Test
    void aCallIsAnsweredOnce() {
        CallEnds.Asked call = a.call(10, 0);
        ends.settle();
        b.answer(b.requests.getFirst(), 5);
        b.answer(b.requests.getFirst(), 6);
        ends.settle();
        assertThat(call.told).containsExactly("answer 5");
        assertThat(a.own.giveUp(call)).isFalse();
        assertNothingIsLeft();
    }

    @Test
    void aCallFailsWhenItsTimeHasPassedAndNotBefore() {
        CallEnds.Asked first = a.call(10, 100);
        a.call(10, 50);
        ends.settle();
        assertThat(a.own.nanosToDeadline(ends.now)).isEqualTo(50);
        assertThat(ends.pass(49)).isEmpty();
        assertThat(ends.pass(1)).hasSize(1).doesNotContain(first);
        assertThat(a.own.nanosToDeadline(ends.now)).isEqualTo(50);
        assertThat(ends.pass(50)).containsExactly(first);
        assertThat(a.own.nanosToDeadline(ends.now)).isNegative();
        ends.settle();
        assertThat(b.requests).allMatch(each -> each.isInterrupted);
        b.requests.forEach(each -> b.answer(each, 1));
        assertThat(first.told).as("the timer tells it").isEmpty();
        assertNothingIsLeft();
    }

    /// A handler that does not end keeps a place that is not there for it twice: so as many calls again are
    /// possible, and no more.
    @Test
    void callsThatWereGivenUpHaveAsManyPlacesAgain() {
        for (int i = 0; i < 2 * PLACES; i++) {
            assertThat(a.own.hasPlace()).isTrue();
            CallEnds.Asked call = a.call(10, 100);
            ends.settle();
            assertThat(ends.pass(100)).containsExactly(call);
            ends.settle();
        }
        assertThat(a.own.hasPlace()).isFalse();
        assertNobodyIsLost();
        int before = a.timesFreed;
        b.answer(b.requests.getLast(), LONG_BYTES);
        ends.settle();
        assertThat(a.timesFreed).isEqualTo(before + 1);
        assertThat(a.own.hasPlace()).isTrue();
        b.requests.forEach(each -> b.answer(each, LONG_BYTES));
        assertNothingIsLeft();
    }

    /// Any number of calls that time out, short and long, answered before, after or in the middle of that.
    @Test
    void callsThatTimeOutEndNobodyHoweverLateTheirAnswersCome() {
        var random = new SplittableRandom(1);
        for (int i = 0; i < 20_000; i++) {
            switch (random.nextInt(8)) {
                case 0, 1 -> {
                    if (a.own.hasPlace()) {
                        a.call(random.nextBoolean() ? 10 : LONG_BYTES, 1 + random.nextInt(20));
                    }
                }
                case 2 -> ends.pass(random.nextInt(10));
                case 3 -> {
                    if (!b.requests.isEmpty()) {
                        CallEnds.Request one = b.requests.get(random.nextInt(b.requests.size()));
                        if (one.isBegun) {
                            b.answer(one, random.nextBoolean() ? 10 : LONG_BYTES);
                            b.requests.remove(one);
                        }
                    }
                }
                case 4 -> b.hasRoom = random.nextBoolean();
                default -> {
                    CallEnds.End one = random.nextBoolean() ? a : b;
                    switch (random.nextInt(4)) {
                        case 0 -> one.send();
                        case 1 -> one.receive();
                        case 2 -> one.beginRead();
                        default -> one.endRead();
                    }
                }
            }
            b.requests.removeIf(each -> each.isDropped);
            assertNobodyIsLost();
            assertThat(b.theirs.size()).isLessThanOrEqualTo(2 * PLACES);
        }
        b.hasRoom = true;
        ends.pass(20);
        ends.settle();
        b.requests.forEach(each -> b.answer(each, 10));
        assertNothingIsLeft();
        assertThat(a.asked).hasSizeGreaterThan(2000).allMatch(each -> each.isRequestDone);
        assertThat(a.asked).allMatch(each -> each.told.size() <= 1);
    }

    @Test
    void aCallThatHasNotLeftIsTakenBackAndTheOtherEndNeverHearsOfIt() {
        CallEnds.Asked call = a.call(10, 100); // no credits yet
        assertThat(ends.pass(100)).containsExactly(call);
        assertThat(call.isRequestDone).isTrue();
        assertNothingIsLeft();
        assertThat(b.requests).isEmpty();
    }

    @Test
    void aLongRequestThatWaitsForRoomIsNotReadWhenItsCallerHasGivenUp() {
        b.hasRoom = false;
        CallEnds.Asked call = a.call(LONG_BYTES, 100);
        ends.settle();
        assertThat(b.peer.unread()).isEqualTo(1);
        assertThat(call.isRequestDone).isFalse();
        assertThat(ends.pass(100)).containsExactly(call);
        assertNothingIsLeft();
        assertThat(call.isRequestDone).isTrue();
        assertThat(b.requests).allMatch(each -> each.isDropped && !each.isBegun);
    }

    /// What is read may have been changed by then.
    @Test
    void aRequestThatIsBeingReadWhenItsCallerGivesUpDoesNotBegin() {
        CallEnds.Asked call = a.call(LONG_BYTES, 100);
        while (b.reads.isEmpty()) {
            a.send();
            b.receive();
            b.send();
            a.receive();
            b.beginRead();
        }
        assertThat(ends.pass(100)).containsExactly(call);
        while (a.send()) {
            b.receive();
        }
        assertThat(b.requests.getFirst().isCancelled()).isTrue();
        b.endRead();
        assertThat(b.requests.getFirst().isBegun).isFalse();
        assertThat(b.requests.getFirst().isDropped).isTrue();
        assertNothingIsLeft();
    }

    @Test
    void aLimitHoldsWhileTheAnswerIsBeingRead() {
        CallEnds.Asked call = a.call(10, 100);
        ends.settle();
        b.answer(b.requests.getFirst(), LONG_BYTES);
        while (b.send() || a.receive() || a.beginRead()) {
            // until the answer is under way
        }
        assertThat(a.reads).hasSize(1);
        assertThat(ends.pass(100)).containsExactly(call);
        ends.settle();
        assertThat(call.told).isEmpty();
        assertNothingIsLeft();
    }

    /// The memory of a caller who did not ask for a limit is the other end's until it is done.
    @Test
    void aCallWhoseMemoryIsUnderWayCannotBeTakenBack() {
        CallEnds.Asked waits = a.call(LONG_BYTES, 0);
        waits.isBound = true;
        assertThat(a.own.giveUp(waits)).as("it has not left").isTrue();
        CallEnds.Asked call = a.call(LONG_BYTES, 0);
        call.isBound = true;
        ends.settle();
        assertThat(a.own.giveUp(call)).isFalse();
        call.isBound = false; // the request is read
        assertThat(a.own.giveUp(call)).isTrue();
        ends.settle();
        assertThat(b.requests.getFirst().isInterrupted).isTrue();
        b.answer(b.requests.getFirst(), 1);
        assertNothingIsLeft();
    }

    @Test
    void aRequestWithALimitIsACopyWhileItMayBeRead() {
        byte[] memory = new byte[LONG_BYTES];
        var call = new CallEnds.Asked();
        b.hasRoom = false;
        a.own.begin(call, MemorySegment.ofArray(memory), 100, ends.now);
        ends.settle();
        memory[0] = 1;
        assertThat(a.exposed.values().iterator().next().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0))
                .isZero();
    }

    @Test
    void anAnswerWhoseMemoryIsClosedBeforeItLeavesIsAFault() {
        CallEnds.Asked call = a.call(10, 0);
        ends.settle();
        try (Arena arena = Arena.ofShared()) {
            b.theirs.answer(b.requests.getFirst(), Kind.ANSWER, arena.allocate(5));
        }
        ends.settle();
        assertThat(call.told).containsExactly("fault its memory was closed before it was sent");
        assertNothingIsLeft();
    }

    @Test
    void callersAreToldOnceWhenThePeerIsLost() {
        CallEnds.Asked left = a.call(10, 0);
        ends.settle();
        CallEnds.Asked reading = a.call(LONG_BYTES, 0);
        ends.settle();
        b.answer(b.requests.getLast(), LONG_BYTES);
        while (b.send() || a.receive() || a.beginRead()) {
            // until the answer is under way
        }
        CallEnds.Asked waits = a.call(10, 100);
        CallEnds.Asked gone = a.call(10, 100);
        a.own.giveUp(gone);
        a.lose("it is gone");
        for (CallEnds.Asked each : java.util.List.of(left, reading, waits)) {
            assertThat(each.told).containsExactly("failed: it is gone");
        }
        assertThat(gone.told).isEmpty();
        assertThat(a.own.unanswered()).isZero();
        CallEnds.Asked late = a.call(10, 100);
        assertThat(late.told).containsExactly("failed: it is gone");
        assertThat(a.own.nanosToDeadline(ends.now)).isNegative();
    }

    // ---- what breaks the rules

    @Test
    void aCallMoreThanTwiceThePlacesEndsThePeer() {
        var unlike = new CallEnds(PLACES + 1, PLACES);
        for (int i = 0; i < 2 * PLACES; i++) {
            unlike.a.own.giveUp(unlike.a.call(10, 0));
            CallEnds.Asked call = unlike.a.call(10, 0);
            unlike.settle();
            unlike.a.own.giveUp(call);
            unlike.settle();
            assertThat(unlike.b.wrong).isNull();
        }
        unlike.a.call(10, 0);
        unlike.settle();
        assertThat(unlike.b.wrong).isEqualTo("a message that is not taken: CALL");
    }

    @Test
    void anAnswerThatWasNotAskedForEndsThePeer() {
        CallEnds.Asked call = a.call(10, 0);
        ends.settle();
        b.answer(b.requests.getFirst(), 1);
        ends.settle();
        b.peer.send(new Plain(Kind.ANSWER, OwnCalls.tag(1, 0), MemorySegment.NULL));
        ends.settle();
        assertThat(call.told).containsExactly("answer 1");
        assertThat(a.wrong).isEqualTo("a message that is not taken: ANSWER");
    }

    @Test
    void aFaultOfTooMuchTextEndsThePeer() {
        a.call(10, 0);
        ends.settle();
        b.peer.send(new Plain(Kind.FAULT, OwnCalls.tag(1, 0), MemorySegment.ofArray(new byte[1001])));
        ends.settle();
        assertThat(a.wrong).isEqualTo("an offer that is not taken: FAULT");
    }

    @Test
    void aCancelOfACallThatIsAnsweredMeansNothing() {
        CallEnds.Asked call = a.call(10, 0);
        ends.settle();
        b.answer(b.requests.getFirst(), 1);
        b.send(); // the answer is on its way
        assertThat(a.own.giveUp(call)).isTrue();
        assertNothingIsLeft();
        assertThat(b.requests.getFirst().isInterrupted).isFalse();
    }
}
