package verbena.verbs;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/// A queue of the completions of requests (ibv_create_cq(3)).
///
/// Any thread may poll; each completion is given out once. The thread that polls a request's completion sees what the
/// request wrote.
///
/// A queue that overflows is broken: the device raises [AsyncEvent.CompletionQueueEvent] and moves its queue pairs to
/// ERR (IBTA 11.6.3.2). Make it as large as all requests that can be outstanding on it.
///
/// [Context#createCompletionQueue] makes it. The program closes it after the queue pairs that use it, and
/// [InUseException] names those still open. Closing discards the completions that are left, and wakes all waiting
/// threads. All verbs then throw [InvalidStateException].
///
/// @since 0.1
public interface CompletionQueue extends VerbsObject {
    /// Returns the device that the queue belongs to.
    Context context();

    /// Returns the number of completions that the queue can hold: at least as many as were asked for.
    int capacity();

    /// Takes the oldest completion into `wc`; false, and `wc` unchanged, when there is none. Never blocks, never
    /// allocates.
    ///
    /// @throws InvalidStateException when the queue is closed, or has overflowed and its last completion was taken
    boolean poll(WorkCompletion wc);

    /// Takes up to `into.length` completions, oldest first; returns how many.
    ///
    /// @param into completions to fill, each of them made by the program
    /// @throws NullPointerException when one of them is null; no completion is taken
    /// @throws InvalidStateException as [#poll(WorkCompletion)], when there is no completion to take
    default int poll(WorkCompletion[] into) {
        for (WorkCompletion each : into) {
            Objects.requireNonNull(each, "into: each completion");
        }
        int n = 0;
        try {
            while (n < into.length && poll(into[n])) {
                n++;
            }
        } catch (InvalidStateException e) {
            if (n == 0) {
                throw e; // otherwise the next poll throws it
            }
        }
        return n;
    }

    /// Waits for a completion and takes it into `wc`; false when `timeout` passed. Polls for a short while,
    /// then sleeps; a virtual thread releases its carrier. A limit of zero or less does not wait. Leaves the
    /// channel and its arming as they are.
    ///
    /// @throws InvalidStateException when the queue is closed, also while waiting, or has overflowed
    /// @throws DeviceException when the device has failed
    boolean await(WorkCompletion wc, Duration timeout) throws InterruptedException;

    /// Waits for a completion without a time limit, and takes it into `wc`. Otherwise as [#await(WorkCompletion,
    /// Duration)].
    ///
    /// @throws InvalidStateException when the queue is closed, also while waiting, or has overflowed
    /// @throws DeviceException when the device has failed
    void await(WorkCompletion wc) throws InterruptedException;

    /// Asks the channel for one notification at the next completion (ibv_req_notify_cq(3)). Poll once more after
    /// arming: a completion that came before causes no notification.
    ///
    /// @throws InvalidStateException when the queue is closed, or was made without a channel
    void arm();

    /// Asks the channel for one notification at the next completion of a solicited message ([SendBatch#solicited()]),
    /// or of a failed request. Otherwise as [#arm()]; a queue that is armed for all stays so.
    ///
    /// @throws InvalidStateException when the queue is closed, or was made without a channel
    void armSolicited();

    /// Changes the capacity; completions in it stay (ibv_resize_cq(3)).
    ///
    /// @param entries at least 1
    /// @throws ResourceLimitException when more completions are in it than `entries`, or the device has no queue of
    ///     this size
    /// @throws UnsupportedException when the device cannot resize queues ([Capability#RESIZE_CQ])
    void resize(int entries);

    /// Returns the channel that the queue was made with; empty when there is none.
    Optional<CompletionChannel> channel();
}
