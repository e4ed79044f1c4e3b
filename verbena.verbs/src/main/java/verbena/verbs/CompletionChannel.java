package verbena.verbs;

import java.time.Duration;
import java.util.Optional;

/// A channel for notifications of completion queues (ibv_create_comp_channel(3)). Safe for use by any thread. Taking
/// a notification acknowledges it.
public interface CompletionChannel extends VerbsObject {
    Context context();

    /// Waits until an armed completion queue has something; empty when `timeout` passed. A virtual thread gives up
    /// its carrier.
    ///
    /// @throws InvalidStateException when the channel is closed, also while waiting
    Optional<CompletionQueue> await(Duration timeout) throws InterruptedException;

    /// Waits without a time limit until an armed completion queue has something.
    ///
    /// @throws InvalidStateException when the channel is closed, also while waiting
    CompletionQueue await() throws InterruptedException;

    /// Takes a notification that is there; empty when there is none.
    Optional<CompletionQueue> poll();
}
