package verbena.verbs;

import java.time.Duration;
import java.util.Optional;

/// A queue of finished requests (ibv_create_cq(3)). Any thread may poll; each completion is given out once. The
/// thread that polled a request's completion sees what the request wrote.
///
/// A completion queue that overflows is broken: [AsyncEvent.CompletionQueueEvent] is raised and its queue pairs go
/// to ERR. Make it as large as all requests that can be outstanding on it.
public interface CompletionQueue extends VerbsObject {
    Context context();

    /// Returns the number of completions that it can hold.
    int capacity();

    /// Takes the oldest completion into `wc`; false, and `wc` unchanged, when there is none. Never blocks, never
    /// allocates.
    boolean poll(WorkCompletion wc);

    /// Takes up to `into.length` completions, oldest first; returns how many.
    default int poll(WorkCompletion[] into) {
        int n = 0;
        while (n < into.length && poll(into[n])) {
            n++;
        }
        return n;
    }

    /// Waits for a completion and takes it into `wc`; false when `timeout` passed. Polls for a short while, then
    /// sleeps; a virtual thread gives up its carrier. Does not disturb a channel.
    ///
    /// @throws InvalidStateException when the queue is closed, also while waiting
    boolean await(WorkCompletion wc, Duration timeout) throws InterruptedException;

    /// Waits for a completion without a time limit, and takes it into `wc`. Otherwise as [#await(WorkCompletion,
    /// Duration)].
    ///
    /// @throws InvalidStateException when the queue is closed, also while waiting
    void await(WorkCompletion wc) throws InterruptedException;

    /// Asks the channel for one notification at the next completion (ibv_req_notify_cq(3)). Poll once more after
    /// arming: a completion that came before causes no notification.
    ///
    /// @param solicitedOnly only for a completion of a solicited message, or with an error
    void arm(boolean solicitedOnly);

    /// Changes the capacity; completions in it stay (ibv_resize_cq(3)).
    ///
    /// @throws ResourceLimitException when more are in it than `entries`, or the device has none of this size
    void resize(int entries);

    /// Returns the channel that it was made with.
    Optional<CompletionChannel> channel();
}
