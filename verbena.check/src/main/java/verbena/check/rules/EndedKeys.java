package verbena.check.rules;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Checker.MemoryKey;
import verbena.check.TrackedDevice;

/// Keys that lead to no memory any more, and where the program has ended them. The oldest are forgotten. Any thread.
final class EndedKeys {
    private static final int KEYS = 4_096;

    private final Map<MemoryKey, CallPlace> places = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<MemoryKey, CallPlace> eldest) {
            return size() > KEYS;
        }
    };

    /// Whether the program has ever ended a key: most end none while they post.
    private volatile boolean isUsed;

    /// Notes the end of a key.
    synchronized void end(TrackedDevice device, int key, CallPlace where) {
        isUsed = true;
        places.put(new MemoryKey(device, key), where);
    }

    /// Notes that a key leads to memory again.
    synchronized void begin(TrackedDevice device, int key) {
        places.remove(new MemoryKey(device, key));
    }

    /// Returns where a key has ended; null when it has not, or long ago.
    @Nullable
    CallPlace place(TrackedDevice device, int key) {
        if (!isUsed) {
            return null;
        }
        synchronized (this) {
            return places.get(new MemoryKey(device, key));
        }
    }
}
