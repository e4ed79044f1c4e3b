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

    /// Notes the end of a key.
    synchronized void end(TrackedDevice device, int key, CallPlace where) {
        places.put(new MemoryKey(device, key), where);
    }

    /// Notes that a key leads to memory again.
    synchronized void begin(TrackedDevice device, int key) {
        places.remove(new MemoryKey(device, key));
    }

    /// Returns where a key has ended; null when it has not, or long ago.
    synchronized @Nullable CallPlace place(TrackedDevice device, int key) {
        return places.get(new MemoryKey(device, key));
    }
}
