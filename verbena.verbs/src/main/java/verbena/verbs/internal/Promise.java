package verbena.verbs.internal;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Pending;
import verbena.verbs.WaitSource;
import verbena.verbs.waiting.TimeLimits;

/// A result that another thread provides, once. Threads that wait for it park, unless a subclass gives them something
/// to do meanwhile. Any thread.
///
/// @param <T> type of the result
public class Promise<T> implements Pending<T> {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    /// The listeners of waiters; null before the first.
    private volatile @Nullable CopyOnWriteArrayList<Runnable> listeners;

    /// An outstanding result.
    public Promise() {}

    /// Runs an action on a virtual thread. The result is done when the action has returned, or fails as it throws.
    @SuppressWarnings("NullAway") // a Void has no other value
    public static Pending<Void> ofRun(Runnable action) {
        var done = new Promise<Void>();
        Thread.startVirtualThread(() -> {
            try {
                action.run();
                done.complete(null);
            } catch (RuntimeException e) {
                done.fail(e);
            }
        });
        return done;
    }

    // ---- by the program

    @Override
    public final boolean isDone() {
        return outcome.isDone();
    }

    @Override
    public final T await() throws InterruptedException {
        boolean _ = awaitDone(TimeLimits.FOREVER);
        return resultNow();
    }

    @Override
    public final boolean await(Duration timeout) throws InterruptedException {
        if (!awaitDone(TimeLimits.nanos(timeout))) {
            return false;
        }
        throwFailure();
        return true;
    }

    @Override
    public final T resultNow() {
        if (!isDone()) {
            throw new InvalidStateException("resultNow: the operation is still outstanding");
        }
        throwFailure();
        return outcome.resultNow();
    }

    @Override
    public final Optional<RuntimeException> failure() {
        return outcome.handle((_, failure) -> Optional.ofNullable((RuntimeException) failure))
                .getNow(Optional.empty());
    }

    private void throwFailure() {
        if (outcome.isCompletedExceptionally()) {
            throw failure().orElseThrow();
        }
    }

    @Override
    public boolean cancel() {
        return false;
    }

    @Override
    public final CompletableFuture<T> toFuture() {
        return outcome.isDone() ? outcome.copy() : outcome.thenApplyAsync(result -> result, Thread::startVirtualThread);
    }

    @Override
    public final String toString() {
        return "pending result, "
                + failure().map(why -> "failed: " + why.getMessage()).orElse(isDone() ? "done" : "outstanding");
    }

    @Override
    public final WaitSource waitSource() {
        return new Events();
    }

    /// The side for a waiter.
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
            return Promise.this.place();
        }
    }

    // ---- by who provides it

    /// Waits until it is done; false when `nanos` have passed.
    protected boolean awaitDone(long nanos) throws InterruptedException {
        try {
            if (nanos == TimeLimits.FOREVER) {
                T _ = outcome.get();
            } else {
                T _ = outcome.get(nanos, TimeUnit.NANOSECONDS);
            }
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            return true; // done: whoever asks for the result gets the failure
        }
        return true;
    }

    /// Returns where a waiter's thread can wait for it; empty when it parks.
    protected Optional<WaitSource.Place> place() {
        return Optional.empty();
    }

    /// Handles that it is done, before the listeners of waiters.
    protected void onDone() {}

    /// Calls a listener when it is done, on a virtual thread: with the failure, or with null.
    @SuppressWarnings("FutureReturnValueIgnored") // a failure of the listener is its own
    public final void whenDone(Consumer<@Nullable Throwable> listener) {
        outcome.whenCompleteAsync((_, failure) -> listener.accept(failure), Thread::startVirtualThread);
    }

    /// Gives the result, unless it is done.
    public final void complete(T result) {
        if (outcome.complete(result)) {
            tell();
        }
    }

    /// Fails it, unless it is done.
    public final void fail(RuntimeException why) {
        if (outcome.completeExceptionally(why)) {
            tell();
        }
    }

    private void tell() {
        onDone();
        var all = listeners;
        if (all != null) {
            all.forEach(Runnable::run);
        }
    }
}
