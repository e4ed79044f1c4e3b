package verbena.messages;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import verbena.verbs.waiting.LeaderFollowers;

/// Something that was asked for and may still be under way: a message to send, one to receive, an answer. Until it
/// is done the memory that was given to it is not the program's. Safe for use by any thread.
///
/// @param <T> what it gives
public final class Pending<T> {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    private final Readers readers;
    private final LeaderFollowers.WaitSet waiting = new LeaderFollowers.WaitSet();
    /// The action that takes it back, set before the program gets this.
    private BooleanSupplier withdraw = () -> false;

    Pending(Readers readers) {
        this.readers = readers;
    }

    /// Something that is done already.
    @SuppressWarnings("NullAway") // a Void has no other value
    static Pending<Void> done(Readers readers) {
        var pending = new Pending<Void>(readers);
        pending.complete(null);
        return pending;
    }

    // ---- by the program

    /// Returns whether it is done, well or not. Never blocks.
    public boolean isDone() {
        return outcome.isDone();
    }

    /// Waits until it is done. Meanwhile the thread may read what arrives for the whole worker. A thread that is
    /// interrupted leaves it under way.
    ///
    /// @throws verbena.verbs.ConnectionException when the peer is lost, or the worker is closed
    /// @throws CallException when a call failed
    /// @throws CancellationException when it was cancelled
    public T await() throws InterruptedException {
        readers.await(waiting, this, Pending::isDone, Long.MAX_VALUE);
        try {
            return outcome.get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    /// Waits until it is done, but not longer than `timeout`; false when that has passed. It is under way then.
    ///
    /// @throws verbena.verbs.ConnectionException as [#await()]
    /// @throws CallException as [#await()]
    /// @throws CancellationException as [#await()]
    public boolean await(Duration timeout) throws InterruptedException {
        if (!readers.await(waiting, this, Pending::isDone, TimeUnit.NANOSECONDS.convert(timeout))) {
            return false;
        }
        try {
            outcome.get();
            return true;
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    private static RuntimeException failure(ExecutionException e) {
        return e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
    }

    /// Takes it back: a receive that no message has come for, or a call that has no answer. What waits for it gets
    /// a [CancellationException].
    ///
    /// @return false when it is too late for that, and always for a message to send. Of a call without a time limit
    ///     also while a device uses its memory: a long request that the peer may read, or an answer on its way
    public boolean cancel() {
        return withdraw.getAsBoolean();
    }

    /// Returns a future of the same, completed on a virtual thread. Cancelling it does not cancel this.
    public CompletableFuture<T> toFuture() {
        return outcome.thenApplyAsync(result -> result, Thread::startVirtualThread);
    }

    // ---- by the worker

    /// Sets the action that takes it back.
    void withdrawnBy(BooleanSupplier way) {
        withdraw = way;
    }

    void complete(T result) {
        if (outcome.complete(result)) {
            readers.tell(waiting);
        }
    }

    void fail(RuntimeException why) {
        if (outcome.completeExceptionally(why)) {
            readers.tell(waiting);
        }
    }

    void cancelled() {
        fail(new CancellationException("it was cancelled"));
    }
}
