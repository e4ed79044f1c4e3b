package verbena.verbs.cm;

import java.util.ArrayDeque;
import java.util.function.LongFunction;
import verbena.verbs.MemoryRegion;

/// Registered memory of a connection for messages whose own memory is not. Kept for the next one while it is
/// short. Any thread.
final class Staging {
    private static final int SHORT_BYTES = 4096;
    private static final int KEPT_MAX = 64;

    /// Registers so many bytes for as long as the connection lives.
    private final LongFunction<MemoryRegion> memory;
    // Guarded by itself.
    private final ArrayDeque<MemoryRegion> kept = new ArrayDeque<>();

    Staging(LongFunction<MemoryRegion> memory) {
        this.memory = memory;
    }

    /// Returns memory of at least `bytes` bytes.
    MemoryRegion borrow(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes: zero or more, got " + bytes);
        }
        if (bytes > SHORT_BYTES) {
            return memory.apply(bytes);
        }
        synchronized (kept) {
            MemoryRegion known = kept.pollLast();
            if (known != null) {
                return known;
            }
        }
        return memory.apply(SHORT_BYTES);
    }

    /// Takes memory back in which nothing is under way. What is not given back is freed with the connection.
    void giveBack(MemoryRegion region) {
        synchronized (kept) {
            if (region.length() == SHORT_BYTES && kept.size() < KEPT_MAX) {
                kept.addLast(region);
                return;
            }
        }
        region.close();
    }
}
