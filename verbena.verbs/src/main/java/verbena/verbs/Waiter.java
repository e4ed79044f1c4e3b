package verbena.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.spi.WaitSource;

/// A place where one thread waits for several sources at once, as at a selector: completions, connection events,
/// accepted connections, results of messages, streams, and a wake-up by another thread.
///
/// ```java
/// try (var waiter = new Waiter()) {
///     waiter.add(completions); // a CompletionChannel
///     waiter.add(listener);    // a ConnectionListener
///     while (isRunning) {
///         Object ready = waiter.await().orElse(null); // null after a wake-up
///         if (ready == completions) {
///             completions.poll().ifPresent(this::takeCompletions);
///         } else if (ready == listener) {
///             listener.accept(Duration.ZERO).ifPresent(this::serve);
///         }
///     }
/// }
/// ```
///
/// A wait returns one source that is ready, or what the program has attached to it ([#add(Waitable, Object)]). The next
/// wait begins its look behind that one, so a busy source does not keep the others waiting.
///
/// A source is ready as long as it has something to take ([Waitable#isReady()]), so nothing that was left is
/// forgotten. A closed source stays ready until it is removed, and so does a result of messages that is done:
/// remove a result before you take it, and a source when it is closed.
///
/// Any thread may add, remove, wake up and close; one thread at a time waits. While it waits it does the work of a
/// device of the sources, where that device lets it, and otherwise it parks. A virtual thread releases its carrier. A
/// wait allocates nothing. Adding, removing and each wait take time in proportion to the number of sources, so a
/// waiter is for hundreds of sources and not for ten thousand. The program closes the waiter, which leaves its
/// sources open. After that all methods but [#remove] and [#wakeup] throw [InvalidStateException], and so does a wait
/// that is under way.
///
/// @since 0.1
public final class Waiter implements AutoCloseable {
    // No wake-up is lost. What makes a wait end comes first; then signal() sets `isSignaled`, and only then reads where
    // the thread sleeps. The thread clears `isSignaled`, and only then looks for a reason to end. It says where it
    // sleeps, and only then reads `isSignaled` for the last time. All these are volatile, so they have one order: the
    // thread sees the reason, or the signal, or signal() sees where it sleeps. A permit for a thread that does not
    // park yet stays until it does.

    private static final long FOREVER = Long.MAX_VALUE;

    /// A source of the waiter.
    ///
    /// @param found what a wait returns for it
    private record Source(Waitable waitable, WaitSource events, Optional<Object> found) {}

    /// Changed under its own monitor.
    private final CopyOnWriteArrayList<Source> sources = new CopyOnWriteArrayList<>();
    private final Runnable listener = this::signal;
    private final BooleanSupplier isOver = this::isSignaled;
    /// The thread that waits; null while none does.
    private final AtomicReference<@Nullable Thread> waiting = new AtomicReference<>();
    /// The source whose device's work the thread does; null while it does none.
    private volatile @Nullable WaitSource attended;
    /// The place where the next look begins. By the thread that waits.
    private int next;

    private volatile boolean isSignaled;
    private volatile boolean isWoken;
    private volatile boolean isClosed;

    /// A waiter without sources.
    public Waiter() {}

    // ---- sources

    /// Adds a source, which a wait then returns. Adding it again changes nothing.
    ///
    /// @throws InvalidStateException when the waiter is closed
    /// @throws IllegalStateException when the source is a stream, and another waiter has it
    /// @throws java.nio.channels.NotYetConnectedException when the source is a stream that is not connected
    public void add(Waitable source) {
        add(source, source);
    }

