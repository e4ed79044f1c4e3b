package verbena.spark.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import verbena.verbs.RemoteMemory;

class MapOutputTableTest {
    private final MemorySegment memory = Arena.ofAuto().allocate(64L * MapOutputTable.SLOT_BYTES, Long.BYTES);
    private final MapOutputTable table = new MapOutputTable(memory);

    private static MapOutputTable.Entry entry(int shuffle, long map) {
        return new MapOutputTable.Entry(shuffle, map, 3, new RemoteMemory(0x1234_5678_9ABCL + map, 7, 100 + map), -9);
    }

    /// Looks as a reader does: bucket after bucket.
    private static MapOutputTable.@Nullable Entry look(MemorySegment memory, int shuffle, long map) {
        for (int probe = 0; probe < MapOutputTable.PROBES; probe++) {
            long at = MapOutputTable.bucketOffset(memory.byteSize(), shuffle, map, probe);
            MapOutputTable.Entry found =
                    MapOutputTable.look(memory.asSlice(at, MapOutputTable.BUCKET_BYTES), shuffle, map);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    @Test
    void aReaderFindsWhatWasAdded() {
        assertThat(table.add(entry(4, 11))).isTrue();
        MapOutputTable.Entry found = look(memory, 4, 11);
        assertThat(found).isEqualTo(entry(4, 11));
        assertThat(look(memory, 4, 12)).isNull();
        assertThat(look(memory, 5, 11)).isNull();
    }

    @Test
    void aReaderFindsNothingAfterARemoval() {
        table.add(entry(4, 11));
        table.remove(entry(4, 11));
        assertThat(look(memory, 4, 11)).isNull();
    }

    @Test
    void aSlotThatWasRemovedIsFreeAgain() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(table.add(entry(1, i))).isTrue();
            table.remove(entry(1, i));
        }
    }

    @Test
    void aFullTableRefusesAndKeepsWhatItHas() {
        List<MapOutputTable.Entry> kept = new ArrayList<>();
        for (long map = 0; map < 200; map++) {
            if (table.add(entry(2, map))) {
                kept.add(entry(2, map));
            }
        }
        assertThat(kept).hasSizeBetween(32, 64);
        for (MapOutputTable.Entry each : kept) {
            assertThat(look(memory, 2, each.mapId())).isEqualTo(each);
        }
    }

    @Test
    void aSlotWithADamagedFieldIsTakenForNone() {
        table.add(entry(4, 11));
        var random = new SplittableRandom(1);
        for (int i = 0; i < 1_000; i++) {
            MemorySegment copy =
                    Arena.ofAuto().allocate(memory.byteSize(), Long.BYTES).copyFrom(memory);
            long bucket = MapOutputTable.bucketOffset(memory.byteSize(), 4, 11, 0);
            long at = bucket + random.nextInt(5 * Long.BYTES);
            copy.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
            MapOutputTable.Entry found = look(copy, 4, 11);
            if (found != null) {
                assertThat(found).isEqualTo(entry(4, 11));
            }
        }
    }
}
