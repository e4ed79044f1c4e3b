package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import verbena.foreign.SystemFunction;
import verbena.nic.shm.GrantMessage.Kind;
import verbena.transport.memory.Region;
import verbena.transport.near.PeerMemory.Progress;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;

/// Memory of the peer that is in no file: the kernel copies. Both processes of a test are this one.
@EnabledOnOs(value = OS.LINUX, disabledReason = "process_vm_writev")
class ProcessCopyTest extends TwoProcesses {
    ProcessCopyTest() {
        super(false);
    }

    private void assumeAllowed() {
        ask(remote);
        Progress progress = qa.run(SendOperation.WRITE, local, remote, BYTES - 8, 8);
        assumeTrue(progress == Progress.DONE_BY_SYSTEM, "the kernel forbids it");
        remote.memory().fill((byte) 0);
    }

    @AfterEach
    void close() {
        assertThat(host.open()).as("descriptors left open").isZero();
        assertThat(a.mapped).isZero();
        host.close();
    }

    @Test
    void writesAndReadsOfAllSizesAtAllAlignments() {
        assumeAllowed();
        MemorySegment there = remote.memory();
        for (int bytes : new int[] {1, 2, 7, 8, 9, 16, 17, 100, 4096, 4097, 70_000}) {
            for (int at = 4090; at < 4100; at++) {
                assertThat(qa.run(SendOperation.WRITE, local, remote, at, bytes))
                        .isEqualTo(Progress.DONE_BY_SYSTEM);
                MemorySegment sent = local.memory().asSlice(0, bytes);
                assertThat(there.asSlice(at, bytes).mismatch(sent)).isEqualTo(-1);
                assertThat(there.get(ValueLayout.JAVA_BYTE, at - 1L)).isZero();
                assertThat(there.get(ValueLayout.JAVA_BYTE, (long) at + bytes)).isZero();
                assertThat(qa.run(SendOperation.READ, local, remote, at + 1, bytes))
                        .isEqualTo(Progress.DONE_BY_SYSTEM);
                assertThat(local.memory().asSlice(0, bytes).mismatch(there.asSlice(at + 1, bytes)))
                        .isEqualTo(-1);
                assertThat(qa.run(SendOperation.WRITE, local, remote, at + 1, bytes))
                        .isEqualTo(Progress.DONE_BY_SYSTEM);
                there.asSlice(at, bytes + 1L).fill((byte) 0);
            }
        }
    }

    /// One call takes three entries, so seven need three; the last 8 bytes lie in two.
    @Test
    void entriesAreOneMessage() {
        assumeAllowed();
        MemorySegment expected = host.arena.allocate(7 * 21);
        SendRequest write = new SendQueue(1, 8, 64, host.arena).claim();
        write.begin(SendOperation.WRITE, 1);
        write.rkey = remote.key();
        write.remoteAddress = remote.iova() + 64;
        int at = 0;
        for (int i = 0; i < 7; i++) {
            int bytes = i == 6 ? 3 : 21;
            write.scatter.add(local.key(), local.iova() + 1000L * i, bytes);
            MemorySegment.copy(local.memory(), 1000L * i, expected, at, bytes);
            at += bytes;
        }
        var request = new SharedHost.Request(qa, write, 1000);
        assertThat(request.run()).isEqualTo(Progress.MORE);
        assertThat(request.run()).isEqualTo(Progress.MORE);
        assertThat(request.run()).isEqualTo(Progress.DONE_BY_SYSTEM);
        assertThat(remote.memory().asSlice(64, at).mismatch(expected.asSlice(0, at)))
                .isEqualTo(-1);
        assertThat(remote.memory().get(ValueLayout.JAVA_BYTE, 64L + at)).isZero();
    }

