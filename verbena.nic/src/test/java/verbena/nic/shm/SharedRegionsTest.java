package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.foreign.linux.MemoryFile;
import verbena.provider.Slabs;
import verbena.verbs.Access;

/// The kernel's memory files, as grants know them.
class SharedRegionsTest {
    @BeforeEach
    void linuxOnly() {
        Assumptions.assumeTrue(MemoryFile.unavailable() == null, MemoryFile.unavailable());
    }

    @Test
    void aRegionIsFoundSharedAndMapped() {
        try (var regions = new RegionFiles();
                Arena arena = Arena.ofShared()) {
            var files = new SharedRegions(regions);
            Slabs.Piece piece = regions.allocate(1000, Access.remoteAll());
            Slabs.Piece another = regions.allocate(1000, EnumSet.of(Access.REMOTE_READ));
            MemorySegment memory = piece.segment();
            MemoryFiles.Place place = files.find(memory.address(), 1000);
            MemoryFiles.Place readable = files.find(another.segment().address(), 1000);
            assertThat(place).isNotNull();
            assertThat(place.file().isWritable()).isTrue();
            assertThat(readable).isNotNull();
            assertThat(readable.file().isWritable()).isFalse();
            assertThat(readable.file().number()).isNotEqualTo(place.file().number());
            assertThat(files.find(memory.address() + 8, 8))
                    .isEqualTo(new MemoryFiles.Place(place.file(), place.offset() + 8));
            int descriptor = place.file().share();
            MemorySegment mapped = files.map(descriptor, place.file().bytes(), true, arena);
            files.close(descriptor);
            mapped.set(ValueLayout.JAVA_LONG, place.offset(), 42);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
            int forReading = readable.file().share();
            assertThat(files.map(forReading, readable.file().bytes(), true, arena))
                    .isEqualTo(MemorySegment.NULL);
            files.close(forReading);
            assertThat(files.find(arena.allocate(8).address(), 8)).isNull();
        }
    }
}
