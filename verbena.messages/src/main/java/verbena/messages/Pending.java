package verbena.messages;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Preview;
import verbena.verbs.Waitable;
import verbena.verbs.spi.WaitSource;
import verbena.verbs.waiting.LeaderFollowers;

/// The result of an operation that may still be outstanding: a send, a receive, a call, or an access to a peer's
/// memory. Until it is done, the memory of the operation belongs to the worker.
///
/// Any thread may use it, and it needs no closing. A [verbena.verbs.Waiter] waits for it together with other sources,
/// and returns it once. When the peer is lost or the worker closed, it is done, with a
/// [verbena.verbs.ConnectionException].
///
/// @param <T> type of the result
/// @since 0.1
public final class Pending<T> implements Waitable {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    private final Readers readers;
    private final LeaderFollowers.WaitSet waiting = new LeaderFollowers.WaitSet();
    /// The action that takes it back, set before the program gets this.
    private BooleanSupplier withdraw = () -> false;
    /// The listeners of waiters; null before the first.
    private volatile @Nullable CopyOnWriteArrayList<Runnable> listeners;

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

    /// Returns whether the operation is done, successfully or not. Never blocks.
    public boolean isDone() {
        return outcome.isDone();
    }

    /// Waits until the operation is done, and returns its result. Meanwhile the thread may read arrivals for the
    /// whole worker. An interrupted thread leaves the operation outstanding.
    ///
    /// @throws verbena.verbs.ConnectionException when the peer is lost, or the worker is closed
    /// @throws CallException when a call failed
    /// @throws CancellationException when it was cancelled
    /// @throws verbena.verbs.InvalidStateException in an [ActiveHandler], which must not wait
    public T await() throws InterruptedException {
        readers.await(waiting, this, Pending::isDone, Long.MAX_VALUE);
        return resultNow();
    }

    /// Waits until the operation is done; false when `timeout` passed. The operation is then still outstanding.
    ///
    /// @throws verbena.verbs.ConnectionException as [#await()]
    /// @throws CallException as [#await()]
    /// @throws CancellationException as [#await()]
    /// @throws verbena.verbs.InvalidStateException as [#await()]
    public boolean await(Duration timeout) throws InterruptedException {
        if (!readers.await(waiting, this, Pending::isDone, TimeUnit.NANOSECONDS.convert(timeout))) {
            return false;
        }
        throwFailure();
        return true;
    }

    /// Returns the result of an operation that is done, for example in an action that a [verbena.verbs.Waiter] has
    /// returned. Never waits.
    ///
    /// @throws verbena.verbs.InvalidStateException when the operation is still outstanding
    /// @throws verbena.verbs.ConnectionException as [#await()]
    /// @throws CallException as [#await()]
    /// @throws CancellationException as [#await()]
    public T resultNow() {
        if (!isDone()) {
            throw new InvalidStateException("resultNow: the operation is still outstanding");
        }
        throwFailure();
        return outcome.resultNow();
    }

    /// Returns the exception that [#await()] throws when the operation is done; empty when it has succeeded or is
    /// still outstanding. Never blocks.
    public Optional<RuntimeException> failure() {
        return outcome.handle((_, failure) -> Optional.ofNullable((RuntimeException) failure))
                .getNow(Optional.empty());
    }

    private void throwFailure() {
        if (outcome.isCompletedExceptionally()) {
            throw failure().orElseThrow();
        }
    }

    /// Cancels a receive without a message, or a call without an answer. Threads that wait for it get a
    /// [CancellationException].
    ///
    /// @return false when it is too late, and always for a send. For a call without a time limit, false also while
    ///     a device uses its memory: a long request that the peer may read, or an answer on its way
    public boolean cancel() {
        return withdraw.getAsBoolean();
    }

    /// Returns a future of this result, which a virtual thread completes. Cancelling it does not cancel the
    /// operation.
    public CompletableFuture<T> toFuture() {
        return outcome.thenApplyAsync(result -> result, Thread::startVirtualThread);
    }

    @Override
    public String toString() {
        return "pending result, "
                + failure().map(why -> "failed: " + why.getMessage()).orElse(isDone() ? "done" : "outstanding");
    }

    // ---- for a waiter

    /// Returns whether the operation is done, as [#isDone()].
    @Override
    public boolean isReady() {
        return isDone();
    }

    @Preview
    @Override
    public WaitSource waitSource() {
        return new Events();
    }

    /// The side for a waiter, whose thread reads for the whole worker.
    private final class Events implements WaitSource {
        @Override
        public void addListener(Runnable listener) {
            synchronized (outcome) {
                var added = listeners == null ? new CopyOnWriteArrayList<Runnable>() : listeners;
                added.add(listener);
                listeners = added;
            }
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

        @Override
        public Optional<Place> place() {
            return Optional.of(readers.place);
        }
    }

    // ---- by the worker

    /// Sets the action that takes it back.
    void withdrawnBy(BooleanSupplier way) {
        withdraw = way;
    }

    /// Calls a listener when it is done, on a virtual thread: with the failure, or with null.
    @SuppressWarnings("FutureReturnValueIgnored") // a failure of the listener is its own
    void whenDone(Consumer<@Nullable Throwable> listener) {
        outcome.whenCompleteAsync((_, failure) -> listener.accept(failure), Thread::startVirtualThread);
    }

    void complete(T result) {
        if (outcome.complete(result)) {
            tell();
        }
    }

    void fail(RuntimeException why) {
        if (outcome.completeExceptionally(why)) {
            tell();
        }
    }

    private void tell() {
        readers.tell(waiting);
        var all = listeners;
        if (all != null) {
            all.forEach(Runnable::run);
        }
    }

    void cancelled() {
        fail(new CancellationException("it was cancelled"));
    }
}
