package verbena.verbs.cm;

import java.util.ArrayDeque;
import verbena.verbs.MemoryRegion;

/// Registered memory of a connection for messages whose own memory is not. Kept for the next one while it is
/// short. Any thread.
final class Staging {
    private static final int SHORT_BYTES = 4096;
    private static final int KEPT_MAX = 64;

    private final Connection connection;
    // Guarded by itself.
    private final ArrayDeque<MemoryRegion> kept = new ArrayDeque<>();

    Staging(Connection connection) {
        this.connection = connection;
    }

    /// At least `bytes` bytes.
    MemoryRegion borrow(int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes: zero or more, got " + bytes);
        }
        if (bytes > SHORT_BYTES) {
            return connection.allocate(bytes);
        }
        synchronized (kept) {
            MemoryRegion known = kept.pollLast();
            if (known != null) {
                return known;
            }
        }
        return connection.allocate(SHORT_BYTES);
    }

    /// Nothing is under way in it. What is not given back is freed with the connection.
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
