package verbena.nic.raw;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/// Counters of the raw packets of a device that were lost outside of their queue pairs. Any thread.
public final class RawCounters {
    private final AtomicLong unsent = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();

    /// Counts a frame that the interface did not take.
    void unsent() {
        unsent.incrementAndGet();
    }

    /// Counts frames for which a ring had no room.
    void dropped(int frames) {
        dropped.addAndGet(frames);
    }

    /// Returns the counters by name.
    public Map<String, Long> all() {
        return Map.of("raw.unsent", unsent.get(), "raw.dropped.ring", dropped.get());
    }
}
