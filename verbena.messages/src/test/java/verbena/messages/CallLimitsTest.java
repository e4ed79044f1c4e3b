package verbena.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Pending;

/// A call's time limit, in each place where a call can wait. Nothing here answers before the limit has passed; a
/// limit that does not hold makes a test wait for ever.
@Timeout(120)
class CallLimitsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(20);

    private static MemorySegment memory(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    private interface Asks {
        void run() throws Exception;
    }

    private static void assertTimesOut(Asks call, String why) {
        assertThatExceptionOfType(CallException.class)
                .isThrownBy(call::run)
                .matches(e -> e.reason() == CallException.Reason.TIMEOUT)
                .withMessageContaining(why);
    }

    /// A handler that waits for the word, whatever its caller does.
    private static CallHandler after(CountDownLatch word) {
        return call -> {
            boolean isGiven = false;
            while (!isGiven) {
                try {
                    word.await();
                    isGiven = true;
                } catch (InterruptedException e) {
                    // the caller has given up
                }
            }
            return call.request();
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void anyNumberOfCallsTimesOutAndThePeerStays(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var word = new CountDownLatch(1);
            pair.server().answerCalls(after(word));
            for (int i = 0; i < 40; i++) { // of eight at once
                assertTimesOut(() -> pair.toServer().call(new byte[1], Duration.ofMillis(2)), "within");
            }
            assertThat(pair.toServer().isLost()).isFalse();
            Pending<Received> message = pair.server().postReceive(TagFilter.exactly(1), memory(1));
            pair.toServer().postSend(1, "x").await();
            message.await();
            word.countDown(); // all answers come late
            for (int i = 0; i < 40; i++) {
                assertThat(pair.toServer().call("again", LONG)).isEqualTo("again");
            }
            assertThat(pair.toServer().calls.unanswered()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aLimitHoldsWhileACallWaitsForAPlace(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var word = new CountDownLatch(1);
            pair.server().answerCalls(after(word));
            var calls = new ArrayList<Pending<byte[]>>();
            for (int i = 0; i < 8; i++) {
                calls.add(pair.toServer().postCall(memory(1)));
            }
            assertTimesOut(() -> pair.toServer().call("one more", SHORT), "no place");
            var waiting = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return pair.toServer().call("patient", Duration.ofSeconds(Long.MAX_VALUE));
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    Thread::startVirtualThread);
            assertThat(calls.getFirst().cancel()).isTrue(); // and its place is another's
            word.countDown();
            assertThat(waiting.get(60, TimeUnit.SECONDS)).isEqualTo("patient");
            for (var each : calls.subList(1, 8)) {
                assertThat(each.await(Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
            }
        }
    }

    @Test
    void aThreadThatWaitsForAPlaceIsToldWhenThePeerIsLostAndWhenItIsInterrupted() throws Exception {
        try (var pair = TwoWorkers.of("shm")) {
            var word = new CountDownLatch(1);
            pair.server().answerCalls(after(word));
            for (int i = 0; i < 8; i++) {
                pair.toServer().postCall(memory(1));
            }
            var interrupted = new CompletableFuture<Throwable>();
            Thread waits = Thread.startVirtualThread(() -> {
                try {
                    pair.toServer().call("x", LONG);
                } catch (InterruptedException | RuntimeException e) {
                    interrupted.complete(e);
                }
            });
            waits.interrupt();
            assertThat(interrupted.get(60, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
            var lost = new CompletableFuture<Throwable>();
            Thread.startVirtualThread(() -> {
                try {
                    pair.toServer().call("x", LONG);
                } catch (InterruptedException | RuntimeException e) {
                    lost.complete(e);
                }
            });
            pair.toServer().close();
            assertThat(lost.get(60, TimeUnit.SECONDS)).isInstanceOf(ConnectionException.class);
            word.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aCallBeyondThePlacesWaitsForItsTurnAndItsThreadDoesNot(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var word = new CountDownLatch(1);
            pair.server().answerCalls(after(word));
            var calls = new ArrayList<Pending<byte[]>>();
            for (int i = 0; i < 30; i++) {
                calls.add(pair.toServer().postCall(memory(i)));
            }
            assertThat(calls).noneMatch(Pending::isDone);
            assertThat(pair.toServer().calls.unanswered()).isEqualTo(8);
            assertThat(calls.get(20).cancel()).isTrue();
            assertThat(calls.get(0).cancel()).isTrue();
            word.countDown();
            for (int i = 1; i < 30; i++) {
                if (i != 20) {
                    assertThat(calls.get(i).await()).hasSize(i);
                }
            }
        }
    }

    /// The peer's worker has fewer places than this one, which keeps to that.
    @Test
    void theLesserNumberOfPlacesCounts() throws Exception {
        try (Context a = Device.named("shm").open();
                Context b = Device.named("shm").open();
                Worker server = Worker.open(a, TwoWorkers.SMALL.withMaxCalls(2).withMaxCallBytes(1000));
                Worker client =
                        Worker.open(b, TwoWorkers.SMALL.withMaxCalls(100).withMaxCallBytes(1000));
                var listener = server.listen(TwoWorkers.at(a))) {
            var atOnce = new AtomicInteger();
            var most = new AtomicInteger();
            server.answerCalls(call -> {
                most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                atOnce.decrementAndGet();
                return call.request();
            });
            var accepted = TwoWorkers.accept(listener);
            RemoteWorker toServer = client.connect(listener.localAddress());
            assertThat(accepted.get(60, TimeUnit.SECONDS).isLost()).isFalse();
            var calls = new ArrayList<Pending<byte[]>>();
            for (int i = 0; i < 100; i++) {
                calls.add(toServer.postCall(memory(1), LONG));
            }
            for (var each : calls) {
                each.await();
            }
            assertThat(most.get()).isLessThanOrEqualTo(2);
        }
    }

    /// The peer reads no request, because its budget is used up. What the program does with its memory afterwards
    /// is not read by the peer.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aLimitHoldsWhileALongRequestWaitsForTheBudgetOfThePeer(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(a, TwoWorkers.SMALL.withBudgetBytes(1 << 20));
                Worker client = Worker.open(b, TwoWorkers.SMALL);
                var listener = server.listen(TwoWorkers.at(a))) {
            var word = new CountDownLatch(1);
            var requests = new ArrayList<Byte>();
            CallHandler waits = after(word);
            server.answerCalls(call -> {
                requests.add(call.request().get(ValueLayout.JAVA_BYTE, 0));
                return waits.handle(call).asSlice(0, 1);
            });
            var accepted = TwoWorkers.accept(listener);
            RemoteWorker toServer = client.connect(listener.localAddress());
            assertThat(accepted.get(60, TimeUnit.SECONDS).isLost()).isFalse();
            Pending<byte[]> first = toServer.postCall(memory(1 << 20));
            try (Arena arena = Arena.ofShared()) {
                MemorySegment request = arena.allocate(1 << 20);
                assertTimesOut(() -> toServer.postCall(request, SHORT).await(), "no answer");
                request.fill((byte) 1);
            }
            word.countDown();
            assertThat(first.await()).hasSize(1);
            assertThat(toServer.call(new byte[1 << 20], LONG)).hasSize(1);
            assertThat(requests).containsExactly((byte) 0, (byte) 0);
            TwoWorkers.awaitNone(server, "requests.bytes");
        }
    }

    /// The peer's device is stopped: no credits, no answers, nothing is read.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aLimitHoldsWhileThePeerGivesNoCredits(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var word = new CountDownLatch(1);
            pair.server().onActive(1, _ -> {
                boolean isGiven = false;
                while (!isGiven) { // holds up the thread that reads
                    try {
                        word.await();
                        isGiven = true;
                    } catch (InterruptedException e) {
                        // not by this test
                    }
                }
            });
            pair.server().answerCalls(Call::request);
            for (int i = 0; i < 100; i++) {
                pair.toServer().postActive(1, MemorySegment.NULL, memory(1));
            }
            for (int i = 0; i < 40; i++) {
                assertTimesOut(() -> pair.toServer().call(new byte[1], Duration.ofMillis(2)), "no answer");
            }
            assertTimesOut(() -> pair.toServer().call(new byte[100_000], SHORT), "no answer");
            assertThat(pair.toServer().calls.unanswered()).as("none has left").isZero();
            word.countDown();
            assertThat(pair.toServer().call("again", LONG)).isEqualTo("again");
        }
    }

    /// Each way takes 40 ms, so the answer is offered after 80 and read after 160. The memory is the program's when
    /// the call has failed.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2,faults=delay:40ms", "shm,faults=delay:40ms"})
    void aLimitHoldsWhileALongAnswerIsBeingRead(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared()) {
            pair.server().answerCalls(Call::request);
            assertThat(pair.toServer().call("first", LONG)).isEqualTo("first");
            pair.server().answerCalls(call -> Arena.ofAuto().allocate(100_000));
            MemorySegment ours = arena.allocate(100_000);
            for (MemorySegment into : List.of(ours, memory(100_000))) {
                assertTimesOut(
                        () -> pair.toServer()
                                .postCall(memory(1), into, Duration.ofMillis(120))
                                .await(),
                        "no answer");
                into.fill((byte) 7);
                pair.toServer().call("behind it", LONG);
                assertThat(into.toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
            }
            assertThat(pair.toServer().isLost()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void longAnswersComeIntoTheMemoryOfTheProgramWithALimitAndWithout(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared()) {
            pair.server().answerCalls(Call::request);
            MemorySegment request = arena.allocate(100_000);
            for (boolean isLimited : new boolean[] {true, false}) {
                for (MemorySegment into : List.of(arena.allocate(100_100), memory(100_100), arena.allocate(50_000))) {
                    request.fill((byte) (isLimited ? 1 : 2));
                    long bytes = Math.min(into.byteSize(), request.byteSize());
                    Pending<Long> call = isLimited
                            ? pair.toServer().postCall(request, into, LONG)
                            : pair.toServer().postCall(request, into);
                    assertThat(call.await()).isEqualTo(100_000);
                    assertThat(into.asSlice(0, bytes).mismatch(request.asSlice(0, bytes)))
                            .isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void aCallAfterTheEndFailsWhateverItsLimitIs() throws Exception {
        try (var pair = TwoWorkers.of("shm")) {
            pair.client().close();
            for (Duration limit : List.of(SHORT, LONG, Duration.ofSeconds(Long.MAX_VALUE))) {
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> pair.toServer().call("x", limit));
            }
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> pair.toServer().postCall(memory(1)).await());
            for (Duration none : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
                assertThatExceptionOfType(IllegalArgumentException.class)
                        .isThrownBy(() -> pair.toServer().call("x", none))
                        .withMessageStartingWith("timeLimit: more than zero, got ");
            }
        }
    }
}
