package verbena.spark.read;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.spark.device.MapOutputTable;
import verbena.spark.map.MapOutput;

/// Indexes of map outputs that were read as a whole, up to a limit: where each partition begins, and where the last
/// one ends. All reduce tasks of an executor read the same outputs, so only the first one reads these. Any thread
/// may use it.
final class OutputIndexes {
    /// An output with more partitions has its index read by parts: a reducer needs two numbers of it.
    static final int PARTITIONS_MAX = 1_024;
    /// The limit of all indexes of a peer.
    static final long BYTES_MAX = 16L << 20;

    // Guarded by this.
    private final Map<MapOutputTable.Key, long[]> known = new HashMap<>();
    private long bytes;

    synchronized long @Nullable [] find(MapOutputTable.Key output) {
        return known.get(output);
    }

    /// Returns whether there is room for the index of an output.
    synchronized boolean hasRoom(int partitions) {
        return partitions <= PARTITIONS_MAX && bytes + MapOutput.indexBytes(partitions) <= BYTES_MAX;
    }

    synchronized void keep(MapOutputTable.Key output, long[] index) {
        if (hasRoom(index.length - 1) && known.putIfAbsent(output, index) == null) {
            bytes += MapOutput.indexBytes(index.length - 1);
        }
    }

    synchronized void forget(int shuffleId) {
        known.entrySet().removeIf(entry -> {
            boolean isOfShuffle = entry.getKey().shuffleId() == shuffleId;
            if (isOfShuffle) {
                bytes -= MapOutput.indexBytes(entry.getValue().length - 1);
            }
            return isOfShuffle;
        });
    }

    synchronized void clear() {
        known.clear();
        bytes = 0;
    }
}
