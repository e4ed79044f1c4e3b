package verbena.tools.files;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// The WRITEs under way, each in front of a message. The peer may answer before their completions are here, and until
/// then the bytes belong to the device. Any thread.
final class Transfers {
    /// The offsets of their bytes, by the index of the message.
    private final Map<Integer, Long> offsets = new HashMap<>();

    /// Notes a WRITE from an offset that is about to be posted in front of a message.
    synchronized void begin(int message, long offset) {
        offsets.put(message, offset);
    }

    /// Notes that the WRITE in front of a message, if there is one, has completed or will not.
    synchronized void end(int message) {
        offsets.remove(message);
        notifyAll();
    }

    /// Waits until no WRITE from an offset is under way.
    ///
    /// @return whether that is so within the time
    synchronized boolean await(long offset, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (offsets.containsValue(offset)) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            wait(left / 1_000_000, (int) (left % 1_000_000));
        }
        return true;
    }

    /// Returns the offsets from which a WRITE is under way.
    synchronized Set<Long> underWay() {
        return Set.copyOf(offsets.values());
    }
}
