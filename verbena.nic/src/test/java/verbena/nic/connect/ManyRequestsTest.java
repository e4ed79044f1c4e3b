package verbena.nic.connect;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Waiter;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ReceivedMessage;

/// Many requests of one connection under way, and what the threads that wait for them are told. Over each kind
/// of software device.
@Timeout(120)
class ManyRequestsTest {
    private static final int CROWD = 2000;
    private static final Duration LONG = Duration.ofSeconds(60);

    /// Work that may throw.
    private interface Work {
        void run() throws Exception;
    }

    /// Runs it on a virtual thread; the future has what it throws.
    private static CompletableFuture<Throwable> told(Work work) {
        var outcome = new CompletableFuture<Throwable>();
        Thread.startVirtualThread(() -> {
            try {
                work.run();
                outcome.complete(new AssertionError("nothing was thrown"));
            } catch (Throwable e) {
                outcome.complete(e);
            }
        });
        return outcome;
    }

    private static ConnectionException exception(CompletableFuture<Throwable> told) throws Exception {
        Throwable e = told.get(60, TimeUnit.SECONDS);
        assertThat(e).isInstanceOf(ConnectionException.class);
        return (ConnectionException) e;
    }

    private static Thread waiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(thread.isAlive()).isTrue();
            Thread.onSpinWait();
        }
        return thread;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aThousandWritesAreUnderWay(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion target = ends.server().allocate(8000, Access.remoteAll());
            MemoryRegion source = ends.client().allocate(8000);
            RemoteMemory remote = target.remote();
            var requests = new ArrayList<Pending<?>>();
            for (int i = 0; i < 1000; i++) { // more than the queue pair holds: the call waits for room
                source.segment().set(JAVA_LONG, i * 8L, i + 1L);
                requests.add(ends.client().postWrite(source.slice(i * 8L, 8), remote.slice(i * 8L)));
            }
            for (Pending<?> each : requests) {
                each.await();
                assertThat(each.isDone()).isTrue();
            }
            byte[] back = ends.client().read(remote.slice(0, 8000)); // over TCP only this shows that they have arrived
            assertThat(back).isEqualTo(source.segment().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
            assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aWaitOfNoTimeLooks(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion target = ends.server().allocate(8, Access.remoteAll());
            Pending<?> read = ends.client()
                    .postRead(
                            target.remote().slice(0, 8),
                            ends.client().allocate(8).slice(0, 8));
            while (!read.await(Duration.ZERO)) { // nobody else reads completions
                Thread.onSpinWait();
            }
            assertThat(read.isDone()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void receivesThatArePostedAheadFillInOrder(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion in = ends.server().allocate(800, Access.remoteAll());
            var receives = new ArrayList<Pending<ReceivedMessage>>();
            for (int i = 0; i < 8; i++) {
                receives.add(ends.server().postReceive(in.slice(i * 100L, 100)));
            }
            assertThat(receives.getFirst().isDone()).isFalse();
            assertThat(receives.getFirst().await(Duration.ofMillis(5))).isFalse();
            for (int i = 0; i < 7; i++) {
                ends.client().send("message " + "x".repeat(i));
            }
            MemoryRegion out = ends.client().allocate(10);
            ends.client()
                    .postWriteWithImmediate(out.slice(0, 10), in.remote().slice(790), 0x12345678)
                    .await();
            for (int i = 0; i < 7; i++) {
                assertThat(receives.get(i).await(LONG)).isTrue();
                assertThat(receives.get(i).await()).isEqualTo(new ReceivedMessage(8 + i, OptionalInt.empty()));
            }
            assertThat(receives.get(7).await()) // the length is that of the WRITE
                    .isEqualTo(new ReceivedMessage(10, OptionalInt.of(0x12345678)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void immediateDataAreReceivedWithoutMemory(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            MemoryRegion in = ends.server().allocate(100, Access.remoteAll());
            MemoryRegion out = ends.client().allocate(10);
            out.segment().fill((byte) 7);
            for (int i = 0; i < 3; i++) {
                var received = threads.submit(() -> ends.server().receive());
                ends.client().writeWithImmediate(out, in.remote().slice(50), i);
                assertThat(received.get()).isEqualTo(new ReceivedMessage(10, OptionalInt.of(i)));
                assertThat(in.segment().get(JAVA_BYTE, 59)).isEqualTo((byte) 7);
            }
            assertThat(ends.client().peerAddress()).isEqualTo(ends.server().localAddress());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void atomicsOfManyThreadsAreEachCountedOnce(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion counter = ends.server().allocate(16, Access.remoteAll());
            RemoteMemory remote = counter.remote();
            var seen = new boolean[500];
            var threads = new ArrayList<Thread>();
            for (int i = 0; i < 100; i++) {
                threads.add(Thread.startVirtualThread(() -> {
                    try {
                        for (int k = 0; k < 5; k++) {
                            long before = k == 0
                                    ? ends.client().postFetchAdd(remote, 1).await()
                                    : ends.client().fetchAdd(remote, 1);
                            synchronized (seen) {
                                assertThat(seen[(int) before]).isFalse();
                                seen[(int) before] = true;
                            }
                        }
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            for (Thread each : threads) {
                each.join();
            }
            assertThat(seen).doesNotContain(false);
            assertThat(ends.client().compareSwap(remote, 500, 7)).isEqualTo(500);
            assertThat(ends.client().postCompareSwap(remote, 500, 9).await()).isEqualTo(7);
            assertThat(counter.segment().get(JAVA_LONG, 0)).isEqualTo(7);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void arraysAndTextAreCopied(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            byte[] large = new byte[100_000];
            for (int i = 0; i < large.length; i++) {
                large[i] = (byte) (i * 7);
            }
            var received = new CompletableFuture<List<Object>>();
            Thread.startVirtualThread(() -> {
                try {
                    received.complete(List.of(
                            ends.server().receiveText(100),
                            ends.server().receive(100_000),
                            ends.server().receive(0)));
                } catch (Throwable e) {
                    received.completeExceptionally(e);
                }
            });
            ends.client().send("grün");
            ends.client().send(large);
            ends.client().send(new byte[0]);
            List<Object> all = received.get(60, TimeUnit.SECONDS);
            assertThat(all.get(0)).isEqualTo("grün");
            assertThat((byte[]) all.get(1)).isEqualTo(large);
            assertThat((byte[]) all.get(2)).isEmpty();

            RemoteMemory remote =
                    ends.server().allocate(100_100, Access.remoteAll()).remote();
            ends.client().write(large, remote.slice(100));
            ends.client().write(new byte[] {9, 8}, remote);
            assertThat(ends.client().read(remote.slice(100, 100_000))).isEqualTo(large);
            assertThat(ends.client().read(remote.slice(0, 2))).containsExactly(9, 8);
            assertThatThrownBy(() -> ends.client().write(large, remote.slice(101)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void futuresAreCompletedThoughNoThreadWaits(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            RemoteMemory remote = ends.server().allocate(8, Access.remoteAll()).remote();
            MemoryRegion out = ends.client().allocate(8);
            var futures = new ArrayList<CompletableFuture<?>>();
            for (int i = 0; i < 200; i++) {
                Pending<?> request = ends.client().postWrite(out.slice(0, 8), remote);
                futures.add(request.toFuture());
                assertThat(request.toFuture()).isSameAs(futures.getLast());
            }
            CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new))
                    .get(60, TimeUnit.SECONDS);
            // A thread that waits and the thread of the futures take turns.
            var receive = ends.server()
                    .postReceive(ends.server().allocate(8).slice(0, 8))
                    .toFuture();
            var second = ends.server().postReceive(ends.server().allocate(8).slice(0, 8));
            ends.client().send("a");
            ends.client().send("bb");
            assertThat(second.await().length()).isEqualTo(2);
            assertThat(receive.get(60, TimeUnit.SECONDS).length()).isEqualTo(1);
            var last = ends.server()
                    .postReceive(ends.server().allocate(8).slice(0, 8))
                    .toFuture();
            ends.client().close();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> last.get(60, TimeUnit.SECONDS))
                    .withCauseInstanceOf(ConnectionException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void closingTellsEveryWaitingThreadWhoClosed(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion in = ends.server().allocate(8);
            Pending<?> ahead = ends.server().postReceive(in.slice(0, 8)); // while there is room for certain
            var told = new ArrayList<CompletableFuture<Throwable>>();
            for (int i = 0; i < 100; i++) { // some wait for a message, some for room
                told.add(told(() -> ends.server().receive(in.slice(0, 8))));
            }
            Thread.ofPlatform().name("closer").start(ends.server()::close).join();
            for (var each : told) {
                ConnectionException e = exception(each);
                assertThat(e.reason()).isEqualTo(Reason.CLOSED);
                assertThat(e).hasMessageContaining("closer");
            }
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(ahead::await)
                    .matches(e -> e.reason() == Reason.CLOSED);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.server().send("late"))
                    .matches(e -> e.reason() == Reason.CLOSED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void theRequestThatFailedIsNamedToAll(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion in = ends.client().allocate(8);
            var told = told(() -> ends.client().receive(in.slice(0, 8)));
            RemoteMemory real = ends.server().allocate(8).remote(); // the peer has not granted it
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.client().read(real.slice(0, 8)))
                    .matches(e -> e.reason() == Reason.FAILED)
                    .withMessageContaining("REM_ACCESS_ERR");
            exception(told);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.client().fetchAdd(real, 8))
                    .matches(e -> e.reason() == Reason.FAILED)
                    .withMessageContaining("read failed");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void anInterruptLeavesARequestUnderWayAndEndsABlockingForm(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion in = ends.server().allocate(8);
            Pending<ReceivedMessage> request = ends.server().postReceive(in.slice(0, 8));
            var thrown = new AtomicReference<Throwable>();
            Thread patient = Thread.ofVirtual().unstarted(() -> {
                try {
                    request.await();
                } catch (Throwable e) {
                    thrown.set(e);
                }
            });
            patient.start();
            waiting(patient).interrupt();
            patient.join();
            assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
            ends.client().send("still");
            assertThat(request.await().length()).isEqualTo(5);

            Pending<?> other = ends.server().postReceive(in.slice(0, 8));
            Thread blocking = Thread.ofPlatform().name("impatient").unstarted(() -> {
                try {
                    ends.server().receive(in.slice(0, 8));
                } catch (Throwable e) {
                    thrown.set(e);
                }
            });
            blocking.start();
            blocking.interrupt(); // before it waits, or while it does
            blocking.join();
            assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(other::await)
                    .withMessageContaining("impatient")
                    .matches(e -> e.reason() == Reason.INTERRUPTED)
                    .withMessageContaining("was interrupted in receive");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aRequestThatTakesTooLongEndsTheConnection(String device) throws Exception {
        var options = ConnectionOptions.defaults().withRequestTimeout(Duration.ofMillis(50));
        try (var ends = ConnectedEnds.of(device, options)) {
            MemoryRegion in = ends.client().allocate(8);
            Pending<?> waits = ends.client().postReceive(in.slice(0, 8));
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.client().send("no receive is posted"))
                    .matches(e -> e.reason() == Reason.TIMEOUT)
                    .withMessageContaining(
                            "send was not done within 50 ms, the limit of ConnectionOptions.withRequestTimeout");
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(waits::await)
                    .matches(e -> e.reason() == Reason.TIMEOUT);
        }
    }

    /// A peer that takes nothing fills the queue, so a blocking form does not even find room.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void theTimeOfARequestIncludesItsWaitForRoom(String device) throws Exception {
        var options = ConnectionOptions.defaults().withDepth(2, 2).withRequestTimeout(Duration.ofMillis(50));
        try (var ends = ConnectedEnds.of(device, options)) {
            MemoryRegion out = ends.client().allocate(8);
            Pending<?> first = ends.client().postSend(out);
            Pending<?> second = ends.client().postSend(out);
            assertThat(ends.client().awaitRoom(Duration.ZERO)).isFalse();
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(() -> ends.client().send("no room"))
                    .matches(e -> e.reason() == Reason.TIMEOUT)
                    .withMessageContaining("send was not done within 50 ms");
            assertThatExceptionOfType(ConnectionException.class)
                    .isThrownBy(first::await)
                    .matches(e -> e.reason() == Reason.TIMEOUT);
            assertThat(second.isDone()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void whoIsInterruptedWhileWaitingForRoomHasPostedNothingAndTheConnectionStays(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, ConnectionOptions.defaults().withDepth(1, 2))) {
            MemoryRegion out = ends.client().allocate(8);
            MemoryRegion in = ends.server().allocate(16);
            Pending<?> posted = ends.client().postSend(out);
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> ends.client().send("no room"));
            assertThat(ends.client().isOpen()).isTrue();
            assertThat(ends.server().receive(in).length()).isEqualTo(8);
            posted.await();
            Pending<ReceivedMessage> next = ends.server().postReceive(in);
            ends.client().send("next");
            assertThat(next.await().length()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void aMessageCarries32BitsBesideIt(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion out = ends.client().allocate(8);
            MemoryRegion in = ends.server().allocate(16);
            Pending<ReceivedMessage> first = ends.server().postReceive(in.slice(0, 8));
            Pending<ReceivedMessage> second = ends.server().postReceive(in.slice(8, 8));
            ends.client().sendWithImmediate(out, 7);
            ends.client().postSendWithImmediate(out.slice(0, 3), -1).await();
            assertThat(first.await()).isEqualTo(new ReceivedMessage(8, OptionalInt.of(7)));
            assertThat(second.await()).isEqualTo(new ReceivedMessage(3, OptionalInt.of(-1)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void closingLaterWaitsForNothingAndTellsWhenItIsDone(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion made = ends.client().queuePair().protectionDomain().allocate(8, Access.local());
            assertThatExceptionOfType(InUseException.class)
                    .isThrownBy(ends.client().closeLater()::await);
            made.close();
            ends.client().closeLater().await();
            assertThat(ends.client().isOpen()).isFalse();
            assertThat(ends.server().whenClosed().await().reason()).isEqualTo(Reason.DISCONNECTED);
        }
    }

    @Test
    void aTimeLimitOfRequestsIsMoreThanZero() {
        var options = ConnectionOptions.defaults();
        assertThatThrownBy(() -> options.withRequestTimeout(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("requestTimeout");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aPostedRequestCannotBeCancelledAndClosingEndsIt(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device)) {
            MemoryRegion in = ends.server().allocate(8);
            Pending<ReceivedMessage> done = ends.server().postReceive(in.slice(0, 8));
            Pending<ReceivedMessage> open = ends.server().postReceive(in.slice(0, 8));
            ends.client().send("one");
            done.await();
            assertThat(done.resultNow().length()).isEqualTo(3);
            assertThat(done.failure()).isEmpty();
            assertThat(open.cancel()).isFalse();
            assertThat(open.failure()).isEmpty();
            assertThatThrownBy(open::resultNow)
                    .isInstanceOf(InvalidStateException.class)
                    .hasMessageContaining("still outstanding");
            ends.server().close();
            assertThat(open.failure())
                    .get()
                    .isInstanceOfSatisfying(
                            ConnectionException.class,
                            why -> assertThat(why.reason()).isEqualTo(Reason.CLOSED));
            assertThatExceptionOfType(ConnectionException.class).isThrownBy(open::resultNow);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aWaiterWaitsForRequestsAndTheEndsOfSeveralConnections(String device) throws Exception {
        try (var some = ConnectedEnds.of(device);
                var others = ConnectedEnds.of(device);
                var waiter = new Waiter<String>()) {
            Pending<?> first = some.server().postReceive(some.server().allocate(8));
            Pending<?> second = others.server().postReceive(others.server().allocate(8));
            Pending<?> never = others.server().postReceive(others.server().allocate(8));
            waiter.add(first, "first");
            waiter.add(second, "second");
            waiter.add(never, "never");
            waiter.add(some.server().whenClosed(), "end");
            assertThat(waiter.await(Duration.ofMillis(5))).isEmpty();
            others.client().send("two");
            assertThat(waiter.await()).contains("second");
            some.client().send("one");
            assertThat(waiter.await()).contains("first");
            some.client().close();
            assertThat(waiter.await()).contains("end");
            assertThat(waiter.await(Duration.ofMillis(5))).isEmpty(); // each was returned once
            waiter.remove(never);
            others.client().send("three");
            assertThat(never.await(Duration.ofSeconds(60))).isTrue();
            assertThat(waiter.await(Duration.ZERO)).isEmpty();
        }
    }

    /// Processor time of the threads that carry virtual threads, and of those of devices.
    private static long processorNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (ThreadInfo each : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (each != null
                    && (each.getThreadName().startsWith("ForkJoinPool")
                            || each.getThreadName().startsWith("verbena"))) {
                sum += Math.max(0, threads.getThreadCpuTime(each.getThreadId()));
            }
        }
        return sum;
    }

    /// 2,000 threads wait at once. They take no platform thread each, and no processor; each gets one message.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp", "shm"})
    void aCrowdOfVirtualThreadsWaitsForNothing(String device) throws Exception {
        var options = ConnectionOptions.defaults().withDepth(64, CROWD);
        try (var ends = ConnectedEnds.of(device, options)) {
            MemoryRegion in = ends.server().allocate(CROWD * 8L);
            int threadsBefore = ManagementFactory.getThreadMXBean().getThreadCount();
            var got = new long[CROWD];
            var crowd = new ArrayList<Thread>();
            for (int i = 0; i < CROWD; i++) {
                int me = i;
                crowd.add(Thread.startVirtualThread(() -> {
                    try {
                        ends.server().receive(in.slice(me * 8L, 8));
                        got[me] = in.segment().get(JAVA_LONG, me * 8L);
                    } catch (Exception e) {
                        got[me] = -1;
                    }
                }));
            }
            crowd.forEach(ManyRequestsTest::waiting);
            double busy = 1;
            for (int i = 0; i < 10 && busy > 0.3; i++) { // what the crowd's beginning left may be at work
                Pending<?> never =
                        ends.client().postReceive(ends.client().allocate(8).slice(0, 8));
                long cpu = processorNanos();
                long from = System.nanoTime();
                assertThat(never.await(Duration.ofMillis(500))).isFalse();
                busy = (double) (processorNanos() - cpu) / (System.nanoTime() - from);
            }
            assertThat(busy).as("processors that 2,000 waiting threads take").isLessThan(0.3);
            assertThat(ManagementFactory.getThreadMXBean().getThreadCount() - threadsBefore)
                    .as("platform threads")
                    .isLessThan(2 * Runtime.getRuntime().availableProcessors() + 10);

            var senders = new ArrayList<Thread>();
            for (int i = 0; i < CROWD; i++) {
                long number = i + 1L;
                senders.add(Thread.startVirtualThread(() -> {
                    try {
                        ends.client()
                                .send(ByteBuffer.allocate(8)
                                        .order(java.nio.ByteOrder.nativeOrder())
                                        .putLong(number)
                                        .array());
                    } catch (Exception e) {
                        throw new IllegalStateException(e); // its message is missing then
                    }
                }));
            }
            for (Thread each : senders) {
                each.join();
            }
            for (Thread each : crowd) {
                each.join();
            }
            Arrays.sort(got);
            for (int i = 0; i < CROWD; i++) {
                assertThat(got[i]).isEqualTo(i + 1L);
            }
        }
    }
}
