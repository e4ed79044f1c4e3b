package verbena.spark.device;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.Counted;

/// Counters of an executor since its first shuffle. Any thread may count.
public final class ReadCounters implements Counted {
    private final LongAdder outputsInMemory = new LongAdder();
    private final LongAdder outputsInFiles = new LongAdder();
    public final LongAdder blocksByRead = new LongAdder();
    public final LongAdder bytesByRead = new LongAdder();
    public final LongAdder bytesWithinHost = new LongAdder();
    public final LongAdder blocksByTransport = new LongAdder();
    public final LongAdder bytesByTransport = new LongAdder();
    public final LongAdder connections = new LongAdder();
    public final LongAdder failures = new LongAdder();

    /// Counts a map output that is complete.
    ///
    /// @param lengths of its partitions, in bytes
    public void output(int shuffleId, long mapId, long[] lengths, boolean isInMemory) {
        (isInMemory ? outputsInMemory : outputsInFiles).increment();
        if (ShuffleEvents.isOn()) {
            ShuffleEvents.MapOutput.commit(
                    shuffleId, mapId, Arrays.stream(lengths).sum(), isInMemory);
        }
    }

    @Override
    public Map<String, Long> counters() {
        var all = new LinkedHashMap<String, Long>();
        all.put("outputs.memory", outputsInMemory.sum());
        all.put("outputs.files", outputsInFiles.sum());
        all.put("blocks.read", blocksByRead.sum());
        all.put("bytes.read", bytesByRead.sum());
        all.put("bytes.read.host", bytesWithinHost.sum());
        all.put("blocks.transport", blocksByTransport.sum());
        all.put("bytes.transport", bytesByTransport.sum());
        all.put("connections", connections.sum());
        all.put("failures", failures.sum());
        return all;
    }
}
