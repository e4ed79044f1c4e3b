package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Two devices of one process talk over shared memory, as those of two processes do.
@EnabledOnOs(value = OS.LINUX, disabledReason = "memory files")
@Timeout(120)
class SharedMemoryTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int BYTES = 4 << 20;

    private final End a = new End();
    private final End b = new End();
    private final WorkCompletion wc = new WorkCompletion();

    private static final class End implements AutoCloseable {
        final Context context = Device.named("shm").open();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue cq = context.createCompletionQueue(256);
        final QueuePair queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
        final MemoryRegion memory = domain.allocate(BYTES, Access.remoteAll());

        long direct() {
            return context.counters().get("direct.requests");
        }

        @Override
        public void close() {
            queuePair.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    @BeforeEach
    void connect() {
        a.queuePair.connect(b.queuePair.endpoint());
        b.queuePair.connect(a.queuePair.endpoint());
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void expect(End end, long wrId, WcStatus status) throws InterruptedException {
        assertThat(end.cq.await(wc, SOON)).as("a completion in time").isTrue();
        assertThat(wc.status()).as(wc.toString()).isEqualTo(status);
        assertThat(wc.wrId()).isEqualTo(wrId);
    }

    private static long count(End end, String counter) {
        return end.context.counters().get(counter);
    }

    /// WRITEs until one has needed no packet.
    private void awaitGrant(MemoryRegion of) throws InterruptedException {
        long before = a.direct();
        for (int i = 0; a.direct() == before; i++) {
            assertThat(i).as("WRITEs by packets").isLessThan(10_000);
            a.queuePair.postWrite(99, a.memory.slice(0, 8), of.remote());
            expect(a, 99, WcStatus.SUCCESS);
        }
    }

    private static void fill(MemorySegment memory, long seed) {
        var random = new SplittableRandom(seed);
        for (long at = 0; at + 8 <= memory.byteSize(); at += 8) {
            memory.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
    }

    @Test
    void onlyDevicesOfSharedMemoryReachThisHostOnly() {
        assertThat(Device.named("shm").isOfHost()).isTrue();
        assertThat(Device.list())
                .filteredOn(Device::isOfHost)
                .extracting(Device::name)
                .containsExactly("shm");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9, 4_096, 65_536, 1_048_576, 3_000_001})
    void writesAndReadsOfAnySizeNeedNoPackets(int bytes) throws InterruptedException {
        fill(a.memory.segment(), bytes);
        awaitGrant(b.memory);
        long before = a.direct();
        long packets = a.context.counters().get("sent.packets");
        a.queuePair.postWrite(1, a.memory.slice(3, bytes), b.memory.remote().slice(5, bytes));
        expect(a, 1, WcStatus.SUCCESS);
        MemorySegment sent = a.memory.segment().asSlice(3, bytes);
        assertThat(b.memory.segment().asSlice(5, bytes).mismatch(sent)).isEqualTo(-1);
        MemorySegment expected = MemorySegment.ofArray(sent.toArray(ValueLayout.JAVA_BYTE));
        a.memory.segment().fill((byte) 0);
        a.queuePair.postRead(2, b.memory.remote().slice(5, bytes), a.memory.slice(11, bytes));
        expect(a, 2, WcStatus.SUCCESS);
        assertThat(a.memory.segment().asSlice(11, bytes).mismatch(expected)).isEqualTo(-1);
        assertThat(a.memory.segment().get(ValueLayout.JAVA_BYTE, 10)).isZero();
        assertThat(a.direct() - before).isEqualTo(2);
        assertThat(a.context.counters().get("sent.packets")).isEqualTo(packets);
    }

    /// The kernel copies; atomics and memory that can be freed at any moment are the peer's.
    @Test
    void memoryOfTheProgramsOwnIsReachedByTheKernel() throws InterruptedException {
        MemoryRegion own = b.domain.register(Arena.ofAuto().allocate(BYTES, 8), Access.remoteAll());
        fill(a.memory.segment(), 5);
        awaitGrant(own);
        assumeTrue(count(a, "direct.system.requests") > 0, "the kernel forbids it");
        long packets = count(a, "sent.packets");
        long before = count(a, "direct.system.requests");
        long bytesBefore = count(a, "direct.system.bytes");
        int[] lengths = {1, 8, 9, 65_536, 3_000_001};
        for (int bytes : lengths) {
            a.queuePair.postWrite(1, a.memory.slice(3, bytes), own.remote().slice(5, bytes));
            expect(a, 1, WcStatus.SUCCESS);
            MemorySegment sent = a.memory.segment().asSlice(3, bytes);
            assertThat(own.segment().asSlice(5, bytes).mismatch(sent)).isEqualTo(-1);
            a.queuePair.postRead(2, own.remote().slice(6, bytes), a.memory.slice(3, bytes));
            expect(a, 2, WcStatus.SUCCESS);
            assertThat(a.memory
                            .segment()
                            .asSlice(3, bytes)
                            .mismatch(own.segment().asSlice(6, bytes)))
                    .isEqualTo(-1);
        }
        assertThat(count(a, "sent.packets")).isEqualTo(packets);
        assertThat(count(a, "direct.system.requests") - before).isEqualTo(2L * lengths.length);
        assertThat(count(a, "direct.system.bytes") - bytesBefore)
                .isEqualTo(2 * Arrays.stream(lengths).asLongStream().sum());
        long declined = count(a, "direct.declined.requests");
        long declinedBytes = count(a, "direct.declined.bytes");
        own.segment().set(ValueLayout.JAVA_LONG, 64, 40);
        a.queuePair.postFetchAdd(3, own.remote().slice(64), 2, a.memory.slice(0, 8));
        expect(a, 3, WcStatus.SUCCESS);
        assertThat(own.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(42);
        try (Arena closing = Arena.ofShared()) {
            MemoryRegion freeable = b.domain.register(closing.allocate(100, 8), Access.remoteAll());
            for (int i = 0; i < 3; i++) {
                a.queuePair.postWrite(4, a.memory.slice(0, 100), freeable.remote());
                expect(a, 4, WcStatus.SUCCESS);
            }
            freeable.close();
        }
        assertThat(count(a, "direct.declined.requests") - declined).isEqualTo(4);
        assertThat(count(a, "direct.declined.bytes") - declinedBytes).isEqualTo(308);
        assertThat(count(a, "direct.system.requests") - before).isEqualTo(2L * lengths.length);
        own.close();
    }

    /// The file behind it becomes shorter while the peer writes: the responder says that memory is gone.
    @Test
    void memoryThatEndsUnderWritesIsAnError(@TempDir Path folder) throws Exception {
        try (FileChannel file = FileChannel.open(
                folder.resolve("mapped"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16, Arena.ofAuto());
            MemoryRegion lent = b.domain.register(mapped, Access.remoteAll());
            awaitGrant(lent);
            var status = new FutureTask<>(() -> {
                do {
                    a.queuePair.postWrite(1, a.memory.slice(0, 1 << 16), lent.remote());
                    assertThat(a.cq.await(wc, SOON)).isTrue();
                } while (wc.status() == WcStatus.SUCCESS);
                return wc.status();
            });
            Thread.ofPlatform().start(status);
            LockSupport.parkNanos(500_000);
            file.truncate(4096);
            assertThat(status.get()).isEqualTo(WcStatus.REM_ACCESS_ERR);
            lent.close();
        }
    }

    @Test
    void atomicsOfBothEndsAreAtomic() throws Exception {
        awaitGrant(b.memory);
        b.memory.segment().set(ValueLayout.JAVA_LONG, 64, 0);
        Thread owner = Thread.ofPlatform().start(() -> {
            var counter = ValueLayout.JAVA_LONG.varHandle();
            for (int i = 0; i < 20_000; i++) {
                counter.getAndAdd(b.memory.segment(), 64L, 1L);
            }
        });
        for (int i = 0; i < 20_000; i++) {
            a.queuePair.postFetchAdd(i, b.memory.remote().slice(64), 1, a.memory.slice(0, 8));
            expect(a, i, WcStatus.SUCCESS);
        }
        owner.join();
        assertThat(b.memory.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(40_000);
    }

    @Test
    void whatIsPostedBehindAMessageComesAfterIt() throws InterruptedException {
        awaitGrant(b.memory);
        for (int i = 0; i < 2_000; i++) {
            a.memory.segment().set(ValueLayout.JAVA_INT, 0, i);
            b.queuePair.postReceive(1, b.memory.slice(100, 4));
            a.queuePair.postWrite(1, a.memory.slice(0, 4), b.memory.remote());
            a.queuePair.postSend(2, a.memory.slice(0, 4));
            a.queuePair.postRead(3, b.memory.remote().slice(100, 4), a.memory.slice(8, 4));
            expect(b, 1, WcStatus.SUCCESS);
            assertThat(b.memory.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
            for (int wrId = 1; wrId <= 3; wrId++) {
                expect(a, wrId, WcStatus.SUCCESS);
            }
            assertThat(a.memory.segment().get(ValueLayout.JAVA_INT, 8)).isEqualTo(i);
        }
    }

    /// The owner takes the right to write away, again and again, while the peer writes as fast as it can.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void afterARightIsTakenAwayNothingIsWritten(boolean isInFile) throws Exception {
        var random = new SplittableRandom(1);
        MemoryRegion lent = isInFile
                ? b.domain.allocate(1 << 16, Access.remoteAll())
                : b.domain.register(Arena.ofAuto().allocate(1 << 16), Access.remoteAll());
        MemorySegment own = MemorySegment.ofArray(new byte[(int) lent.length()]).fill((byte) 0x55);
        for (int round = 0; round < (isInFile ? 60 : 20); round++) {
            lent.reregister(b.domain, Access.remoteAll());
            awaitGrant(lent);
            var isOver = new AtomicBoolean();
            var writer = new FutureTask<>(() -> writeUntilRefused(lent, isOver));
            Thread.ofPlatform().start(writer);
            LockSupport.parkNanos(random.nextInt(900_000));
            lent.reregister(b.domain, EnumSet.of(Access.LOCAL_WRITE));
            lent.segment().fill((byte) 0x55);
            for (int look = 0; look < 20; look++) {
                assertThat(lent.segment().mismatch(own)).isNegative();
            }
            isOver.set(true);
            assertThat(writer.get()).isEqualTo(WcStatus.REM_ACCESS_ERR);
            assertThat(a.queuePair.state()).isEqualTo(QpState.ERR);
            again();
        }
        lent.close();
    }

    /// Every WRITE that begins after the right was taken away has to fail; one that began before may succeed.
    private WcStatus writeUntilRefused(MemoryRegion lent, AtomicBoolean isOver) throws InterruptedException {
        while (true) {
            boolean isTaken = isOver.get();
            a.queuePair.postWrite(1, a.memory.slice(64, lent.length()), lent.remote());
            assertThat(a.cq.await(wc, SOON)).isTrue();
            if (wc.status() != WcStatus.SUCCESS) {
                return wc.status();
            }
            assertThat(isTaken).as("written after the right was taken away").isFalse();
        }
    }

    @Test
    void aQueuePairThatHasFailedIsWrittenToNoMore() throws InterruptedException {
        a.queuePair.modify(new Transition.ToReset());
        b.queuePair.modify(new Transition.ToReset());
        a.queuePair.connect(
                b.queuePair.endpoint(),
                EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(8)), 2, 0));
        b.queuePair.connect(a.queuePair.endpoint());
        awaitGrant(b.memory);
        MemoryRegion gone = b.domain.allocate(64, EnumSet.noneOf(Access.class));
        int lkey = gone.lkey();
        gone.close();
        try (SendBatch batch = b.queuePair.sendBatch()) {
            batch.write(1, a.memory.address(), a.memory.rkey()).sge(lkey, 0, 8);
            batch.submit();
        }
        expect(b, 1, WcStatus.LOC_PROT_ERR);
        assertThat(b.queuePair.state()).isEqualTo(QpState.ERR);
        b.memory.segment().fill((byte) 0x55);
        a.queuePair.postWrite(2, a.memory.slice(64, 64), b.memory.remote());
        expect(a, 2, WcStatus.RETRY_EXC_ERR);
        assertThat(b.memory.segment().asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0x55);
    }

    private void again() {
        a.queuePair.modify(new Transition.ToReset());
        b.queuePair.modify(new Transition.ToReset());
        connect();
    }
}
