package verbena.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The counters of one engine, or of one of its queue pairs. Only the engine counts; any thread may read and
/// sees values that are at most a moment old.
public final class EngineCounters {
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
    private static final PacketFate[] FATES = PacketFate.values();
    private static final Counter[] COUNTERS = Counter.values();

    private final @Nullable EngineCounters whole;
    private final long[] fates = new long[FATES.length];
    private final long[] counters = new long[COUNTERS.length];

    /// Creates counters that are all zero.
    public EngineCounters() {
        whole = null;
    }

    private EngineCounters(EngineCounters whole) {
        this.whole = whole;
    }

    /// Creates the counters of a part. What the part counts is counted here too, except by [#received] and
    /// [#sent].
    public EngineCounters part() {
        return new EngineCounters(this);
    }

    /// Counts one packet's fate. Only the engine calls it.
    public void count(PacketFate fate) {
        add(fates, fate.ordinal(), 1);
        if (whole != null) {
            whole.count(fate);
        }
    }

    /// Adds one to a counter. Only the engine calls it.
    public void count(Counter counter) {
        add(counter, 1);
    }

    /// Adds `n` to a counter. Only the engine calls it.
    public void add(Counter counter, long n) {
        add(counters, counter.ordinal(), n);
        if (whole != null) {
            whole.add(counter, n);
        }
    }

    /// Counts an arrival of a part; the engine counts it for the whole. Only the engine calls it.
    public void received(int bytes, PacketFate fate) {
        add(counters, Counter.RECEIVED_PACKETS.ordinal(), 1);
        add(counters, Counter.RECEIVED_BYTES.ordinal(), bytes);
        add(fates, fate.ordinal(), 1);
    }

    /// Counts a departure of a part; the engine counts it for the whole. Only the engine calls it.
    public void sent(int bytes) {
        add(counters, Counter.SENT_PACKETS.ordinal(), 1);
        add(counters, Counter.SENT_BYTES.ordinal(), bytes);
    }

    public long get(PacketFate fate) {
        return (long) CELL.getOpaque(fates, fate.ordinal());
    }

    public long get(Counter counter) {
        return (long) CELL.getOpaque(counters, counter.ordinal());
    }

    /// Returns all counters by name.
    public SortedMap<String, Long> snapshot() {
        var all = new TreeMap<String, Long>();
        for (PacketFate fate : FATES) {
            all.put(fate.label(), get(fate));
        }
        for (Counter counter : COUNTERS) {
            all.put(counter.label(), get(counter));
        }
        return all;
    }

    private static void add(long[] cells, int index, long n) {
        CELL.setOpaque(cells, index, (long) CELL.getOpaque(cells, index) + n);
    }
}
