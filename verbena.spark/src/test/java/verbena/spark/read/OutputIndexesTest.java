package verbena.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.spark.device.MapOutputTable;
import verbena.spark.map.MapOutput;

class OutputIndexesTest {
    private final OutputIndexes indexes = new OutputIndexes();

    private static MapOutputTable.Key key(int shuffle, long map) {
        return new MapOutputTable.Key(shuffle, map);
    }

    @Test
    void moreThanTheLimitIsNotKeptUntilAShuffleIsForgotten() {
        int partitions = OutputIndexes.PARTITIONS_MAX;
        long each = MapOutput.indexBytes(partitions);
        int kept = 0;
        for (int map = 0; map * each < OutputIndexes.BYTES_MAX + 2 * each; map++) {
            indexes.keep(key(map % 2, map), new long[partitions + 1]);
            kept += indexes.find(key(map % 2, map)) == null ? 0 : 1;
        }
        assertThat(kept * each).isBetween(OutputIndexes.BYTES_MAX - each + 1, OutputIndexes.BYTES_MAX);
        assertThat(indexes.hasRoom(partitions)).isFalse();
        indexes.forget(1);
        assertThat(indexes.hasRoom(partitions)).isTrue();
        assertThat(indexes.find(key(0, 0))).isNotNull();
        assertThat(indexes.find(key(1, 1))).isNull();
        indexes.clear();
        assertThat(indexes.find(key(0, 0))).isNull();
    }

    @Test
    void aLongIndexIsNotKept() {
        assertThat(indexes.hasRoom(OutputIndexes.PARTITIONS_MAX)).isTrue();
        assertThat(indexes.hasRoom(OutputIndexes.PARTITIONS_MAX + 1)).isFalse();
        indexes.keep(key(0, 0), new long[OutputIndexes.PARTITIONS_MAX + 2]);
        assertThat(indexes.find(key(0, 0))).isNull();
    }

    @Test
    void anIndexThatTwoTasksHaveReadCountsOnce() {
        for (int i = 0; i < 2 * OutputIndexes.BYTES_MAX / Long.BYTES / OutputIndexes.PARTITIONS_MAX; i++) {
            indexes.keep(key(0, 0), new long[OutputIndexes.PARTITIONS_MAX + 1]);
        }
        assertThat(indexes.hasRoom(OutputIndexes.PARTITIONS_MAX)).isTrue();
    }
}
