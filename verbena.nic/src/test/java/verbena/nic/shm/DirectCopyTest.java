package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.transport.memory.Region;
import verbena.transport.near.PeerMemory.Progress;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;

/// What a direct request does to the memory on both sides.
class DirectCopyTest extends TwoProcesses {
    DirectCopyTest() {
        super(true);
    }

    @BeforeEach
    void grant() {
        ask(remote);
    }

    @AfterEach
    void close() {
        host.close();
    }

    /// Bytes of the peer's region that are not 0.
    private void assertOnly(long from, MemorySegment bytes) {
        MemorySegment memory = remote.memory();
        assertThat(memory.asSlice(from, bytes.byteSize()).mismatch(bytes)).isEqualTo(-1);
        memory.asSlice(from, bytes.byteSize()).fill((byte) 0);
        assertThat(memory.asSlice(0, 256).mismatch(MemorySegment.ofArray(new byte[256])))
                .isEqualTo(-1);
    }

    @Test
    void writesOfAllSizesAtAllAlignments() {
        for (int bytes = 1; bytes <= 40; bytes++) {
            for (int at = 0; at < 9; at++) {
                assertThat(qa.run(SendOperation.WRITE, local, remote, 64 + at, bytes))
                        .isEqualTo(Progress.DONE);
                assertOnly(64 + at, local.memory().asSlice(0, bytes));
            }
        }
    }

    @Test
    void readsOfAllSizesAtAllAlignments() {
        for (int i = 0; i < 128; i++) {
            remote.memory().set(ValueLayout.JAVA_BYTE, i, (byte) (100 + i));
        }
        for (int bytes = 1; bytes <= 40; bytes++) {
            for (int at = 0; at < 9; at++) {
                local.memory().fill((byte) 0);
                assertThat(qa.run(SendOperation.READ, local, remote, 64 + at, bytes))
                        .isEqualTo(Progress.DONE);
                assertThat(local.memory()
                                .asSlice(0, bytes)
                                .mismatch(remote.memory().asSlice(64 + at, bytes)))
                        .isEqualTo(-1);
                assertThat(local.memory().get(ValueLayout.JAVA_BYTE, bytes)).isZero();
            }
        }
    }

