package verbena.transport;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The counters of one engine, or of a part of it, a queue pair. Only the engine counts; any thread may read and
/// sees values that are at most a moment old.
public final class Counters {
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
    private static final PacketFate[] FATES = PacketFate.values();
    private static final Counter[] COUNTERS = Counter.values();

    private final @Nullable Counters whole;
    private final long[] fates = new long[FATES.length];
    private final long[] counters = new long[COUNTERS.length];

    /// All zero.
    public Counters() {
        whole = null;
    }

    private Counters(Counters whole) {
        this.whole = whole;
    }

    /// Counters of a part: what is counted here is counted in this too, but for [#received] and [#sent].
    public Counters part() {
        return new Counters(this);
    }

    /// Engine only: counts one packet's fate.
    public void count(PacketFate fate) {
        add(fates, fate.ordinal(), 1);
        if (whole != null) {
            whole.count(fate);
        }
    }

    /// Engine only: counts one.
    public void count(Counter counter) {
        add(counter, 1);
    }

    /// Engine only: counts several.
    public void add(Counter counter, long n) {
        add(counters, counter.ordinal(), n);
        if (whole != null) {
            whole.add(counter, n);
        }
    }

    /// Engine only: a packet that the whole has counted, or counts, by itself.
    public void received(int bytes, PacketFate fate) {
        add(counters, Counter.RECEIVED_PACKETS.ordinal(), 1);
        add(counters, Counter.RECEIVED_BYTES.ordinal(), bytes);
        add(fates, fate.ordinal(), 1);
    }

    /// Engine only: the same of one that leaves.
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

    /// All of them by name.
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
