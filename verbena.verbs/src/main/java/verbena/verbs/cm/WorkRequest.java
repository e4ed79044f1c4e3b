package verbena.verbs.cm;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Pending;
import verbena.verbs.VerbsException;
import verbena.verbs.WaitSource;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.waiting.TimeLimits;

/// A posted request of a [Connection]. A thread that waits for any of its requests reads the completions of all, and
/// wakes the threads whose requests are done. While a future or a waiter needs one, a virtual thread reads. When the
/// connection ends, its unfinished requests are done, with a [ConnectionException]. Any thread.
///
/// @param <T> type of the result: [ReceivedMessage] of a receive, [Long] of an atomic, otherwise [Void]
final class WorkRequest<T> implements Pending<T> {
    private final Outstanding outstanding;

    // Guarded by the lock of `outstanding`; what is after `done` is fixed once that is true.
    String verb = "";
    long wrId;

    @Nullable
    CompletableFuture<T> future;

    /// The listeners of waiters; null before the first.
    private volatile @Nullable CopyOnWriteArrayList<Runnable> listeners;

    /// Whether it was posted, and will be completed.
    private volatile boolean posted;
    private volatile boolean done;
    private WcStatus status = WcStatus.SUCCESS;
    private String cause = "";
    private @Nullable VerbsException trouble;
    private WcOpcode opcode = WcOpcode.SEND;
    private OptionalInt immediate = OptionalInt.empty();

    /// The value that an atomic found, or the bytes of another request.
    long value;

    /// The time in which a blocking form has to be done, from its posting on.
    long nanos;

    /// The work that is left before a program may see that it is done; null for none.
    private volatile @Nullable Runnable delivery;

    WorkRequest(Outstanding outstanding) {
        this.outstanding = outstanding;
    }

    Outstanding outstanding() {
        return outstanding;
    }

    // ---- by the program

    @Override
    public boolean isDone() {
        if (!done) {
            outstanding.look();
        }
        if (done) {
            deliver();
        }
        return done;
    }

    @Override
    public T await() throws InterruptedException {
        outstanding.await(this, Long.MAX_VALUE);
        requireOk();
        return result();
    }

    @Override
    public boolean await(Duration timeout) throws InterruptedException {
        if (!outstanding.await(this, TimeLimits.nanos(timeout))) {
            return false;
        }
        requireOk();
        return true;
    }

    @Override
    public T resultNow() {
        if (!isDone()) {
            throw new InvalidStateException("resultNow: the operation is still outstanding");
        }
        requireOk();
        return result();
    }

    @Override
    public Optional<RuntimeException> failure() {
        return isDone() && !isOk() ? Optional.of(exception()) : Optional.empty();
    }

    @Override
    public boolean cancel() {
        return false;
    }

    @Override
    public CompletableFuture<T> toFuture() {
        return outstanding.futureOf(this);
    }

    /// Returns the side for a waiter. While it listens, a virtual thread reads the completions.
    @Override
    public WaitSource waitSource() {
        return new WaitSource() {
            @Override
            public void addListener(Runnable listener) {
                outstanding.watch(WorkRequest.this, listener);
            }

            @Override
            public void removeListener(Runnable listener) {
                var all = listeners;
                if (all != null) {
                    all.remove(listener);
                }
            }

            @Override
            public boolean hasEnded() {
                return isDone();
            }
        };
    }

    private void requireOk() {
        deliver();
        if (!isOk()) {
            throw exception();
        }
    }

    /// Returns the result of one that is done. The methods of [Connection] give each kind its type.
    @SuppressWarnings({"unchecked", "NullAway"}) // a Void has no other value
    private T result() {
        Object found = switch (opcode) {
            case RECV, RECV_RDMA_WITH_IMM -> message();
            case FETCH_ADD, COMP_SWAP -> value;
            default -> null;
        };
        return (T) found;
    }

    /// Returns whether a future or a waiter needs it. Under the lock.
    boolean isWatched() {
        return future != null || listeners != null;
    }

    /// Adds the listener of a waiter. Under the lock.
    void addListener(Runnable listener) {
        var all = listeners == null ? new CopyOnWriteArrayList<Runnable>() : listeners;
        all.add(listener);
        listeners = all;
    }

    /// Runs the listeners, and completes the future. Once it is done.
    void tellWatchers() {
        var all = listeners;
        if (all != null) {
            all.forEach(Runnable::run);
        }
        completeFuture();
    }

    /// Completes its future, if it has one, on a thread of its own: what the program does then must not hold up the
    /// thread that reads. Once it is done.
    void completeFuture() {
        CompletableFuture<T> known = future;
        if (known == null) {
            return;
        }
        Thread.startVirtualThread(() -> {
            deliver();
            if (isOk()) {
                known.complete(result());
            } else {
                known.completeExceptionally(exception());
            }
        });
    }

    ConnectionException exception() {
        return outstanding.ending().exception(verb, status, cause, trouble);
    }

    boolean isOk() {
        return status == WcStatus.SUCCESS;
    }

    /// Returns the offset of the 8 bytes for its result, when it is an atomic.
    long word() {
        return (int) wrId * (long) Long.BYTES;
    }

    /// Returns what it has received.
    ReceivedMessage message() {
        return new ReceivedMessage(value, immediate);
    }

    /// Returns the number of bytes that are in the memory of a receive. A peer's WRITE has taken the receive, and
    /// left its memory unchanged.
    long bytesInMemory() {
        return opcode == WcOpcode.RECV_RDMA_WITH_IMM ? 0 : value;
    }

    /// Sets the work that is left before a program may see that it is done. Before a program sees it.
    void deliverBy(Runnable work) {
        delivery = work;
    }

    /// Does the work that is left, once it is done. Each thread returns when that work is finished.
    void deliver() {
        if (delivery == null) {
            return;
        }
        synchronized (this) {
            Runnable work = delivery;
            if (work != null) {
                work.run();
                delivery = null;
            }
        }
    }

    /// Fails it in its delivery.
    void fail(String why) {
        status = WcStatus.LOC_LEN_ERR;
        cause = why;
        value = 0;
        immediate = OptionalInt.empty();
    }

    // ---- under the lock

    /// Makes it ready to be posted, perhaps once more.
    void begin(String forVerb, long number) {
        verb = forVerb;
        wrId = number;
        status = WcStatus.SUCCESS;
        trouble = null;
        posted = false;
        done = false;
    }

    /// Notes that it was posted. Needs no lock.
    void onPosted() {
        posted = true;
    }

    boolean isPosted() {
        return posted;
    }

    boolean isFinished() {
        return done;
    }

    void finish(WorkCompletion wc) {
        status = wc.status();
        cause = wc.cause();
        opcode = wc.ok() ? wc.opcode() : WcOpcode.SEND;
        immediate = wc.ok() && wc.hasImmediate() ? OptionalInt.of(wc.immediate()) : OptionalInt.empty();
        done = true;
    }

    /// Ends it: no completion will come.
    void finish(VerbsException why) {
        status = WcStatus.WR_FLUSH_ERR;
        trouble = why;
        cause = String.valueOf(why.getMessage());
        done = true;
    }

    @Override
    public String toString() {
        return verb + (done ? isOk() ? ": done" : ": failed" : ": outstanding");
    }
}
