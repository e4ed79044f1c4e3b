package verbena.nic.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.GoalRun;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Over shared memory, an owner takes memory away while peers write to it as fast as they can: it closes regions and
/// registers them anew under the same key, invalidates windows and binds them again under the same key, ends queue
/// pairs and connections. From the moment at which the verb has returned, no byte changes that the peer has lost; no
/// byte that it never had changes at all; and each of its requests completes once.
///
/// `-Dverbena.seed=N` draws other events; the threads meet by chance.
@EnabledOnOs(value = OS.LINUX, disabledReason = "memory files")
class WithdrawnMemoryTest {
    private static final int PEERS = 2;
    private static final int BYTES = 8_192;
    private static final int LOOKS = 12;
    /// The peer goes on for so many requests, or until one is refused, while the owner looks.
    private static final int REQUESTS_MEANWHILE = 6;
    private static final long LOOK_NANOS_MAX = 50_000_000;
    private static final int WARM_UP = 20;
    private static final byte OWNERS = 0x55;
    private static final byte NEVER_LENT = 0x77;
    private static final Duration SOON = Duration.ofSeconds(30);

    private final Random random = new Random(GoalRun.seed());
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final WorkCompletion wc = new WorkCompletion();
    private final List<Writer> writers = new ArrayList<>();

    @Test
    @Timeout(3_600)
    void whatWasTakenAwayChangesNoMoreAndEachRequestCompletesOnce() throws Exception {
        long start = System.nanoTime();
        int rounds = GoalRun.size(100, 100_000);
        var written = new ArrayList<Future<Written>>();
        long direct = 0;
        long before = 0;
        long after;
        try (Context device = Device.named("shm").open();
                ExecutorService threads = Executors.newFixedThreadPool(PEERS)) {
            try (ConnectionListener listener = ConnectionListener.bind(
                    new InetSocketAddress(device.gid(1, 0).gid().address(), 0),
                    ConnectionOptions.defaults().withDevice(device))) {
                for (int i = 0; i < PEERS; i++) {
                    var writer = new Writer(Device.named("shm").open(), listener.localAddress(), random.nextLong());
                    writers.add(writer);
                    written.add(threads.submit(writer));
                }
                for (int i = 0; i < rounds; i++) {
                    if (i == WARM_UP) {
                        before = descriptors();
                    }
                    round(listener);
                }
                after = descriptors();
            } finally {
                isOver.set(true);
            }
            for (Future<Written> each : written) {
                each.get(60, TimeUnit.SECONDS);
            }
            for (Writer each : writers) {
                direct += each.device.counters().get("direct.requests");
                each.device.close();
            }
        }
        long requests = 0;
        long failed = 0;
        for (Future<Written> each : written) {
            requests += each.resultNow().requests;
            failed += each.resultNow().failed;
        }
        GoalRun.report(
                "F2",
                start,
                ("memory taken away %,d times under load over shm: no byte changed afterwards, %,d requests completed"
                                + " once, %,d of them with an error, %,d without packets; descriptors %+d")
                        .formatted(rounds, requests, failed, direct, after - before));
        assertThat(direct).as("requests without packets").isGreaterThan(rounds);
        assertThat(after).as("descriptors").isLessThanOrEqualTo(before + 2 * PEERS + 2L); // one connection more or less
    }

    /// The life of a connection.
    private void round(ConnectionListener listener) throws InterruptedException {
        try (var lent = new Lent(listener.accept(SOON).orElseThrow())) {
            if (lent.tell()) {
                LockSupport.parkNanos(random.nextInt(1_500_000));
                lent.takeAway(random.nextInt(6));
                lent.checkNeverLent();
            }
        }
    }