    /// Adds a source with an object of the program's, such as its client, which a wait returns for it. Otherwise as
    /// [#add(Waitable)].
    public void add(Waitable source, Object attachment) {
        requireOpen("add");
        var added = new Source(source, source.waitSource(), Optional.of(attachment));
        synchronized (sources) {
            if (place(source) >= 0) {
                return;
            }
            sources.add(added);
        }
        boolean done = false;
        try {
            added.events.addListener(listener);
            done = true;
        } finally {
            if (!done) {
                Source _ = forget(source);
            }
        }
        if (isClosed) {
            remove(source); // closed meanwhile
        }
        signal(); // it may be ready already
    }

    /// Removes a source; does nothing when it was not added.
    public void remove(Waitable source) {
        Source removed = forget(source);
        if (removed != null) {
            removed.events.removeListener(listener);
            signal(); // a look that is under way may have missed a source that moved to its place
        }
    }

    private @Nullable Source forget(Waitable source) {
        synchronized (sources) {
            int place = place(source);
            return place < 0 ? null : sources.remove(place);
        }
    }

    private int place(Waitable source) {
        for (int i = 0; i < sources.size(); i++) {
            if (sources.get(i).waitable == source) {
                return i;
            }
        }
        return -1;
    }

    // ---- waiting

    /// Waits until a source is ready or another thread has called [#wakeup()].
    ///
    /// @return the attachment of a source that is ready, or that source; empty after a wake-up
    /// @throws InterruptedException when the thread is interrupted; nothing is lost
    /// @throws IllegalStateException when another thread waits
    /// @throws InvalidStateException when the waiter is closed, also while waiting
    public Optional<Object> await() throws InterruptedException {
        return await(FOREVER);
    }

    /// Waits as [#await()] does; empty also when `timeout` passed. [Duration#ZERO] only looks.
    public Optional<Object> await(Duration timeout) throws InterruptedException {
        long nanos = FOREVER;
        try {
            nanos = timeout.toNanos();
        } catch (ArithmeticException e) {
            // longer than 292 years
        }
        return await(nanos);
    }

    private Optional<Object> await(long nanos) throws InterruptedException {
        if (!waiting.compareAndSet(null, Thread.currentThread())) {
            throw new IllegalStateException("await: another thread waits: one at a time");
        }
        try {
            long start = nanos == FOREVER ? 0 : System.nanoTime();
            while (true) {
                isSignaled = false;
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
                long left = nanos == FOREVER ? nanos : nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    return Optional.empty();
                }
                sleep(left);
            }
        } finally {
            waiting.set(null);
        }
    }

    /// Returns a source that is ready, the first from [#next] on; null when there is none.
    private @Nullable Source ready() {
        int count = sources.size();
        for (int i = 0; i < count; i++) {
            int place = next < count ? next : 0;
            next = place + 1;
            Source source = at(place);
            if (source != null && source.waitable.isReady()) {
                return source;
            }
        }
        return null;
    }

    /// Returns a source by its place; null when others were removed meanwhile.
    private @Nullable Source at(int i) {
        try {
            return sources.get(i);
        } catch (IndexOutOfBoundsException e) {
            return null;
        }
    }

    private void sleep(long nanos) throws InterruptedException {
        for (int i = 0; i < sources.size() && !isSignaled; i++) {
            Source source = at(i);
            if (source != null && attend(source.events, nanos)) {
                return;
            }
        }
        if (isSignaled) {
            return;
        }
        if (nanos == FOREVER) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, nanos);
        }
    }

    private boolean attend(WaitSource source, long nanos) throws InterruptedException {
        attended = source;
        try {
            return source.attend(isOver, nanos);
        } finally {
            attended = null;
        }
    }

    private boolean isSignaled() {
        return isSignaled;
    }

    // ---- by other threads

    /// Ends the wait, or the next one when no thread waits. Several calls before a wait end one.
    public void wakeup() {
        isWoken = true;
        signal();
    }

    private void signal() {
        isSignaled = true;
        WaitSource source = attended;
        if (source != null) {
            source.wakeAttendant();
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
        for (Source each : sources) {
            remove(each.waitable);
        }
        signal();
    }
}
