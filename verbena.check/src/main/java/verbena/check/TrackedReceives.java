package verbena.check;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/// The receives of a queue pair, or of a shared receive queue, that the program has posted and not seen complete.
public final class TrackedReceives implements TrackedQueue.Shared {
    private final ArrayDeque<TrackedRequest> posted = new ArrayDeque<>();
    /// The number of them that have each length.
    private final TreeMap<Long, Integer> lengths = new TreeMap<>();
    private final boolean isShared;
    /// The completion queues that they may complete into, each with the number of queue pairs that lead there. Empty
    /// where one queue pair takes them.
    private final Map<TrackedQueue, Integer> queues = new HashMap<>();

    private long total;
    /// The number of them that complete for certain when messages come.
    private volatile int expected;
    /// The most of them for which [#hasGrown] has said so.
    private int grown;
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
        requests.forEach(each -> lengths.merge(each.bytes(), 1, Integer::sum));
        total += requests.size();
        expect(requests.size());
    }

    /// Takes back receives that could not be posted.
    public synchronized void withdraw(List<TrackedRequest> requests) {
        requests.stream().filter(posted::remove).forEach(this::forget);
        total -= requests.size();
    }

    private void forget(TrackedRequest request) {
        lengths.computeIfPresent(request.bytes(), (_, count) -> count == 1 ? null : count - 1);
        expect(-1);
    }

    private void expect(int change) {
        expected = Math.max(0, expected + change);
    }

    @Override
    public int expected() {
        return expected;
    }

    /// Notes that a queue pair was closed or reset. Receives that it had taken complete no more, or they still do.
    synchronized void expectNone() {
        expected = 0;
        grown = 0;
    }

    /// Returns whether more are expected than at any call before.
    public synchronized boolean hasGrown() {
        boolean hasGrown = expected > grown;
        grown = Math.max(grown, expected);
        return hasGrown;
    }

    /// Notes that they may complete into a queue.
    public synchronized void lead(TrackedQueue to) {
        queues.merge(to, 1, Integer::sum);
        to.shared().add(this);
    }

    /// Notes that one less leads to a queue.
    public synchronized void leadNoMore(TrackedQueue to) {
        queues.computeIfPresent(to, (_, count) -> count == 1 ? null : count - 1);
        if (!queues.containsKey(to)) {
            to.shared().remove(this);
        }
    }

    /// Returns the completion queues that receives of a shared queue may complete into.
    public synchronized Set<TrackedQueue> queues() {
        return Set.copyOf(queues.keySet());
    }

    /// Returns the receive that was posted as the one with this place, from 1; null when it was not posted yet, or the
    /// program has seen it complete. Only where one queue pair takes them, in the order of posting.
    public synchronized @Nullable TrackedRequest at(long place) {
        long index = place - 1 - (total - posted.size());
        return index < 0 || index >= posted.size()
                ? null
                : posted.stream().skip(index).findFirst().orElse(null);
    }

    @Override
    public synchronized @Nullable TrackedRequest take(long wrId) {
        Iterator<TrackedRequest> each = posted.iterator();
        while (each.hasNext()) {
            TrackedRequest request = each.next();
            if (request.wrId() == wrId) {
                each.remove();
                forget(request);
                return request;
            }
        }
        return null;
    }

    /// Takes all out.
    public synchronized List<TrackedRequest> clear() {
        List<TrackedRequest> all = List.copyOf(posted);
        posted.clear();
        lengths.clear();
        expected = 0;
        return all;
    }

    /// Returns those that are outstanding.
    public synchronized List<TrackedRequest> underWay() {
        return List.copyOf(posted);
    }

    /// Returns the first of those that have the most bytes, if that is less than a message has; null when a message
    /// may find room, or none is outstanding.
    public synchronized @Nullable TrackedRequest longestBelow(long bytes) {
        if (lengths.isEmpty() || lengths.lastKey() >= bytes) {
            return null;
        }
        long longest = lengths.lastKey();
        return posted.stream()
                .filter(each -> each.bytes() == longest)
                .findFirst()
                .orElse(null);
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

    /// Returns how many of so many messages have a receive whose completion the program has not taken.
    synchronized int known(long messages) {
        return (int) Math.max(0, Math.min(messages, total) - (total - posted.size()));
    }

    /// Returns how many were ever posted.
    public synchronized long total() {
        return total;
    }
}
