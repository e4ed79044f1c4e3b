package verbena.nic.shm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.verbs.Access.FLUSH_GLOBAL;
import static verbena.verbs.Access.LOCAL_WRITE;
import static verbena.verbs.Access.MW_BIND;
import static verbena.verbs.Access.REMOTE_ATOMIC;
import static verbena.verbs.Access.REMOTE_READ;
import static verbena.verbs.Access.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.MemoryFile;
import verbena.provider.Slabs.Piece;
import verbena.verbs.Access;
import verbena.verbs.ResourceLimitException;

@EnabledOnOs(value = OS.LINUX, disabledReason = "memory files are Linux's")
class RegionFilesTest {
    private static final Set<Access> READ = Set.of(LOCAL_WRITE, REMOTE_READ);
    private static final Set<Access> WRITE = Set.of(LOCAL_WRITE, REMOTE_WRITE);
    private static final int LARGE = 100_000;

    private final RegionFiles files = new RegionFiles();
    private final Arena peer = Arena.ofShared();

    @BeforeEach
    void areThere() {
        String unavailable = MemoryFile.unavailable();
        assumeTrue(unavailable == null, unavailable);
    }

    @AfterEach
    void close() {
        files.close();
        peer.close();
    }

    @Test
    void theRightsOfARegionDecideWhatPeersMayMap() {
        assertThat(placeOf(Set.of())).isNull();
        assertThat(placeOf(Set.of(LOCAL_WRITE))).isNull();
        assertThat(placeOf(Set.of(LOCAL_WRITE, FLUSH_GLOBAL))).isNull();

        assertThat(placeOf(Set.of(REMOTE_READ)).file().isWritable()).isFalse();
        assertThat(placeOf(READ).file().isWritable()).isFalse();
        assertThat(placeOf(Set.of(MW_BIND)).file().isWritable()).isFalse();

        assertThat(placeOf(WRITE).file().isWritable()).isTrue();
        assertThat(placeOf(Set.of(LOCAL_WRITE, REMOTE_ATOMIC)).file().isWritable())
                .isTrue();
        assertThat(placeOf(Set.of(LOCAL_WRITE, MW_BIND)).file().isWritable()).isTrue();
        assertThat(placeOf(Access.remoteAll()).file().isWritable()).isTrue();
    }

    private RegionFiles.Place placeOf(Set<Access> access) {
        RegionFiles.Place small = place(files.allocate(100, access));
        RegionFiles.Place large = place(files.allocate(LARGE, access));
        assertThat(large == null).isEqualTo(small == null);
        if (large != null) {
            assertThat(large.file().isWritable()).isEqualTo(small.file().isWritable());
        }
        return small;
    }

    @Test
    void smallPiecesOfOneClassShareAFileAndThoseOfTwoDoNot() {
        RegionFiles.Place one = place(files.allocate(100, READ));
        RegionFiles.Place other = place(files.allocate(60, READ));
        RegionFiles.Place written = place(files.allocate(100, WRITE));
        assertThat(other.file()).isSameAs(one.file());
        assertThat(other.offset()).isNotEqualTo(one.offset());
        assertThat(written.file()).isNotSameAs(one.file());
    }

    @Test
    void aPeerFindsARegionAtItsOffset() {
        files.allocate(100, WRITE);
        for (Piece piece : List.of(files.allocate(200, WRITE), files.allocate(LARGE, WRITE))) {
            RegionFiles.Place place = place(piece);
            MemorySegment theirs = mapped(place.file());
            long last = piece.segment().byteSize() - 1;
            theirs.set(JAVA_BYTE, place.offset(), (byte) 1);
            theirs.set(JAVA_BYTE, place.offset() + last, (byte) 2);
            assertThat(piece.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 1);
            assertThat(piece.segment().get(JAVA_BYTE, last)).isEqualTo((byte) 2);
        }
    }

    @Test
    void onlyMemoryThatLiesInAFileAsAWholeIsFound() {
        MemorySegment memory = files.allocate(LARGE, WRITE).segment();
        long address = memory.address();
        assertThat(files.find(address, LARGE).offset()).isZero();
        assertThat(files.find(address + 10, LARGE - 10).offset()).isEqualTo(10);
        assertThat(files.find(address + LARGE - 1, 1).offset()).isEqualTo(LARGE - 1);
        assertThat(files.find(address + 1, LARGE)).isNull();
        assertThat(files.find(address - 1, 2)).isNull();
        assertThat(files.find(address + LARGE, 1)).isNull();
        assertThat(files.find(address, Long.MAX_VALUE)).isNull();
        assertThat(files.find(address, -1)).isNull();
        assertThat(files.find(0, 1)).isNull();
        assertThat(files.find(Long.MIN_VALUE, 1)).isNull();
        assertThat(files.find(Long.MAX_VALUE, Long.MAX_VALUE)).isNull();
        assertThat(files.find(peer.allocate(64).address(), 64)).isNull();
    }

