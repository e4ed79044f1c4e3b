package verbena.spark.read;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.spark.device.MapOutputTable;

/// The map outputs of a peer whose slots were read, and their indexes. An output never changes, and a later one has
/// another number. Any thread may use it.
final class KnownOutputs {
    private final Map<MapOutputTable.Key, MapOutputTable.Entry> entries = new ConcurrentHashMap<>();
    private final OutputIndexes indexes = new OutputIndexes();

    /// Finds the entry of an output; null when its slot was not read.
    MapOutputTable.@Nullable Entry find(MapOutputTable.Key output) {
        return entries.get(output);
    }

    void learn(MapOutputTable.Entry entry) {
        entries.put(new MapOutputTable.Key(entry.shuffleId(), entry.mapId()), entry);
    }

    /// Returns where partitions begin, as far as that is known.
    OutputIndexes indexes() {
        return indexes;
    }

    void forget(int shuffleId) {
        entries.keySet().removeIf(key -> key.shuffleId() == shuffleId);
        indexes.forget(shuffleId);
    }

    void clear() {
        entries.clear();
        indexes.clear();
    }
}
