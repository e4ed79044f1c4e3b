package verbena.provider;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import verbena.verbs.QueuePair;

/// The open queue pairs of a device by their numbers ([verbena.verbs.Context#queuePair]). Any thread. Finding one
/// takes no lock and allocates nothing, unlike in a map of the JDK, whose keys are objects.
public final class QueuePairTable {
    private static final int SMALLEST = 16;
    /// The place of a queue pair that was removed. A search for another one goes on behind it.
    private static final Object GONE = new Object();

    /// A power of two places, at most half of them taken: a queue pair lies at the first free place from that of
    /// its number on. Replaced as a whole when too many places are taken.
    private volatile AtomicReferenceArray<Object> table = new AtomicReferenceArray<>(SMALLEST);

    // Guarded by this.
    /// Places that are not free, those of [#GONE] included.
    private int taken;
    private int count;

    /// Creates a table without queue pairs.
    public QueuePairTable() {}

    /// Returns the queue pair of a number; null when none has it.
    public @Nullable QueuePair get(int qpn) {
        AtomicReferenceArray<Object> in = table;
        int mask = in.length() - 1;
        for (int i = qpn & mask; ; i = (i + 1) & mask) {
            Object there = in.getAcquire(i);
            if (there == null) {
                return null;
            }
            if (there instanceof QueuePair queuePair && queuePair.qpn() == qpn) {
                return queuePair;
            }
        }
    }

    /// Adds a queue pair, whose number no other one has.
    public synchronized void add(QueuePair queuePair) {
        if (2 * (taken + 1) > table.length()) {
            rebuild();
        }
        place(table, queuePair);
        taken++;
        count++;
    }

    /// Removes a queue pair. Does nothing when it is not there.
    public synchronized void remove(QueuePair queuePair) {
        AtomicReferenceArray<Object> in = table;
        int mask = in.length() - 1;
        for (int i = queuePair.qpn() & mask; in.get(i) != null; i = (i + 1) & mask) {
            if (in.get(i) == queuePair) {
                in.setRelease(i, GONE);
                count--;
                return;
            }
        }
    }

    private void rebuild() {
        var next = new AtomicReferenceArray<Object>(Math.max(SMALLEST, Integer.highestOneBit(count + 1) << 3));
        for (int i = 0; i < table.length(); i++) {
            if (table.get(i) instanceof QueuePair each) {
                place(next, each);
            }
        }
        taken = count;
        table = next;
    }

    private static void place(AtomicReferenceArray<Object> in, QueuePair queuePair) {
        int mask = in.length() - 1;
        int i = queuePair.qpn() & mask;
        while (in.get(i) != null) {
            i = (i + 1) & mask;
        }
        in.setRelease(i, queuePair);
    }
}
