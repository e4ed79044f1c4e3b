package verbena.stream;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.Counted;
import verbena.verbs.counting.ProcessCounters;

/// The counters of the streams of this process, those of `verbena.nio` and `verbena.netty` included.
final class StreamCounters implements Counted {
    static final LongAdder OPENED = new LongAdder();
    static final LongAdder CLOSED = new LongAdder();
    /// The closed streams that a failure had ended before the peer announced its end.
    static final LongAdder FAILED = new LongAdder();

    static final LongAdder IN = new LongAdder();
    static final LongAdder OUT = new LongAdder();

    static {
        ProcessCounters.of("Streams").add(new StreamCounters());
    }

    private StreamCounters() {}

    @Override
    public Map<String, Long> counters() {
        return Map.of(
                "opened", OPENED.sum(),
                "closed", CLOSED.sum(),
                "failed", FAILED.sum(),
                "in.bytes", IN.sum(),
                "out.bytes", OUT.sum());
    }

    @Override
    public Map<String, Long> gauges() {
        long closed = CLOSED.sum(); // first: what was closed was opened before
        return Map.of("open", OPENED.sum() - closed);
    }
}
