package verbena.messages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.messages.rail.Threads;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Pending;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Workers on real links of this host. Over each kind of software device.
@Timeout(120)
class WorkerTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private static byte[] pattern(int bytes) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (i * 7 + i / 1000);
        }
        return data;
    }

    private static MemorySegment memory(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void messagesGoToTheReceivesThatTheyMatch(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            MemorySegment into = memory(100);
            Pending<Received> exact = pair.server().postReceive(TagFilter.exactly(5), into);
            pair.toServer().postSend(4, "unexpected").await();
            pair.toServer().postSend(5, "expected").await();
            Received message = exact.await();
            assertThat(message.from()).isSameAs(pair.toClient());
            assertThat(message.tag()).isEqualTo(5);
            assertThat(into.asSlice(0, message.length()).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo("expected".getBytes(UTF_8));
            MemorySegment few = memory(3);
            Received any = pair.toClient().postReceive(TagFilter.any(), few).await();
            assertThat(any.tag()).isEqualTo(4);
            assertThat(any.length()).isEqualTo(10);
            assertThat(any.isTruncated()).isTrue();
            assertThat(few.toArray(ValueLayout.JAVA_BYTE)).isEqualTo("une".getBytes(UTF_8));
            pair.toClient().postSend(9, new byte[0]).await(); // the other way, and nothing in it
            assertThat(pair.client()
                            .postReceive(TagFilter.masked(8, 8), memory(1))
                            .await()
                            .length())
                    .isZero();
        }
    }

    /// A worker has receives for the peers that are there. The slots of 36 frames would not do for 40 peers, one
    /// after another, if one of them kept its own.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void receivesComeBackWhenPeersGo(String device) throws Exception {
        WorkerOptions few =
                WorkerOptions.defaults().withMaxPeers(2).withWindow(2).withFrameBytes(64);
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(a, few);
                Worker client = Worker.open(b, few);
                var listener = server.listen(TwoWorkers.at(a))) {
            for (int peer = 0; peer < 40; peer++) {
                var accepted = TwoWorkers.accept(listener);
                try (RemoteWorker there = client.connect(listener.localAddress());
                        RemoteWorker here = accepted.get(60, TimeUnit.SECONDS)) {
                    for (int i = 0; i < 5; i++) {
                        Pending<Void> _ = there.postSend(i, "message " + i);
                    }
                    for (int i = 0; i < 5; i++) {
                        Pending<Received> next = here.postReceive(TagFilter.exactly(i), memory(20));
                        assertThat(next.await(LONG)).isTrue();
                    }
                }
            }
        }
    }

    /// Arrays are copied; native memory is read where it lies, and put where it is wanted.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void longMessagesAreReadByTheirReceiver(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Arena arena = Arena.ofShared()) {
            byte[] data = pattern(3_000_000);
            MemorySegment source = arena.allocate(data.length);
            source.copyFrom(MemorySegment.ofArray(data));
            MemorySegment target = arena.allocate(data.length);
            Pending<Void> sent = pair.toServer().postSend(1, source);
            assertThat(sent.await(Duration.ofMillis(20))).isFalse(); // no receive takes it yet
            Received message =
                    pair.server().postReceive(TagFilter.exactly(1), target).await();
            assertThat(message.length()).isEqualTo(data.length);
            sent.await();
            assertThat(target.mismatch(source)).isEqualTo(-1);

            byte[] copy = new byte[1000];
            Pending<Received> truncated = pair.server().postReceive(TagFilter.exactly(2), MemorySegment.ofArray(copy));
            pair.toServer().postSend(2, data).await();
            assertThat(truncated.await().isTruncated()).isTrue();
            assertThat(copy).isEqualTo(Arrays.copyOf(data, 1000));
            try (Arena own = Arena.ofConfined()) { // of this thread alone
                MemorySegment confined = own.allocate(5000);
                Pending<Void> third = pair.toServer().postSend(3, confined);
                assertThat(pair.server()
                                .postReceive(TagFilter.exactly(3), memory(5000))
                                .await()
                                .length())
                        .isEqualTo(5000);
                third.await();
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.server().postReceive(TagFilter.masked(1, 1), confined));
            }
        }
    }

    /// Memory that lasts is known at both ends after its first message; what is in it is another each time.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void memoryThatIsUsedAgainHasItsNewBytes(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            MemorySegment source = Arena.ofAuto().allocate(100_000);
            MemorySegment target = Arena.ofAuto().allocate(100_000);
            for (int i = 0; i < 50; i++) {
                long length = 100_000 - i * 800L;
                MemorySegment part = source.asSlice(i * 100L, length);
                part.fill((byte) i);
                Pending<Received> message = pair.server().postReceive(TagFilter.exactly(i), target);
                pair.toServer().postSend(i, part).await();
                assertThat(message.await().length()).isEqualTo(length);
                assertThat(target.asSlice(0, length).mismatch(part)).isEqualTo(-1);
            }
            if (device.equals("shm")) {
                assertThat(pair.a().counters().get("direct.requests"))
                        .as("READs without a packet")
                        .isGreaterThan(0);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void memoryOfTheWorkerIsForMessages(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            MemorySegment source = pair.client().allocate(200_000);
            MemorySegment target = pair.server().allocate(200_000);
            assertThat(source.byteSize()).isEqualTo(200_000);
            for (int i = 1; i <= 20; i++) {
                source.fill((byte) i);
                Pending<Received> message = pair.server().postReceive(TagFilter.exactly(i), target);
                pair.toServer().postSend(i, source).await();
                assertThat(message.await().length()).isEqualTo(200_000);
                assertThat(target.mismatch(source)).isEqualTo(-1);
            }
            if (device.equals("shm")) {
                long direct = pair.a().counters().get("direct.requests");
                long bySystem = pair.a().counters().get("direct.system.requests");
                assertThat(direct - bySystem).as("READs of mapped memory").isGreaterThan(0);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> pair.client().allocate(0));
        }
    }

    /// Many more than there are frames, each way at once; no end receives until all were sent.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void bothEndsSendBeforeEitherReceives(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var sent = new ArrayList<Pending<Void>>();
            for (int i = 0; i < 3000; i++) { // over 1 MiB each way: they begin to offer
                byte[] data = pattern(600 + i % 1000);
                sent.add(pair.toServer().postSend(i, data));
                sent.add(pair.toClient().postSend(i, data));
            }
            for (Worker worker : List.of(pair.server(), pair.client())) {
                for (int i = 0; i < 3000; i++) {
                    byte[] into = new byte[2000];
                    Received message = worker.postReceive(TagFilter.any(), MemorySegment.ofArray(into))
                            .await();
                    assertThat(message.tag()).isEqualTo(i);
                    assertThat(Arrays.copyOf(into, (int) message.length())).isEqualTo(pattern(600 + i % 1000));
                }
            }
            for (Pending<Void> each : sent) {
                each.await();
            }
            for (Context each : List.of(pair.a(), pair.b())) {
                assertThat(each.counters().getOrDefault("sent.nak.rnr", 0L)).isZero();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void aReceiveCanBeTakenBack(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            MemorySegment into = memory(10);
            Pending<Received> first = pair.server().postReceive(TagFilter.exactly(1), into);
            Pending<Received> second = pair.server().postReceive(TagFilter.exactly(1), into);
            assertThat(first.cancel()).isTrue();
            assertThat(first.cancel()).isFalse();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(first::await);
            pair.toServer().postSend(1, "x").await();
            assertThat(second.await().length()).isEqualTo(1);
            assertThat(second.cancel()).isFalse();
            assertThat(second.toFuture().get(60, TimeUnit.SECONDS).tag()).isEqualTo(1);
        }
    }

    /// What a caller has done wrong is told at once. A receive whose memory was closed meanwhile fails. Its
    /// message, short or long, is for the next one.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void memoryThatCannotBeUsedTakesNoMessage(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            MemorySegment closed;
            try (Arena arena = Arena.ofShared()) {
                closed = arena.allocate(100);
                for (int bytes : new int[] {10, 5000}) {
                    Pending<Received> early =
                            pair.server().postReceive(TagFilter.exactly(bytes), arena.allocate(bytes));
                    assertThat(early.isDone()).isFalse();
                }
            }
            MemorySegment readOnly = memory(100).asReadOnly();
            for (MemorySegment bad : List.of(closed, readOnly)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.server().postReceive(TagFilter.any(), bad))
                        .withMessageContaining("into");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> pair.toServer().postCall(memory(1), bad, LONG))
                        .withMessageContaining("into");
            }
            assertThatIllegalStateException().isThrownBy(() -> pair.toServer().postSend(1, closed));
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.toServer().postActive(1, MemorySegment.NULL, closed));
            assertThatIllegalStateException()
                    .isThrownBy(() -> pair.toServer().tryPostActive(1, MemorySegment.NULL, closed));
            assertThatIllegalStateException().isThrownBy(() -> pair.toServer().postCall(closed, LONG));
            for (int bytes : new int[] {10, 5000}) {
                byte[] into = new byte[bytes];
                Pending<Received> next =
                        pair.server().postReceive(TagFilter.exactly(bytes), MemorySegment.ofArray(into));
                pair.toServer().postSend(bytes, pattern(bytes)).await();
                next.await();
                assertThat(into).isEqualTo(pattern(bytes));
            }
            pair.server().answerCalls(Call::request);
            assertThat(pair.toServer().call("still", LONG)).isEqualTo("still"); // no place was lost
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void aLostPeerFailsWhatIsUnderWayWithIt(String device) throws Exception {
        try (var pair = TwoWorkers.of(device);
                Context third = Device.named(device).open();
                Worker other = Worker.open(third, TwoWorkers.SMALL);
                var listener = pair.server().listen(TwoWorkers.at(pair.a()))) {
            var accepted = TwoWorkers.accept(listener);
            RemoteWorker fromOther = other.connect(listener.localAddress());
            RemoteWorker toOther = accepted.get(60, TimeUnit.SECONDS);
            Pending<Received> ofLost = pair.toClient().postReceive(TagFilter.exactly(1), memory(10));
            Pending<Received> ofAny = pair.server().postReceive(TagFilter.exactly(1), memory(10));
            Pending<Void> offered = pair.toClient().postSend(2, new byte[100_000]);
            Pending<byte[]> call = pair.toClient().postCall(memory(10)); // fails: no handler
            var lost = pair.toClient().whenLost().toFuture();
            pair.toServer().postSend(7, "last words").await();
            assertThat(lost).isNotDone();
            var closed = pair.toServer().closeLater().toFuture();
            assertThat(lost.get(60, TimeUnit.SECONDS).reason()).isEqualTo(ConnectionException.Reason.DISCONNECTED);
            closed.get(60, TimeUnit.SECONDS);
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(ofLost::await);
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(offered::await);
            assertThatExceptionOfType(RuntimeException.class).isThrownBy(call::await);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> pair.toClient().postSend(1, "late").await());
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> pair.toClient().call("late", LONG));
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> pair.toClient()
                            .postReceive(TagFilter.exactly(1), memory(1))
                            .await());
            assertThat(pair.toClient().isLost()).isTrue();
            assertThat(pair.server()
                            .postReceive(TagFilter.exactly(7), memory(100))
                            .await()
                            .length())
                    .isEqualTo(10); // it has arrived before the end
            assertThat(ofAny.isDone()).isFalse();
            fromOther.postSend(1, "others go on").await();
            assertThat(ofAny.await().from()).isSameAs(toOther);
        }
    }

    /// A handler keeps the reader until the end of the connection is known. What came before is still to be read
    /// then.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void lastWordsArriveBeforeTheEnd(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var isHandling = new CountDownLatch(1);
            pair.server().onActive(1, _ -> {
                isHandling.countDown();
                Threads.join(pair.toClient().remote.ways().way(0).watcher);
            });
            pair.toServer().postActive(1, memory(0), memory(0)).await();
            isHandling.await();
            pair.toServer().postSend(7, "last words").await();
            pair.toServer().close();
            Pending<Received> last = pair.server().postReceive(TagFilter.exactly(7), memory(100));
            assertThat(last.await(LONG)).isTrue();
            assertThat(pair.toClient()
                            .postReceive(TagFilter.exactly(8), memory(1))
                            .toFuture())
                    .failsWithin(LONG)
                    .withThrowableThat()
                    .withMessageContaining("the peer has left");
        }
    }

    // ---- calls

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void callsAreAnswered(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            pair.server().answerCalls(call -> {
                assertThat(call.from()).isSameAs(pair.toClient());
                byte[] request = call.bytes();
                if (request.length == 4) {
                    throw new IllegalArgumentException("four bytes");
                }
                return MemorySegment.ofArray(request);
            });
            assertThat(pair.toServer().call("hello", LONG)).isEqualTo("hello");
            byte[] large = pattern(200_000);
            assertThat(pair.toServer().call(large, LONG)).isEqualTo(large);
            byte[] into = new byte[200_010];
            assertThat(pair.toServer()
                            .postCall(MemorySegment.ofArray(large), MemorySegment.ofArray(into))
                            .await())
                    .isEqualTo(200_000);
            assertThat(Arrays.copyOf(into, large.length)).isEqualTo(large);
            assertThatExceptionOfType(CallException.class)
                    .isThrownBy(() -> pair.toServer().call("four", LONG))
                    .matches(e -> e.reason() == CallException.Reason.FAILED)
                    .withMessageContaining("four bytes");
            assertThatExceptionOfType(CallException.class)
                    .isThrownBy(() -> pair.toServer().call(new byte[(1 << 20) + 1], LONG))
                    .withMessageContaining("1048577 bytes");
            assertThatExceptionOfType(CallException.class)
                    .isThrownBy(() -> pair.toClient().call("back", LONG))
                    .withMessageContaining("no handler");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void manyThreadsCallAtOnce(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var atOnce = new AtomicInteger();
            var most = new AtomicInteger();
            pair.server().answerCalls(call -> {
                most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                try {
                    return call.request();
                } finally {
                    atOnce.decrementAndGet();
                }
            });
            var outcomes = new ArrayList<CompletableFuture<Void>>();
            for (int i = 0; i < 200; i++) {
                int number = i;
                outcomes.add(CompletableFuture.runAsync(
                        () -> {
                            for (int k = 0; k < 5; k++) {
                                String text = number + "." + k;
                                try {
                                    assertThat(pair.toServer().call(text, LONG)).isEqualTo(text);
                                } catch (InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                            }
                        },
                        Thread::startVirtualThread));
            }
            for (var each : outcomes) {
                each.get(60, TimeUnit.SECONDS);
            }
            assertThat(most.get()).isLessThanOrEqualTo(16);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void aCallThatTakesTooLongIsGivenUpAndItsHandlerIsTold(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var begun = new Semaphore(0);
            var interrupted = new Semaphore(0);
            pair.server().answerCalls(call -> {
                begun.release();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.release();
                }
                return call.request();
            });
            do { // a call may be given up before it has begun
                assertThatExceptionOfType(CallException.class)
                        .isThrownBy(() -> pair.toServer().call("slow", Duration.ofMillis(50)))
                        .matches(e -> e.reason() == CallException.Reason.TIMEOUT);
            } while (begun.drainPermits() == 0);
            assertThat(interrupted.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            Pending<byte[]> call = pair.toServer().postCall(memory(1));
            assertThat(begun.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            assertThat(call.cancel()).isTrue();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(call::await);
            assertThat(interrupted.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            pair.server().answerCalls(Call::request);
            assertThat(pair.toServer().call("again", LONG)).isEqualTo("again");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void callsAreAnsweredAtOnceByTheThreadThatReads(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            var answering = new HashSet<Thread>(); // handlers run one at a time
            pair.server().answerCallsAtOnce(call -> {
                answering.add(Thread.currentThread());
                if (call.request().byteSize() == 4) {
                    call.from().call("a handler must not wait", LONG);
                }
                return call.request();
            });
            for (int i = 0; i < 100; i++) {
                assertThat(pair.toServer().call("hello " + i, LONG)).isEqualTo("hello " + i);
            }
            assertThat(answering).hasSize(1).allMatch(thread -> !thread.isVirtual());
            byte[] large = pattern(200_000);
            assertThat(pair.toServer().call(large, LONG)).isEqualTo(large);
            assertThatExceptionOfType(CallException.class)
                    .isThrownBy(() -> pair.toServer().call("four", LONG))
                    .matches(e -> e.reason() == CallException.Reason.FAILED)
                    .withMessageContaining("must not wait");
        }
    }

    @Test
    void aShortLimitDoesNotWaitForALongerOne() throws Exception {
        try (var pair = TwoWorkers.of("shm")) {
            var never = new CountDownLatch(1);
            pair.server().answerCalls(call -> {
                never.await();
                return call.request();
            });
            Pending<byte[]> patient = pair.toServer().postCall(memory(1), LONG);
            Pending<byte[]> second = pair.toServer().postCall(memory(1), Duration.ofMillis(150));
            for (int millis : new int[] {100, 50}) {
                assertThatExceptionOfType(CallException.class)
                        .isThrownBy(() -> pair.toServer().call(new byte[1], Duration.ofMillis(millis)))
                        .matches(e -> e.reason() == CallException.Reason.TIMEOUT)
                        .withMessageContaining("within " + millis + " ms");
            }
            assertThatExceptionOfType(CallException.class).isThrownBy(second::await);
            assertThat(patient.isDone()).isFalse();
            assertThat(patient.cancel()).isTrue();
        }
    }

    // ---- limits, and ends

    /// One end sends to another that receives nothing, and asks with long requests that are answered late.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void aWorkerKeepsNoMoreThanItsBudget(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(a, TwoWorkers.SMALL.withBudgetBytes(1 << 20));
                Worker client = Worker.open(b, TwoWorkers.SMALL);
                var listener = server.listen(TwoWorkers.at(a))) {
            var accepted = TwoWorkers.accept(listener);
            RemoteWorker toServer = client.connect(listener.localAddress());
            RemoteWorker toClient = accepted.get(60, TimeUnit.SECONDS);
            var mayAnswer = new CountDownLatch(1);
            var begun = new CountDownLatch(2);
            server.answerCalls(call -> {
                begun.countDown();
                mayAnswer.await();
                return MemorySegment.ofArray(new byte[] {call.request().get(ValueLayout.JAVA_BYTE, 99_999)});
            });
            var sent = new ArrayList<Pending<Void>>();
            for (int i = 0; i < 3000; i++) {
                sent.add(toServer.postSend(i, pattern(500)));
            }
            var calls = new ArrayList<Pending<byte[]>>();
            for (int i = 0; i < 5; i++) { // two find room
                calls.add(toServer.postCall(MemorySegment.ofArray(pattern(100_000))));
            }
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue(); // behind all messages that may leave
            assertThat(server.counters().get("requests.bytes")).isEqualTo(200_000);
            assertThat(client.counters().get("offers.held")).isBetween(1L, 2900L);
            assertThat(server.counters().get("unexpected.crowded")).isEqualTo(1);
            long share = (1L << 20) / 2 / 4;
            assertThat(server.counters().get("unexpected.bytes")).isBetween(share / 2, share);
            assertThat(server.counters().get("unexpected.messages")).isLessThan(2000);
            mayAnswer.countDown();
            for (Pending<byte[]> each : calls) {
                assertThat(each.await()).containsExactly(pattern(100_000)[99_999]);
            }
            for (int i = 0; i < 3000; i++) {
                assertThat(toClient.postReceive(TagFilter.any(), memory(500))
                                .await()
                                .tag())
                        .isEqualTo(i);
            }
            for (Pending<Void> each : sent) {
                each.await();
            }
            assertThat(server.counters()).containsEntry("unexpected.bytes", 0L);
            TwoWorkers.awaitNone(server, "requests.bytes");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void aWorkerHasAsManyPeersAsItWasMadeFor(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(a, TwoWorkers.SMALL);
                Worker client = Worker.open(
                        b, TwoWorkers.SMALL.withMaxPeers(2).withWindow(4).withFrameBytes(1024));
                var listener = server.listen(TwoWorkers.at(a))) {
            for (int round = 0; round < 3; round++) { // what was closed makes room
                var remotes = new ArrayList<RemoteWorker>();
                for (int i = 0; i < 2; i++) {
                    var accepted = TwoWorkers.accept(listener);
                    remotes.add(client.connect(listener.localAddress()));
                    RemoteWorker theirs = accepted.get(60, TimeUnit.SECONDS);
                    remotes.get(i).postSend(i, "from " + i).await();
                    assertThat(server.postReceive(TagFilter.exactly(i), memory(10))
                                    .await()
                                    .from())
                            .isSameAs(theirs);
                }
                assertThatExceptionOfType(InvalidStateException.class)
                        .isThrownBy(() -> client.connect(listener.localAddress()))
                        .withMessageContaining("2 peers");
                for (RemoteWorker each : remotes) {
                    each.close();
                    assertThat(each.isLost()).isTrue();
                    assertThatExceptionOfType(ConnectionException.class)
                            .isThrownBy(() -> each.postSend(0, "late").await());
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void aPeerTooManyIsSentAway(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(
                        a, TwoWorkers.SMALL.withMaxPeers(1).withWindow(4).withFrameBytes(1024));
                Worker client = Worker.open(b, TwoWorkers.SMALL);
                var listener = server.listen(TwoWorkers.at(a))) {
            var first = TwoWorkers.accept(listener);
            RemoteWorker kept = client.connect(listener.localAddress());
            RemoteWorker theirs = first.get(60, TimeUnit.SECONDS);
            var second = TwoWorkers.accept(listener);
            assertThatExceptionOfType(ConnectionException.class) // while it connects, or when it waits
                    .isThrownBy(() -> client.connect(listener.localAddress())
                            .postReceive(TagFilter.any(), memory(1))
                            .await());
            kept.postSend(1, "x").await();
            assertThat(theirs.postReceive(TagFilter.exactly(1), memory(1))
                            .await()
                            .length())
                    .isEqualTo(1);
            theirs.close(); // makes room
            client.connect(listener.localAddress()).postSend(2, "y").await();
            assertThat(server.postReceive(TagFilter.exactly(2), memory(1))
                            .await()
                            .from())
                    .isSameAs(second.get(60, TimeUnit.SECONDS));
        }
    }

    @Test
    void aThousandPeersNeedNoMoreThanSixtyFourMebibytes() {
        WorkerOptions options =
                WorkerOptions.defaults().withMaxPeers(1000).withWindow(4).withFrameBytes(4096);
        for (String device : List.of("rocev2", "shm")) {
            try (Context context = Device.named(device).open();
                    Worker worker = Worker.open(context, options)) {
                assertThat(worker.toString()).contains(device);
            }
        }
        assertThat(2L * options.maxPeers() * options.window() * options.frameBytes())
                .isLessThan(64 << 20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm", "rocev2,weak=standard,seed=7"})
    void closingAWorkerEndsEveryWait(String device) throws Exception {
        try (var pair = TwoWorkers.of(device)) {
            Pending<Received> waiting = pair.client().postReceive(TagFilter.any(), memory(1));
            pair.client().close();
            pair.client().close();
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(waiting::await);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> pair.client()
                            .postReceive(TagFilter.masked(0, 0), memory(1))
                            .await());
        }
    }

    @Test
    void filtersOfTheSameTagsAreEqual() {
        assertThat(TagFilter.masked(0xFF, 8)).isEqualTo(TagFilter.masked(8, 8)).isNotEqualTo(TagFilter.exactly(8));
        assertThat(TagFilter.masked(5, 0)).isEqualTo(TagFilter.any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aWorkerClosesItsListeners(String device) throws Exception {
        try (Context a = Device.named(device).open()) {
            Worker worker = Worker.open(a, TwoWorkers.SMALL);
            var accepted = TwoWorkers.accept(worker.listen(TwoWorkers.at(a)));
            worker.close();
            assertThat(accepted)
                    .failsWithin(Duration.ofSeconds(60))
                    .withThrowableThat()
                    .withCauseInstanceOf(ConnectionException.class);
            assertThatExceptionOfType(InvalidStateException.class)
                    .isThrownBy(() -> worker.listen(0))
                    .withMessage("listen: the worker is closed");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void whatIsNoWorkerIsSentAway(String device) throws Exception {
        try (Context a = Device.named(device).open();
                Context b = Device.named(device).open();
                Worker server = Worker.open(a, TwoWorkers.SMALL);
                Worker client = Worker.open(b, TwoWorkers.SMALL)) {
            try (var listener = server.listen(TwoWorkers.at(a))) {
                var accepted = TwoWorkers.accept(listener);
                try (var stranger = Connection.connect(
                        listener.localAddress(), ConnectionOptions.defaults().withDevice(b))) {
                    assertThatExceptionOfType(ConnectionException.class).isThrownBy(() -> stranger.receive(1));
                }
                client.connect(listener.localAddress()).close();
                assertThat(accepted.get(60, TimeUnit.SECONDS)).isNotNull();
            }
            try (var listener = ConnectionListener.bind(
                    TwoWorkers.at(a), ConnectionOptions.defaults().withDevice(a))) {
                Thread.startVirtualThread(() -> {
                    try {
                        listener.accept().close();
                    } catch (InterruptedException | ConnectionException e) {
                        // the client has left already, and the listener is closed
                    }
                });
                assertThatExceptionOfType(ConnectionException.class)
                        .isThrownBy(() -> client.connect(listener.localAddress()))
                        .withMessageContaining("no worker");
            }
        }
    }
}
