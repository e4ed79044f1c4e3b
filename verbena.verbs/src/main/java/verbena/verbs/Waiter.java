package verbena.verbs;

import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.waiting.TimeLimits;

/// A place where one thread waits for several sources at once, as at a selector: completions, events of connections
/// and devices, accepted connections, results, streams, and a wake-up by another thread.
///
/// ```java
/// try (var waiter = new Waiter<Runnable>()) {
///     waiter.add(completions, () -> completions.poll().ifPresent(this::takeCompletions)); // a CompletionChannel
///     waiter.add(listener, () -> listener.poll().ifPresent(this::serve));             // a ConnectionListener
///     while (isRunning) {
///         waiter.await().ifPresent(Runnable::run); // empty after a wake-up
///     }
/// }
/// ```
///
/// A wait returns what the program has attached to a source that is ready: an action, a client, or the source itself.
/// That source then goes behind all others that are ready, so a busy one does not keep them waiting.
///
/// A source is ready as long as [Waitable#isReady()] returns true. If the program takes only a part, a later wait
/// returns its attachment again. A result that is done, and an object that is closed, bring nothing more: a wait
/// returns the attachment once, and then removes the source.
///
/// Any thread may add, remove, wake up and close; one thread at a time waits. While it waits it does the work
/// of a device of the sources, where that device lets it, and otherwise it parks. A virtual thread releases its
/// carrier. A wait that removes no source allocates nothing. Its time grows with the number of sources that
/// have become ready, and not with the number of all: ten thousand idle streams, results or completion queues
/// of a device cost nothing. Each event channel and connection listener among the sources makes a wait and an
/// addition a little longer.
///
/// The program closes the waiter, which leaves its sources open. After that adding and waiting throw
/// [InvalidStateException], and so does a wait that is under way.
///
/// @param <T> type of the attachments
/// @since 0.1
public final class Waiter<T> implements AutoCloseable {
    // No wake-up is lost. A reason to end a wait comes first: a source in `arrived`, `isWoken` or `isClosed`. Only then
    // wake() reads where the thread sleeps. The thread says where it sleeps, and only then looks for a reason for the
    // last time. All these are volatile, so they have one order: the thread sees the reason, or wake() sees where it
    // sleeps. A permit for a thread that does not park yet stays until it does.
    //
    // No source is forgotten. A source is ready first, and then its listener reads `isListed`. The thread takes a
    // source from the list, clears `isListed`, and only then asks whether it is ready. So it sees the source ready,
    // or the listener lists it again.

    /// A source of the waiter, and its listener.
    private final class Source implements Runnable {
        private final Waitable waitable;
        private final WaitSource events;
        private final WaitSource.@Nullable Place place;
        /// Whether it is in a list, or about to be.
        private final AtomicBoolean isListed = new AtomicBoolean();
        /// The attachment, as a wait returns it.
        private volatile Optional<T> found;

        private volatile boolean isRemoved;
        /// The next in its list.
        private @Nullable Source next;

        private Source(Waitable waitable, T attachment) {
            this.waitable = waitable;
            this.events = waitable.waitSource();
            this.place = events.place().orElse(null);
            this.found = Optional.of(attachment);
        }

        /// Notes that it may be ready. Any thread.
        @Override
        public void run() {
            if (isListed.compareAndSet(false, true)) {
                do {
                    next = arrived.get();
                } while (!arrived.compareAndSet(next, this));
                wake();
            }
        }
    }

    // Under the monitor of `sources`.
    private final IdentityHashMap<Waitable, Source> sources = new IdentityHashMap<>();
    /// The number of sources at each place.
    private final Map<WaitSource.Place, Integer> counts = new LinkedHashMap<>();

    /// The places of the sources. The array never changes.
    private volatile WaitSource.Place[] places = {};
    /// The sources that may have become ready, the last one first.
    private final AtomicReference<@Nullable Source> arrived = new AtomicReference<>();
    /// The sources to ask next, in turn. By the thread that waits, as is `newest`.
    private @Nullable Source oldest;

    private @Nullable Source newest;
    private final BooleanSupplier isOver = this::isOver;
    /// The thread that waits; null while none does.
    private final AtomicReference<@Nullable Thread> waiting = new AtomicReference<>();
    /// The place where the thread works; null while it does not.
    private volatile WaitSource.@Nullable Place attended;

    private volatile boolean isWoken;
    private volatile boolean isClosed;

    /// A waiter without sources.
    public Waiter() {}

    // ---- sources

    /// Adds a source, and attaches what a wait then returns for it. Adding a source again replaces its
    /// attachment.
    ///
    /// @throws InvalidStateException when the waiter is closed, or the source is a stream that another waiter
    ///     has
    /// @throws java.nio.channels.NotYetConnectedException when the source is a stream that is not connected
    public void add(Waitable source, T attachment) {
        requireOpen("add");
        var added = new Source(source, attachment);
        synchronized (sources) {
            Source present = sources.putIfAbsent(source, added);
            if (present != null) {
                present.found = added.found;
                return;
            }
            count(added.place, 1);
        }
        boolean done = false;
        try {
            added.events.addListener(added);
            done = true;
        } finally {
            if (!done) {
                forget(added);
            }
        }
        if (isClosed) {
            forget(added); // closed meanwhile
        }
        if (added.isRemoved) {
            added.events.removeListener(added); // perhaps removed before it had the listener
        }
        added.run(); // it may be ready already
    }