    @Test
    void inlineDataIsWritten() {
        assumeAllowed();
        for (int bytes : new int[] {1, 8, 20, 64}) {
            SharedHost.Request write = qa.request(SendOperation.WRITE, local, remote, 64, 0);
            write.request().isInline = true;
            write.request().inlineBytes = bytes;
            write.request().inline.copyFrom(local.memory().asSlice(100, 64));
            assertThat(write.run()).isEqualTo(Progress.DONE_BY_SYSTEM);
            assertThat(remote.memory()
                            .asSlice(64, bytes)
                            .mismatch(local.memory().asSlice(100, bytes)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void longRequestsAreDoneInPieces() {
        assumeAllowed();
        int bytes = 2 * DirectCopy.PIECE_BYTES + 4;
        SharedHost.Request write = qa.request(SendOperation.WRITE, local, remote, 0, bytes);
        assertThat(write.run()).isEqualTo(Progress.MORE);
        assertThat(write.run()).isEqualTo(Progress.MORE);
        assertThat(write.run()).isEqualTo(Progress.DONE_BY_SYSTEM);
        MemorySegment there = remote.memory();
        assertThat(there.asSlice(0, bytes).mismatch(local.memory().asSlice(0, bytes)))
                .isEqualTo(-1);
        assertThat(there.get(ValueLayout.JAVA_BYTE, bytes)).isZero();
    }

    @Test
    void atomicsGoByPackets() {
        assumeAllowed();
        for (SendOperation operation :
                new SendOperation[] {SendOperation.FETCH_ADD, SendOperation.COMPARE_SWAP, SendOperation.ATOMIC_WRITE}) {
            SharedHost.Request atomic = qa.request(operation, local, remote, 64, 8);
            atomic.request().operand = 5;
            assertThat(atomic.run()).isEqualTo(Progress.BY_PACKETS);
        }
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 64)).isZero();
        assertThat(qa.run(SendOperation.READ, local, remote, 64, 8)).isEqualTo(Progress.DONE_BY_SYSTEM);
    }

    @Test
    void afterTheRegionIsClosedNothingIsWritten() {
        assumeAllowed();
        assertThat(b.memory.remove(remote)).isTrue();
        assertThat(qa.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 0)).isZero();
    }

    // ---- which memory

    @Test
    void memoryThatMayBeFreedAtAnyMomentIsNotGranted() {
        Region freeable = b.register(host.arena.allocate(100, 8), SharedHost.ALL);
        ask(freeable);
        assertThat(qa.run(SendOperation.WRITE, local, freeable, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(b.access.givenNow()).isZero();
        Region lasting = b.register(Arena.global().allocate(100, 8), SharedHost.ALL);
        ask(lasting);
        assertThat(b.access.givenNow()).isEqualTo(1);
    }

    /// Where the file ends, there is no memory; what comes before is.
    @Test
    void memoryThatHasGoneIsLeftToTheOwner(@TempDir Path folder) throws IOException {
        assumeAllowed();
        try (FileChannel file = FileChannel.open(
                folder.resolve("mapped"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, 8192, Arena.ofAuto());
            Region mapped = b.register(memory, SharedHost.ALL);
            ask(mapped);
            assertThat(qa.run(SendOperation.WRITE, local, mapped, 0, 8192)).isEqualTo(Progress.DONE_BY_SYSTEM);
            file.truncate(4096);
            for (SendOperation operation : new SendOperation[] {SendOperation.WRITE, SendOperation.READ}) {
                assertThat(qa.run(operation, local, mapped, 0, 8192)).isEqualTo(Progress.BY_PACKETS);
                assertThat(qa.run(operation, local, mapped, 4096, 8)).isEqualTo(Progress.BY_PACKETS);
                assertThat(qa.run(operation, local, mapped, 0, 4096)).isEqualTo(Progress.DONE_BY_SYSTEM);
            }
        }
    }

    @Test
    void memoryOfThisSideThatIsFreedGoesByPackets() {
        assumeAllowed();
        for (SendOperation operation : new SendOperation[] {SendOperation.WRITE, SendOperation.READ}) {
            Arena closing = Arena.ofShared();
            Region region = a.register(closing.allocate(100, 8), SharedHost.ALL);
            SharedHost.Request request = qa.request(operation, region, remote, 64, 8);
            closing.close();
            assertThat(request.run()).isEqualTo(Progress.BY_PACKETS);
        }
        assertThat(GrantPage.isBusy(a.ownPage(b.slot), 1))
                .as("nothing is left busy")
                .isFalse();
        assertThat(qa.run(SendOperation.READ, local, remote, 64, 8)).isEqualTo(Progress.DONE_BY_SYSTEM);
    }

    // ---- refusals

    private long asked() {
        return b.heard.stream().filter(each -> each == Kind.ASKED).count();
    }

    private void isLeftAloneFromNowOn() {
        assertThat(qa.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(b.heard).contains(Kind.RETURNED);
        assertThat(b.access.givenNow()).isZero();
        long asked = asked();
        for (int i = 0; i < 10; i++) {
            assertThat(qa.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
            host.settle();
        }
        assertThat(asked()).isEqualTo(asked);
        b.number = (int) ProcessHandle.current().pid(); // no more than the first answer counts
        host.pass(GrantsHeld.USELESS_NANOS);
        ask(remote);
        assertThat(qa.run(SendOperation.WRITE, local, remote, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 0)).isZero();
        Region inFile = b.region(100);
        ask(inFile);
        assertThat(qa.run(SendOperation.WRITE, local, inFile, 0, 8)).isEqualTo(Progress.DONE);
        assertThat(b.memory.remove(inFile)).isTrue();
        host.settle();
    }

    @Test
    void aProcessThatIsNotThereIsAskedForOnce() {
        b.number = Integer.MAX_VALUE;
        ask(remote);
        isLeftAloneFromNowOn();
    }

    @Test
    void aProcessInAnotherNamespaceIsNotAskedFor() {
        b.number = 0;
        ask(remote);
        isLeftAloneFromNowOn();
    }

    /// The first process of the system has more rights than a thread without capabilities.
    @Test
    void aProcessThatTheKernelProtectsIsAskedForOnce() throws Exception {
        b.number = 1;
        var task = new FutureTask<>(
                () -> {
                    dropCapabilities();
                    ask(remote);
                    isLeftAloneFromNowOn();
                },
                true);
        Thread.ofPlatform().start(task);
        assertThat(task.get()).isTrue();
    }

    /// Those of the calling thread alone (capset(2)).
    private static void dropCapabilities() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment header = scratch.allocate(ValueLayout.JAVA_INT, 2);
            header.set(ValueLayout.JAVA_INT, 0, 0x2008_0522); // the version whose sets have 64 bits
            MemorySegment sets = scratch.allocate(ValueLayout.JAVA_INT, 6);
            assertThat(SystemFunction.named("capset").call(header.address(), sets.address()))
                    .isZero();
        }
    }

    // ---- cost

    @Test
    void noRequestAllocates() {
        assumeAllowed();
        assertAllocateNothing(
                qa.request(SendOperation.WRITE, local, remote, 64, 8),
                qa.request(SendOperation.WRITE, local, remote, 64, 100),
                qa.request(SendOperation.READ, local, remote, 64, 100));
    }
}
