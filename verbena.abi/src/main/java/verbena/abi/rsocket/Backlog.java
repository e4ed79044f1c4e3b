package verbena.abi.rsocket;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.StreamMessage.Hello;

/// A listener's connections: those that peers ask for, those on their way, and those that the program has not
/// accepted yet. Guarded by the lock of the listener.
///
/// @param <C> an rsocket
final class Backlog<C> {
    private static final int LENGTH_MIN = 128;
    /// The number of requests that the device keeps: a request that waits for its turn has no memory for a stream
    /// yet.
    private static final int REQUESTS_MIN = 1_024;

    /// The oldest first.
    private final SequencedMap<C, Hello> asking = new LinkedHashMap<>();
    private final ReentrantLock lock;
    private final BiConsumer<C, Hello> answer;
    private final Set<C> arriving = new HashSet<>();
    private final ArrayDeque<C> arrived = new ArrayDeque<>();
    private int length;

    /// @param answer accepts a peer's request, without the lock
    Backlog(ReentrantLock lock, BiConsumer<C, Hello> answer) {
        this.lock = lock;
        this.answer = answer;
    }

    /// Sets the number of requests that may wait; more have to wait, as with a socket. Some programs ask for very
    /// few.
    void limit(int wanted) {
        length = Math.max(wanted, LENGTH_MIN);
    }

    /// Returns the number of requests that may wait for an answer.
    int requests() {
        return Math.max(length, REQUESTS_MIN);
    }

    void ask(C connection, Hello peer) {
        assert lock.isHeldByCurrentThread();
        asking.put(connection, peer);
    }

    /// Admits requests as long as there is room. Any thread, without the lock.
    void admit() {
        assert !lock.isHeldByCurrentThread();
        for (var next = next(); next != null; next = next()) {
            answer.accept(next.getKey(), next.getValue());
        }
    }

    /// Takes the oldest request, which is being connected from now on; null when there is none, or no room.
    private Map.@Nullable Entry<C, Hello> next() {
        lock.lock();
        try {
            var next = arriving.size() + arrived.size() < length ? asking.pollFirstEntry() : null;
            if (next != null) {
                arriving.add(next.getKey());
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /// Handles a connection that is made. Returns false when it was given up before.
    boolean onArrived(C connection) {
        assert lock.isHeldByCurrentThread();
        return arriving.remove(connection) && arrived.add(connection);
    }

    /// Forgets a connection that will not come. Any thread, without the lock.
    void onGivenUp(C connection) {
        lock.lock();
        try {
            asking.remove(connection);
            arriving.remove(connection);
        } finally {
            lock.unlock();
        }
    }

    boolean hasArrived() {
        return !arrived.isEmpty();
    }

    /// Takes the oldest connection that has arrived.
    C first() {
        assert lock.isHeldByCurrentThread();
        return arrived.getFirst();
    }

    void removeFirst() {
        assert lock.isHeldByCurrentThread();
        arrived.removeFirst();
    }

    /// Removes all connections and returns them.
    List<C> clear() {
        assert lock.isHeldByCurrentThread();
        var all = new ArrayList<>(arrived);
        all.addAll(arriving);
        all.addAll(asking.keySet());
        asking.clear();
        arrived.clear();
        arriving.clear();
        return all;
    }
}
