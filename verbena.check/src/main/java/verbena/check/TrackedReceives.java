package verbena.check;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/// The receives of a queue pair, or of a shared receive queue, that the program has posted and not seen complete.
public final class TrackedReceives {
    private final ArrayDeque<TrackedRequest> posted = new ArrayDeque<>();
    private final boolean isShared;
    private long total;
    /// The limit that is armed, as the device says.
    private final IntSupplier limit;

    private int armed;
    private volatile boolean hasLimit;

    private TrackedReceives(boolean isShared, IntSupplier limit) {
        this.isShared = isShared;
        this.limit = limit;
    }

    /// Returns those of one queue pair.
    public static TrackedReceives own() {
        return new TrackedReceives(false, () -> 0);
    }

    /// Returns those that several queue pairs take.
    ///
    /// @param limit returns the limit that is armed; 0 after its event
    public static TrackedReceives shared(IntSupplier limit) {
        return new TrackedReceives(true, limit);
    }

    public boolean isShared() {
        return isShared;
    }

    /// Notes receives that are about to be posted.
    public synchronized void add(List<TrackedRequest> requests) {
        if (hasLimit && posted.size() < armed && limit.getAsInt() == 0) {
            hasLimit = false; // its event has come, and the program goes on without another
        }
        posted.addAll(requests);
        total += requests.size();
    }

    /// Takes back receives that could not be posted.
    public synchronized void withdraw(List<TrackedRequest> requests) {
        posted.removeAll(requests);
        total -= requests.size();
    }

    /// Returns the receive that was posted as the one with this place, from 1; null when it was not posted yet, or the
    /// program has seen it complete. Only where one queue pair takes them, in the order of posting.
    public synchronized @Nullable TrackedRequest at(long place) {
        long index = place - 1 - (total - posted.size());
        return index < 0 || index >= posted.size()
                ? null
                : posted.stream().skip(index).findFirst().orElse(null);
    }

    /// Takes the oldest receive with this number out; null when there is none.
    synchronized @Nullable TrackedRequest take(long wrId) {
        Iterator<TrackedRequest> each = posted.iterator();
        while (each.hasNext()) {
            TrackedRequest request = each.next();
            if (request.wrId() == wrId) {
                each.remove();
                return request;
            }
        }
        return null;
    }

    /// Takes all out.
    public synchronized List<TrackedRequest> clear() {
        List<TrackedRequest> all = List.copyOf(posted);
        posted.clear();
        return all;
    }

    /// Returns those that are outstanding.
    public synchronized List<TrackedRequest> underWay() {
        return List.copyOf(posted);
    }

    /// Returns the first of those that have the most bytes; null when none is outstanding.
    public synchronized @Nullable TrackedRequest longest() {
        TrackedRequest longest = null;
        for (TrackedRequest each : posted) {
            if (longest == null || each.bytes() > longest.bytes()) {
                longest = each;
            }
        }
        return longest;
    }

    /// Counts from 0 again: the queue pair was reset.
    synchronized void startAnew() {
        total = 0;
    }

    /// Notes that the program gets an event when fewer than some receives are left.
    public synchronized void arm(int below) {
        armed = below;
        hasLimit = true;
    }

    /// Returns whether the program gets an event before the queue is empty, or has got one since it last posted.
    public boolean hasLimit() {
        return hasLimit;
    }

    /// Returns whether the program knows of no receive that is still there.
    public synchronized boolean isEmpty() {
        return posted.isEmpty();
    }

    /// Returns how many were ever posted.
    public synchronized long total() {
        return total;
    }
}
