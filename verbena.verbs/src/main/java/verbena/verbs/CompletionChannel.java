package verbena.verbs;

import java.time.Duration;
import java.util.Optional;

/// A channel on which threads wait for notifications of several completion queues (ibv_create_comp_channel(3)). A
/// notification says that an armed queue has a completion. Taking it acknowledges it.
///
/// Any thread may use it; each notification reaches one thread. [Context#createCompletionChannel()] makes it. The
/// program closes it after its completion queues, and [InUseException] names those still open. Closing wakes all
/// waiting threads. Waiting and polling then throw [InvalidStateException]. A [Waiter] waits for several channels,
/// and for connections too.
///
/// @since 0.1
public interface CompletionChannel extends VerbsObject, Waitable {
    /// Returns the device that the channel belongs to.
    Context context();

    /// Waits until an armed completion queue has a completion; empty when `timeout` passed. A virtual thread
    /// releases its carrier meanwhile. Poll the queue until it is empty, arm it again, and poll it once more.
    ///
    /// @throws InvalidStateException when the channel is closed, also while waiting
    Optional<CompletionQueue> await(Duration timeout) throws InterruptedException;

    /// Waits without a time limit until an armed completion queue has a completion.
    ///
    /// @throws InvalidStateException when the channel is closed, also while waiting
    CompletionQueue await() throws InterruptedException;

    /// Takes a notification if there is one. Never blocks.
    ///
    /// @throws InvalidStateException when the channel is closed
    Optional<CompletionQueue> poll();
}