    /// Removes a source; does nothing when the waiter does not have it.
    public void remove(Waitable source) {
        Source removed;
        synchronized (sources) {
            removed = sources.get(source);
        }
        if (removed != null) {
            forget(removed);
            removed.events.removeListener(removed);
        }
    }

    private void forget(Source source) {
        source.isRemoved = true;
        synchronized (sources) {
            if (sources.remove(source.waitable, source)) {
                count(source.place, -1);
            }
        }
    }

    /// Counts a source at a place. Under the monitor.
    private void count(WaitSource.@Nullable Place place, int change) {
        if (place == null) {
            return;
        }
        int before = counts.getOrDefault(place, 0);
        if (before + change > 0) {
            counts.put(place, before + change);
        } else {
            counts.remove(place);
        }
        if (before == 0 || before + change == 0) {
            places = counts.keySet().toArray(WaitSource.Place[]::new);
        }
    }

    // ---- waiting

    /// Waits until a source is ready or another thread has called [#wakeup()].
    ///
    /// @return the attachment of a source that is ready; empty after a wake-up
    /// @throws InterruptedException when the thread is interrupted; nothing is lost
    /// @throws InvalidStateException when another thread waits, or the waiter is closed, also while waiting
    public Optional<T> await() throws InterruptedException {
        return await(TimeLimits.FOREVER);
    }

    /// Waits as [#await()] does; empty also when `timeout` passed. A limit of zero or less only looks.
    public Optional<T> await(Duration timeout) throws InterruptedException {
        return await(TimeLimits.nanos(timeout));
    }

    private Optional<T> await(long nanos) throws InterruptedException {
        if (!waiting.compareAndSet(null, Thread.currentThread())) {
            throw new InvalidStateException("await: another thread waits: one at a time");
        }
        try {
            long start = nanos == TimeLimits.FOREVER ? 0 : System.nanoTime();
            while (true) {
                requireOpen("await");
                if (isWoken) {
                    isWoken = false;
                    return Optional.empty();
                }
                Source ready = ready();
                if (ready != null) {
                    return ready.found;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                long left = TimeLimits.left(nanos, start);
                if (left == 0) {
                    return Optional.empty();
                }
                sleep(left);
            }
        } finally {
            waiting.set(null);
        }
    }

    /// Returns the oldest source of the list that is ready, and drops those before it that are not; null when none
    /// is. It stays in the list, as the newest, unless it has ended.
    private @Nullable Source ready() {
        takeArrived();
        for (Source each = takeOldest(); each != null; each = takeOldest()) {
            each.isListed.set(false);
            if (each.isRemoved || !each.waitable.isReady()) {
                continue;
            }
            if (each.events.hasEnded()) {
                forget(each);
                each.events.removeListener(each);
            } else if (each.isListed.compareAndSet(false, true)) {
                append(each, each);
            }
            return each;
        }
        return null;
    }

    private @Nullable Source takeOldest() {
        Source taken = oldest;
        if (taken != null) {
            oldest = taken.next;
            taken.next = null;
        }
        return taken;
    }

    /// Appends the sources that may have become ready, in the order in which they have come.
    private void takeArrived() {
        Source last = arrived.get() == null ? null : arrived.getAndSet(null);
        Source first = null;
        for (Source each = last; each != null; ) {
            Source earlier = each.next;
            each.next = first;
            first = each;
            each = earlier;
        }
        if (first != null && last != null) {
            append(first, last);
        }
    }

    private void append(Source first, Source last) {
        if (oldest == null || newest == null) {
            oldest = first;
        } else {
            newest.next = first;
        }
        newest = last;
    }

    private void sleep(long nanos) throws InterruptedException {
        for (WaitSource.Place each : places) {
            if (isOver() || attend(each, nanos)) {
                return;
            }
        }
        if (isOver()) {
            return;
        }
        if (nanos == TimeLimits.FOREVER) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, nanos);
        }
    }

    private boolean attend(WaitSource.Place place, long nanos) throws InterruptedException {
        attended = place;
        try {
            return place.attend(isOver, nanos);
        } finally {
            attended = null;
        }
    }

    /// Returns whether there is a reason to end the sleep.
    private boolean isOver() {
        return arrived.get() != null || isWoken || isClosed;
    }

    // ---- by other threads

    /// Ends the wait, or the next one when no thread waits. Several calls before a wait end one.
    public void wakeup() {
        isWoken = true;
        wake();
    }

    private void wake() {
        WaitSource.Place place = attended;
        if (place != null) {
            place.wakeAttendant();
        }
        Thread thread = waiting.get();
        if (thread != null && thread != Thread.currentThread()) {
            LockSupport.unpark(thread);
        }
    }

    private void requireOpen(String verb) {
        if (isClosed) {
            throw new InvalidStateException(verb + ": the waiter is closed");
        }
    }

    /// Leaves all sources, and ends a wait that is under way. Idempotent.
    @Override
    public void close() {
        isClosed = true;
        List<Waitable> all;
        synchronized (sources) {
            all = List.copyOf(sources.keySet());
        }
        all.forEach(this::remove);
        wake();
    }
}
