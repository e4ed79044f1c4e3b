package verbena.verbs.cm;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.Counted;
import verbena.verbs.counting.ProcessCounters;

/// The counters of the connections of this process ([Connection]).
final class ConnectionCounters implements Counted {
    static final LongAdder CONNECTED = new LongAdder();
    static final LongAdder ACCEPTED = new LongAdder();
    /// Attempts of this side that made no connection.
    static final LongAdder REFUSED = new LongAdder();

    static final LongAdder CLOSED = new LongAdder();
    /// The closed connections that a failure had ended, and not one of the two programs.
    static final LongAdder FAILED = new LongAdder();

    static {
        ProcessCounters.of("Connections").add(new ConnectionCounters());
    }

    private ConnectionCounters() {}

    @Override
    public Map<String, Long> counters() {
        return Map.of(
                "connected", CONNECTED.sum(),
                "accepted", ACCEPTED.sum(),
                "not.connected", REFUSED.sum(),
                "closed", CLOSED.sum(),
                "failed", FAILED.sum());
    }

    @Override
    public Map<String, Long> gauges() {
        long closed = CLOSED.sum(); // first: what was closed was made before
        return Map.of("open", CONNECTED.sum() + ACCEPTED.sum() - closed);
    }
}
