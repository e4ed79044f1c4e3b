package dev.verbena.spark;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/// What an executor has counted since its first shuffle. Any thread may count.
final class ReadCounters {
    final LongAdder outputsInMemory = new LongAdder();
    final LongAdder outputsInFiles = new LongAdder();
    final LongAdder blocksByRead = new LongAdder();
    final LongAdder bytesByRead = new LongAdder();
    final LongAdder bytesWithinHost = new LongAdder();
    final LongAdder blocksByTransport = new LongAdder();
    final LongAdder bytesByTransport = new LongAdder();
    final LongAdder connections = new LongAdder();
    final LongAdder failures = new LongAdder();

    Map<String, Long> now() {
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