    /// Entries of 1, 10 and 30 bytes, of which the last 8 lie in one, and of 30, 5 and 6, of which they lie in two.
    @Test
    void entriesAreOneMessage() {
        for (int[] lengths : new int[][] {{1, 10, 30}, {30, 5, 6}}) {
            MemorySegment expected = host.arena.allocate(41);
            SharedHost.Request write = qa.request(SendOperation.WRITE, local, remote, 64, 0);
            SharedHost.Request read = qa.request(SendOperation.READ, local, remote, 64, 0);
            write.request().scatter.clear();
            int at = 0;
            for (int i = 0; i < lengths.length; i++) {
                write.request().scatter.add(local.key(), local.iova() + 1000L * i, lengths[i]);
                MemorySegment.copy(local.memory(), 1000L * i, expected, at, lengths[i]);
                at += lengths[i];
            }
            assertThat(write.run()).isEqualTo(Progress.DONE);
            assertThat(remote.memory().asSlice(64, 41).mismatch(expected)).isEqualTo(-1);
            SendRequest back = read.request();
            back.begin(SendOperation.READ, 2);
            back.rkey = remote.key();
            back.remoteAddress = remote.iova() + 64;
            back.scatter.add(local.key(), local.iova() + 5000, 20);
            back.scatter.add(local.key(), local.iova() + 6000, 21);
            assertThat(read.run()).isEqualTo(Progress.DONE);
            assertThat(local.memory().asSlice(5000, 20).mismatch(expected.asSlice(0, 20)))
                    .isEqualTo(-1);
            assertThat(local.memory().asSlice(6000, 21).mismatch(expected.asSlice(20, 21)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void inlineDataIsWritten() {
        for (int bytes : new int[] {1, 8, 20, 64}) {
            SharedHost.Request write = qa.request(SendOperation.WRITE, local, remote, 64, 0);
            write.request().isInline = true;
            write.request().inlineBytes = bytes;
            write.request().inline.copyFrom(local.memory().asSlice(100, 64));
            assertThat(write.run()).isEqualTo(Progress.DONE);
            assertOnly(64, local.memory().asSlice(100, bytes));
        }
    }

    /// The last bytes come with the last piece.
    @Test
    void longRequestsAreDoneInPieces() {
        int bytes = 2 * DirectCopy.PIECE_BYTES + 4;
        SharedHost.Request write = qa.request(SendOperation.WRITE, local, remote, 0, bytes);
        assertThat(write.run()).isEqualTo(Progress.MORE);
        MemorySegment there = remote.memory();
        assertThat(there.get(ValueLayout.JAVA_BYTE, DirectCopy.PIECE_BYTES)).isZero();
        assertThat(write.run()).isEqualTo(Progress.DONE);
        assertThat(there.asSlice(0, bytes).mismatch(local.memory().asSlice(0, bytes)))
                .isEqualTo(-1);
        assertThat(there.get(ValueLayout.JAVA_BYTE, bytes)).isZero();
        there.fill((byte) 3);
        SharedHost.Request read = qa.request(SendOperation.READ, local, remote, 0, bytes);
        assertThat(read.run()).isEqualTo(Progress.MORE);
        assertThat(read.run()).isEqualTo(Progress.MORE);
        assertThat(read.run()).isEqualTo(Progress.DONE);
        assertThat(local.memory().asSlice(0, bytes).mismatch(there.asSlice(0, bytes)))
                .isEqualTo(-1);
    }

    /// A choice whose next copy passes the caches.
    private static CopyChoice pastCaches() {
        var choice = new CopyChoice();
        while (!choice.isPast()) {
            if (choice.begin()) {
                choice.timed(1, 1);
            }
        }
        return choice;
    }

    /// At all alignments, of entries that do not end where units do.
    @Test
    void longWritesMayPassTheCaches() {
        var copy = new DirectCopy(() -> 0);
        MemorySegment there = remote.memory();
        for (int bytes : new int[] {CopyChoice.BYTES_MIN + 8, 20_000, 64 << 10}) {
            for (int at = 64; at < 64 + 128; at += 5) {
                there.fill((byte) 0);
                SendRequest request =
                        qa.request(SendOperation.WRITE, local, remote, at, 0).request();
                request.scatter.clear();
                request.scatter.add(local.key(), local.iova() + 3, 4_001);
                request.scatter.add(local.key(), local.iova() + 3 + 4_001, bytes - 4_001);
                assertThat(copy.execute(request, SharedHost.DOMAIN, a.memory, there, at, 0, pastCaches()))
                        .isEqualTo(Progress.DONE);
                assertThat(there.asSlice(at, bytes).mismatch(local.memory().asSlice(3, bytes)))
                        .isEqualTo(-1);
                assertThat(there.get(ValueLayout.JAVA_BYTE, at - 1)).isZero();
                assertThat(there.get(ValueLayout.JAVA_BYTE, at + bytes)).isZero();
            }
        }
    }

    /// It ends early, and would look fast.
    @Test
    void aCopyThatFailsIsNoSample() {
        var choice = new CopyChoice();
        var copy = new DirectCopy(() -> 0);
        SendRequest failing =
                qa.request(SendOperation.WRITE, local, remote, 0, 64 << 10).request();
        SendRequest working =
                qa.request(SendOperation.WRITE, local, remote, 0, 64 << 10).request();
        failing.scatter.clear();
        failing.scatter.add(~local.key(), local.iova(), 64 << 10);
        for (int i = 0; i < CopyChoice.PAUSE_MIN; i++) {
            assertThat(choice.begin()).isFalse();
        }
        for (int i = 0; i < CopyChoice.SAMPLES; i++) {
            assertThat(copy.execute(failing, SharedHost.DOMAIN, a.memory, remote.memory(), 0, 0, choice))
                    .isEqualTo(Progress.BY_PACKETS);
            assertThat(choice.isPast()).isFalse();
            assertThat(copy.execute(working, SharedHost.DOMAIN, a.memory, remote.memory(), 0, 0, choice))
                    .isEqualTo(Progress.DONE);
        }
        assertThat(choice.isPast()).isTrue();
    }

    /// A hostile peer may grant a right that the mapping has not.
    @Test
    void memoryThatIsMappedForReadingIsNotWrittenPastTheCaches() {
        SendRequest request =
                qa.request(SendOperation.WRITE, local, remote, 0, 64 << 10).request();
        MemorySegment there = remote.memory().asReadOnly();
        assertThat(new DirectCopy(() -> 0).execute(request, SharedHost.DOMAIN, a.memory, there, 0, 0, pastCaches()))
                .isEqualTo(Progress.BY_PACKETS);
    }

    @Test
    void aGrantThatEndsInTheMiddleDeclinesAndTheNextTryBeginsAtTheBeginning() {
        int bytes = 2 * DirectCopy.PIECE_BYTES;
        SharedHost.Request write = qa.request(SendOperation.WRITE, local, remote, 0, bytes);
        assertThat(write.run()).isEqualTo(Progress.MORE);
        b.memory.reregister(remote, SharedHost.DOMAIN, SharedHost.ALL);
        remote.memory().fill((byte) 0);
        assertThat(write.run()).isEqualTo(Progress.BY_PACKETS);
        assertThat(write.run()).as("asks again").isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(write.run()).isEqualTo(Progress.MORE);
        assertThat(write.run()).isEqualTo(Progress.DONE);
        assertThat(remote.memory().asSlice(0, bytes).mismatch(local.memory().asSlice(0, bytes)))
                .isEqualTo(-1);
    }

    // ---- atomics

    private SharedHost.Request atomic(SendOperation operation, long offset, long operand, long swap) {
        SharedHost.Request atomic = qa.request(operation, local, remote, offset, 8);
        atomic.request().operand = operand;
        atomic.request().swap = swap;
        return atomic;
    }

    @Test
    void atomicsGiveBackWhatWasThere() {
        MemorySegment there = remote.memory();
        there.set(ValueLayout.JAVA_LONG, 64, 40);
        assertThat(atomic(SendOperation.FETCH_ADD, 64, 2, 0).run()).isEqualTo(Progress.DONE);
        assertThat(local.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
        assertThat(atomic(SendOperation.COMPARE_SWAP, 64, 41, 99).run()).isEqualTo(Progress.DONE);
        assertThat(local.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        assertThat(there.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(42);
        assertThat(atomic(SendOperation.COMPARE_SWAP, 64, 42, 99).run()).isEqualTo(Progress.DONE);
        assertThat(there.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(99);
        assertThat(atomic(SendOperation.ATOMIC_WRITE, 72, 5, 0).run()).isEqualTo(Progress.DONE);
        assertThat(there.get(ValueLayout.JAVA_LONG, 72)).isEqualTo(5);
    }

    @Test
    void atomicsThatAreNotAlignedGoByPackets() {
        for (SendOperation operation :
                new SendOperation[] {SendOperation.FETCH_ADD, SendOperation.COMPARE_SWAP, SendOperation.ATOMIC_WRITE}) {
            assertThat(atomic(operation, 65, 2, 0).run()).isEqualTo(Progress.BY_PACKETS);
        }
        Region odd = b.register(b.allocate(100, true).asSlice(1), SharedHost.ALL);
        assertThat(qa.run(SendOperation.FETCH_ADD, local, odd, 7, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
        assertThat(qa.run(SendOperation.FETCH_ADD, local, odd, 7, 8)).isEqualTo(Progress.DONE);
        assertThat(qa.run(SendOperation.FETCH_ADD, local, odd, 8, 8)).isEqualTo(Progress.BY_PACKETS);
        assertThat(remote.memory().asSlice(0, 256).mismatch(MemorySegment.ofArray(new byte[256])))
                .isEqualTo(-1);
    }

    @Test
    void anAtomicWithoutAPlaceForItsResultIsNotCarriedOut() {
        SharedHost.Request atomic = atomic(SendOperation.FETCH_ADD, 64, 2, 0);
        assertThat(a.memory.remove(local)).isTrue();
        assertThat(atomic.run()).isEqualTo(Progress.BY_PACKETS);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG, 64)).isZero();
    }

    // ---- memory that goes away

    @Test
    void memoryOfThisSideThatIsFreedGoesByPackets() {
        for (SendOperation operation :
                new SendOperation[] {SendOperation.WRITE, SendOperation.READ, SendOperation.FETCH_ADD}) {
            Arena closing = Arena.ofShared();
            Region region = a.register(closing.allocate(100, 8), SharedHost.ALL);
            SharedHost.Request request = qa.request(operation, region, remote, 64, 8);
            closing.close();
            assertThat(request.run()).isEqualTo(Progress.BY_PACKETS);
        }
        assertThat(GrantPage.isBusy(a.ownPage(b.slot), 1))
                .as("nothing is left busy")
                .isFalse();
        assertThat(remote.memory().asSlice(0, 256).mismatch(MemorySegment.ofArray(new byte[256])))
                .isEqualTo(-1);
    }

    // ---- cost

    @Test
    void noRequestAllocates() {
        assertAllocateNothing(
                qa.request(SendOperation.WRITE, local, remote, 64, 8),
                qa.request(SendOperation.WRITE, local, remote, 64, 100),
                qa.request(SendOperation.READ, local, remote, 64, 100),
                atomic(SendOperation.FETCH_ADD, 64, 2, 0));
    }
}
