package verbena.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/// The result of an operation that may still be outstanding: a request of a [verbena.verbs.cm.Connection], an
/// operation of messages, or the end of a connection or a peer. Until it is done, the memory of the operation belongs
/// to the device: the program must neither read what is received nor change what is sent.
///
/// Any thread may use it, and it needs no closing. A [Waiter] waits for it together with other sources, and returns
/// it once. What returns it begins with `post`. A connection's `post` waits while its queue pair is full; that of a
/// peer of messages never waits. When the connection or the peer ends, an outstanding operation is done, with a
/// [ConnectionException].
/// Verbena alone implements this, so later versions may add methods.
///
/// @param <T> type of the result; [Void] when there is none
/// @since 0.1
public interface Pending<T> extends Waitable {
    /// Returns whether the operation is done, successfully or not. Never blocks.
    boolean isDone();

    /// Waits until the operation is done, and returns its result. Meanwhile the thread may handle what arrives for
    /// other operations. An interrupted thread leaves the operation outstanding.
    ///
    /// @throws ConnectionException when the connection, the peer or the worker has ended, or the peer refuses the
    ///     request
    /// @throws CancellationException when it was cancelled
    /// @throws InvalidStateException in a handler of messages, which must not wait
    /// @throws RuntimeException when the operation has a failure of its own: a call throws
    ///     `verbena.messages.CallException`
    T await() throws InterruptedException;

    /// Waits until the operation is done; false when `timeout` passed. The operation is then still outstanding, and
    /// a thread can wait for it again. A limit of zero or less does not wait. Throws as [#await()].
    boolean await(Duration timeout) throws InterruptedException;

    /// Returns the result of an operation that is done, for example in an action that a [Waiter] has returned. Never
    /// waits. Throws as [#await()].
    ///
    /// @throws InvalidStateException when the operation is still outstanding
    T resultNow();

    /// Returns the exception that [#await()] throws when the operation is done; empty when it has succeeded or is
    /// still outstanding. Never blocks.
    Optional<RuntimeException> failure();

    /// Takes the operation back. Threads that wait for it get a [CancellationException]. A device gives no posted
    /// request back, so only a receive of messages without a message can be cancelled, and a call without an
    /// answer. To end the requests of a [verbena.verbs.cm.Connection], close it.
    ///
    /// @return false when it is too late, or the operation is of another kind. For a call without a time limit,
    ///     false also while a device uses its memory: a long request that the peer may read, or an answer on its
    ///     way
    boolean cancel();

    /// Returns a future of the result, to compose several. A virtual thread completes it, even while no thread
    /// waits. Cancelling it does not cancel the operation.
    CompletableFuture<T> toFuture();

    /// Returns whether the operation is done, as [#isDone()].
    @Override
    default boolean isReady() {
        return isDone();
    }
}
