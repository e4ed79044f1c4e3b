package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Devices with several engines, on loopback: queue pairs are spread over the engines, and shared objects stay
/// correct.
class EnginesTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int MESSAGES = 2_000;
    private static final int DEPTH = 16;

    /// Closed in the opposite order.
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    private <T extends AutoCloseable> T keep(T made) {
        open.push(made);
        return made;
    }

    private final class End {
        final Context context;
        final ProtectionDomain domain;
        final MemoryRegion memory;

        End(int engines) {
            context = keep(Device.named("rocev2,engines=" + engines).open());
            domain = keep(context.allocateProtectionDomain());
            memory = keep(domain.allocate(1 << 16, Access.remoteAll()));
        }

        CompletionQueue queue() {
            return keep(context.createCompletionQueue(8 * DEPTH));
        }

        QueuePair pair(CompletionQueue sends, CompletionQueue receives) {
            return keep(domain.createQueuePair(QueuePairOptions.rc(sends).withReceiveCq(receives)));
        }
    }

    private static int engineOf(QueuePair pair) {
        return pair.qpn() >>> 16; // the slot: each engine has one
    }

    private static void connect(QueuePair one, QueuePair other) {
        one.connect(other.endpoint());
        other.connect(one.endpoint());
    }

    /// Runs all at once, and throws what one of them throws.
    private static void all(List<Callable<Void>> tasks) throws Exception {
        try (var threads = Executors.newFixedThreadPool(tasks.size())) {
            for (Future<Void> each : threads.invokeAll(tasks)) {
                try {
                    each.get();
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof Exception cause ? cause : e;
                }
            }
        }
    }

    /// Writes message by message, [#DEPTH] outstanding, and waits for each at `queue`, which no other thread
    /// polls.
    private static void write(QueuePair pair, CompletionQueue queue, MemoryRegion from, RemoteMemory to, int offset)
            throws InterruptedException {
        var wc = new WorkCompletion();
        int outstanding = 0;
        for (int i = 0; i < MESSAGES; i++) {
            if (outstanding == DEPTH) {
                expect(queue, wc);
                outstanding--;
            }
            pair.postWrite(i, from.slice(offset, 64), new RemoteMemory(to.address() + offset, to.rkey(), 64));
            outstanding++;
        }
        for (; outstanding > 0; outstanding--) {
            expect(queue, wc);
        }
    }

    private static void expect(CompletionQueue queue, WorkCompletion wc) throws InterruptedException {
        assertThat(queue.await(wc, SOON)).as("a completion in time").isTrue();
        assertThat(wc.ok()).as(wc.toString()).isTrue();
    }

    @Test
    void completionQueuesAreSpreadOverTheEngines() {
        var end = new End(3);
        Set<Integer> engines = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            engines.add(engineOf(end.pair(end.queue(), end.queue())));
        }
        assertThat(engines).hasSize(3);
    }

    @Test
    void queuePairsOfOneCompletionQueueLiveOnOneEngine() {
        var end = new End(4);
        CompletionQueue queue = end.queue();
        Set<Integer> engines = new HashSet<>();
        for (int i = 0; i < 8; i++) {
            engines.add(engineOf(end.pair(queue, i % 2 == 0 ? queue : end.queue())));
        }
        assertThat(engines).hasSize(1);
    }

    @Test
    void queuePairsOfOneSharedReceiveQueueLiveOnOneEngine() {
        var end = new End(2);
        SharedReceiveQueue shared = keep(end.domain.createSharedReceiveQueue(16, 1));
        Set<Integer> engines = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            CompletionQueue queue = end.queue();
            if (i == 2) {
                end.pair(queue, queue); // is at home on the other engine now
            }
            engines.add(engineOf(
                    keep(end.domain.createQueuePair(QueuePairOptions.rc(queue).withSharedReceiveQueue(shared)))));
        }
        assertThat(engines).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "3, 2", "4, 4"})
    void allWriteAtOnceAndEachByteArrives(int here, int there) throws Exception {
        var a = new End(here);
        var b = new End(there);
        for (long i = 0; i < a.memory.length(); i++) {
            a.memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (7 * i + 1));
        }
        List<QueuePair> pairs = new ArrayList<>();
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            CompletionQueue queue = a.queue();
            QueuePair pair = a.pair(queue, queue);
            pairs.add(pair);
            CompletionQueue theirs = b.queue();
            connect(pair, b.pair(theirs, theirs));
            int offset = 64 * i;
            tasks.add(() -> {
                write(pair, queue, a.memory, b.memory.remote(), offset);
                return null;
            });
        }
        all(tasks);
        assertThat(b.memory
                        .segment()
                        .asSlice(0, 256)
                        .mismatch(a.memory.segment().asSlice(0, 256)))
                .isEqualTo(-1);
        pairs.forEach(QueuePair::query); // counters are updated right after the completion, before the next command
        assertThat(a.context.counters().get("completions")).isEqualTo(4L * MESSAGES);
    }

    /// The first two queue pairs bind their queues to two engines; the third reports to one queue of each.
    @Test
    void aCompletionQueueThatTwoEnginesFillLosesNothing() throws Exception {
        var a = new End(2);
        var b = new End(1);
        CompletionQueue first = a.queue();
        CompletionQueue second = a.queue();
        CompletionQueue theirs = b.queue();
        QueuePair atFirst = a.pair(first, first);
        QueuePair atSecond = a.pair(second, second);
        QueuePair crossing = a.pair(first, second); // lives where second does, and reports its sends to first
        assertThat(engineOf(atFirst)).isNotEqualTo(engineOf(atSecond));
        assertThat(engineOf(crossing)).isEqualTo(engineOf(atSecond));
        connect(atFirst, b.pair(theirs, theirs));
        connect(crossing, b.pair(theirs, theirs));
        RemoteMemory to = b.memory.remote();

        var wc = new WorkCompletion();
        long[] next = new long[2];
        int[] posted = new int[2];
        QueuePair[] pairs = {atFirst, crossing};
        for (int done = 0; done < 2 * MESSAGES; done++) {
            for (int i = 0; i < 2; i++) {
                while (posted[i] < MESSAGES && posted[i] - next[i] < DEPTH) {
                    pairs[i].postWrite(
                            posted[i]++, a.memory.slice(0, 64), new RemoteMemory(to.address(), to.rkey(), 64));
                }
            }
            expect(first, wc);
            int whose = wc.qpn() == atFirst.qpn() ? 0 : 1;
            assertThat(wc.wrId()).isEqualTo(next[whose]++);
        }
        first.resize(4 * DEPTH);
        assertThat(first.poll(wc)).isFalse();
    }

    @Test
    void noEngineTouchesARegionThatIsClosed() throws Exception {
        var a = new End(2);
        var b = new End(3);
        a.memory.segment().fill((byte) 1);
        var wc = new WorkCompletion();
        for (int round = 0; round < 10; round++) {
            var arena = Arena.ofShared();
            MemorySegment segment = arena.allocate(1 << 16, 8);
            MemoryRegion region = b.domain.register(segment, Access.remoteAll());
            List<CompletionQueue> queues = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                CompletionQueue queue = a.queue();
                CompletionQueue theirs = b.queue();
                QueuePair pair = a.pair(queue, queue);
                connect(pair, b.pair(theirs, theirs));
                pair.postWrite(round, a.memory.slice(0, 1 << 16), region.remote());
                queues.add(queue);
            }
            region.close();
            segment.fill((byte) 2);
            for (CompletionQueue queue : queues) { // WRITEs that were still on their way are refused
                assertThat(queue.await(wc, SOON)).as("a completion in time").isTrue();
            }
            for (long at = 0; at < segment.byteSize(); at++) {
                if (segment.get(ValueLayout.JAVA_BYTE, at) != 2) {
                    throw new AssertionError("round " + round + ": byte " + at + " was written after close");
                }
            }
            arena.close(); // no engine is using the memory
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void connectionsComeToAndFromAnyEngine(int engines) throws Exception {
        var server = keep(Device.named("rocev2,engines=" + engines).open());
        var client = keep(Device.named("rocev2,engines=" + engines).open());
        var at = new InetSocketAddress(server.gid(1, 0).gid().address(), 7_471);
        try (var threads = Executors.newSingleThreadExecutor();
                var listener =
                        ConnectionListener.bind(at, ConnectionOptions.defaults().withDevice(server))) {
            for (int i = 0; i < 2 * engines; i++) {
                Future<Connection> accepted = threads.submit(() -> listener.accept());
                Connection there =
                        keep(Connection.connect(at, ConnectionOptions.defaults().withDevice(client)));
                Connection here = keep(accepted.get(SOON.toSeconds(), TimeUnit.SECONDS));
                MemoryRegion from = there.allocate(100);
                MemoryRegion to = here.allocate(100);
                from.segment().setString(0, "message " + i);
                Future<Long> received =
                        threads.submit(() -> here.receive(to.slice(0, 100)).length());
                there.send(from.slice(0, 100));
                assertThat(received.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(100);
                assertThat(to.segment().getString(0)).isEqualTo("message " + i);
            }
        }
    }

    @Test
    void withoutAListenerTheCallerIsToldAtOnce() {
        var server = keep(Device.named("rocev2,engines=4").open());
        var client = keep(Device.named("rocev2,engines=4").open());
        try (var _ = ConnectionListener.bind(
                new InetSocketAddress(server.gid(1, 0).gid().address(), 7_471),
                ConnectionOptions.defaults().withDevice(server))) {
            var closedPort = new InetSocketAddress(server.gid(1, 0).gid().address(), 7_472);
            for (int i = 0; i < 8; i++) {
                assertThatThrownBy(() -> Connection.connect(
                                closedPort, ConnectionOptions.defaults().withDevice(client)))
                        .isInstanceOf(ConnectionException.class)
                        .hasMessageContaining("no program listens");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "65", "-1", "many", ""})
    void aNumberOfEnginesThatMakesNoSenseIsRefused(String engines) {
        assertThatThrownBy(() -> Device.named("rocev2,engines=" + engines))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("option \"engines=" + engines + "\"");
    }

    @Test
    void severalEnginesNeedTheLinuxLink() {
        assertThatThrownBy(() -> Device.named("rocev2,engines=2,link=portable").open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("engines=2")
                .hasMessageContaining("link=portable");
    }
}