    @Test
    void memoryThatIsGivenOutAgainIsZero() {
        Piece piece = files.allocate(1_000, WRITE);
        RegionFiles.Place place = place(piece);
        mapped(place.file()).asSlice(place.offset(), 1_000).fill((byte) 7);
        assertThat(piece.segment().get(JAVA_BYTE, 999)).isEqualTo((byte) 7);
        piece.free().run();

        Piece again = files.allocate(1_000, WRITE);
        assertThat(again.segment().address()).isEqualTo(piece.segment().address());
        assertThat(again.segment().mismatch(MemorySegment.ofArray(new byte[1_000])))
                .isEqualTo(-1);
    }

    @Test
    void theFileOfALargeRegionGoesWithIt() {
        Piece piece = files.allocate(LARGE, WRITE);
        MemorySegment memory = piece.segment();
        RegionFiles.Place place = place(piece);
        piece.free().run();
        assertThat(files.find(memory.address(), 1)).isNull();
        assertThat(place.file().share()).isEqualTo(-LinuxAbi.EBADF);
        assertThatThrownBy(() -> memory.get(JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aClosedDeviceSharesNoFileAndItsMemoryStays() {
        MemorySegment memory = files.allocate(100, WRITE).segment();
        MemoryFile file = files.find(memory.address(), 100).file();
        files.close();
        assertThat(file.share()).isEqualTo(-LinuxAbi.EBADF);
        memory.set(JAVA_LONG, 0, 1);
    }

    @Test
    void withoutMemoryFilesRegionsHaveOrdinaryMemory() {
        var asked = new AtomicInteger();
        try (var none = new RegionFiles((bytes, _, _) -> {
            asked.incrementAndGet();
            throw new IOException("memory file of " + bytes + " bytes: memfd_create: Too many open files, errno 24");
        })) {
            for (int bytes : new int[] {100, LARGE}) {
                Piece piece = none.allocate(bytes, WRITE);
                piece.segment().set(JAVA_LONG, 0, 1);
                assertThat(none.find(piece.segment().address(), bytes)).isNull();
                piece.free().run();
            }
        }
        assertThat(asked).hasValue(2);
    }

    @Test
    void moreThanTheHostHasIsALimit() {
        assertThatThrownBy(() -> files.allocate(1L << 62, WRITE)).isInstanceOf(ResourceLimitException.class);
        assertThatThrownBy(() -> files.allocate(0, WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("allocate: bytes: at least 1, got 0");
    }

    /// Two threads allocate and free; each finds its own and nothing else's, though addresses are used anew.
    @Test
    void threadsFindTheirOwn() throws Exception {
        try (var threads = Executors.newFixedThreadPool(2)) {
            var results = new ArrayList<Callable<Boolean>>();
            for (int thread = 0; thread < 2; thread++) {
                boolean isWritable = thread == 0;
                results.add(() -> allAreFound(isWritable));
            }
            for (var result : threads.invokeAll(results)) {
                assertThat(result.get()).isTrue();
            }
        }
    }

    private boolean allAreFound(boolean isWritable) {
        for (int i = 0; i < 300; i++) {
            int bytes = i % 3 == 0 ? 4_096 : LARGE + i;
            Piece piece = files.allocate(bytes, isWritable ? WRITE : READ);
            RegionFiles.Place place = place(piece);
            long address = place.file().memory().address() + place.offset();
            if (place.file().isWritable() != isWritable
                    || address != piece.segment().address()) {
                return false;
            }
            piece.free().run();
        }
        return true;
    }

    private RegionFiles.Place place(Piece piece) {
        return files.find(piece.segment().address(), piece.segment().byteSize());
    }

    private MemorySegment mapped(MemoryFile file) {
        int fd = file.share();
        MemoryFile.Mapping mapping = MemoryFile.map(fd, file.bytes(), true, peer);
        LinuxSockets.close(fd);
        assertThat(mapping.refusal()).isNull();
        return mapping.memory();
    }
}