    private static long descriptors() throws IOException {
        long count = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path _ : all) {
                count++;
            }
        }
        return count;
    }

    // ---- the owner

    /// What one connection has been given, between memory that no peer has a key of. All of it is small, and so in
    /// one memory file, which peers map as a whole.
    private final class Lent implements AutoCloseable {
        private final Connection connection;
        private final MemoryRegion before;
        private final MemoryRegion region;
        private final MemoryRegion between;
        private final MemoryRegion behindWindow;
        private final MemoryRegion after;
        private final MemoryWindow window;
        private boolean isRegionOpen = true;
        private @Nullable Writer writer;

        Lent(Connection connection) throws InterruptedException {
            this.connection = connection;
            before = neverLent();
            region = connection.allocate(BYTES, Access.remoteAll());
            between = neverLent();
            behindWindow =
                    connection.allocate(BYTES, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.MW_BIND));
            after = neverLent();
            window = connection.queuePair().protectionDomain().allocateWindow(MemoryWindow.Type.TYPE_2);
            bind(behindWindow.address(), window.rkey());
        }

        private MemoryRegion neverLent() {
            MemoryRegion made = connection.allocate(BYTES, Access.remoteAll());
            made.segment().fill(NEVER_LENT);
            return made;
        }

        /// Half of the region, at this address.
        private void bind(long address, int key) throws InterruptedException {
            try (SendBatch batch = connection.queuePair().sendBatch()) {
                batch.bindWindow(
                                1,
                                window,
                                key,
                                behindWindow,
                                address,
                                BYTES / 2,
                                EnumSet.of(Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC))
                        .signaled();
                batch.submit();
            }
            awaitOwn();
        }

        /// False when the peer has ended the connection meanwhile.
        private boolean awaitOwn() throws InterruptedException {
            assertThat(connection.queuePair().options().sendCq().await(wc, SOON))
                    .as("in time")
                    .isTrue();
            return wc.ok();
        }

        /// False when the peer has gone already.
        boolean tell() throws InterruptedException {
            MemoryRegion message = connection.allocate(128);
            message.segment().setString(0, region.remote().format());
            message.segment()
                    .setString(64, new RemoteMemory(behindWindow.address(), window.rkey(), BYTES / 2).format());
            connection.send(message.slice(0, 128));
            message.close();
            int peer = connection.queuePair().query().peer().destinationQpn();
            // Its message may be on the way yet.
            for (long end = System.nanoTime() + SOON.toNanos(); System.nanoTime() < end; Thread.onSpinWait()) {
                for (Writer each : writers) {
                    if (each.qpn == peer) {
                        writer = each;
                        return true;
                    }
                }
            }
            return false;
        }

        void takeAway(int how) throws InterruptedException {
            switch (how) {
                case 0 -> {
                    region.close();
                    isRegionOpen = false;
                    MemoryRegion fresh = connection.allocate(BYTES, Access.remoteAll()); // where the region was
                    stays(fresh.segment());
                    fresh.close();
                }
                case 1 -> {
                    region.reregister(connection.queuePair().protectionDomain(), EnumSet.of(Access.LOCAL_WRITE));
                    stays(region.segment());
                }
                case 2 -> {
                    region.reregister(connection.queuePair().protectionDomain(), EnumSet.of(Access.LOCAL_WRITE));
                    stays(region.segment(), 0);
                    region.reregister(
                            connection.queuePair().protectionDomain(), Access.remoteAll()); // the same key again
                }
                case 3 -> bindElsewhere();
                case 4 -> {
                    connection.queuePair().modify(new Transition.ToError());
                    stays(region.segment(), 0); // no request of the peer is answered any more
                    stays(behindWindow.segment(), 0);
                }
                default -> {} // the connection ends
            }
        }

        /// The same key shows the other half.
        private void bindElsewhere() throws InterruptedException {
            int key = window.rkey();
            try (SendBatch batch = connection.queuePair().sendBatch()) {
                batch.localInvalidate(2, key).signaled();
                batch.submit();
            }
            if (!awaitOwn()) {
                return;
            }
            stays(behindWindow.segment(), 0);
            bind(behindWindow.address() + BYTES / 2, key);
            stays(behindWindow.segment().asSlice(0, BYTES / 2));
        }

        private void stays(MemorySegment taken) {
            stays(taken, REQUESTS_MEANWHILE);
        }

        /// Looks while the peer goes on for so many requests, if it does.
        private void stays(MemorySegment taken, int requests) {
            Writer writer = Objects.requireNonNull(this.writer);
            taken.fill(OWNERS);
            long until = writer.done.get() + requests;
            long end = System.nanoTime() + LOOK_NANOS_MAX;
            for (int i = 0; i < LOOKS; i++) {
                do {
                    checkAll(taken, OWNERS, "taken away");
                } while (writer.done.get() < until && writer.goesOn && System.nanoTime() < end);
            }
        }

        void checkNeverLent() {
            for (MemoryRegion each : List.of(before, between, after)) {
                checkAll(each.segment(), NEVER_LENT, "never lent");
            }
        }

        private void checkAll(MemorySegment memory, byte expected, String what) {
            for (long at = 0; at < memory.byteSize(); at++) {
                byte found = memory.get(ValueLayout.JAVA_BYTE, at);
                if (found != expected) {
                    throw new AssertionError(what + ": byte " + at + " is " + found);
                }
            }
        }

        @Override
        public void close() {
            window.close();
            before.close();
            between.close();
            after.close();
            behindWindow.close();
            if (isRegionOpen) {
                region.close();
            }
            connection.close();
        }
    }

    // ---- a peer

    private record Written(long requests, long failed) {}

    /// Connects, and writes, reads and adds until a request fails; again and again.
    private final class Writer implements Callable<Written> {
        private static final int OUTSTANDING_MAX = 8;

        private final Context device;
        private final InetSocketAddress to;
        private final Random random;
        private final WorkCompletion wc = new WorkCompletion();
        private long requests;
        private long failed;
        /// Of its connection.
        volatile int qpn;
        /// Requests that have completed.
        final AtomicLong done = new AtomicLong();
        /// No request on its connection has failed.
        volatile boolean goesOn;

        Writer(Context device, InetSocketAddress to, long seed) {
            this.device = device;
            this.to = to;
            this.random = new Random(seed);
        }

        @Override
        public Written call() throws InterruptedException {
            while (!isOver.get()) {
                try (Connection connection =
                        Connection.connect(to, ConnectionOptions.defaults().withDevice(device))) {
                    MemoryRegion local = connection.allocate(BYTES);
                    goesOn = true;
                    qpn = connection.queuePair().qpn();
                    connection.receive(local.slice(0, 128));
                    var targets = List.of(
                            RemoteMemory.parse(local.segment().getString(0)),
                            RemoteMemory.parse(local.segment().getString(64)));
                    local.segment().fill((byte) 1);
                    writeUntilRefused(connection, local, targets);
                } catch (ConnectionException _) {
                    // The owner has ended it early, or is over.
                }
            }
            return new Written(requests, failed);
        }

        private void writeUntilRefused(Connection connection, MemoryRegion local, List<RemoteMemory> targets)
                throws InterruptedException {
            int most = random.nextBoolean() ? 1 : OUTSTANDING_MAX;
            var outstanding = new boolean[OUTSTANDING_MAX];
            int count = 0;
            boolean isRefused = false;
            while (!isRefused || count > 0) {
                for (int i = 0; i < most && !isRefused; i++) {
                    if (!outstanding[i]) {
                        outstanding[i] = true;
                        count++;
                        requests++;
                        post(connection, i, local, targets.get(random.nextInt(targets.size())));
                    }
                }
                assertThat(connection.queuePair().options().sendCq().await(wc, SOON))
                        .as("a hang")
                        .isTrue();
                assertThat(outstanding[(int) wc.wrId()])
                        .as("completed once: " + wc)
                        .isTrue();
                outstanding[(int) wc.wrId()] = false;
                count--;
                done.incrementAndGet();
                if (wc.ok()) {
                    assertThat(isRefused).as("a success after a failure").isFalse();
                } else {
                    isRefused = true;
                    goesOn = false;
                    failed++;
                    assertThat(wc.status())
                            .isIn(WcStatus.REM_ACCESS_ERR, WcStatus.WR_FLUSH_ERR, WcStatus.RETRY_EXC_ERR);
                }
            }
            assertThat(connection.queuePair().options().sendCq().poll(wc))
                    .as("more completions than requests")
                    .isFalse();
        }

        private void post(Connection connection, int wrId, MemoryRegion local, RemoteMemory to) {
            int bytes = 1 + random.nextInt((int) to.length());
            long at = random.nextLong(to.length() - bytes + 1);
            switch (random.nextInt(4)) {
                case 0 -> connection.queuePair().postRead(wrId, to.slice(at, bytes), local.slice(0, bytes));
                case 1 -> connection.queuePair().postFetchAdd(wrId, to.slice((at & -8L)), 1, local.slice(0, 8));
                default -> connection.queuePair().postWrite(wrId, local.slice(0, bytes), to.slice(at, bytes));
            }
        }
    }
}
