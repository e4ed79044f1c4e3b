package verbena.transport;

import verbena.verbs.QpState;

/// A queue pair's protocol as its owner, who modifies and ends it, knows it, whatever it runs over.
/// Engine-confined.
public interface QueuePairLife {
    /// The owner has changed [QueuePairParameters#state] and whatever goes with it; called also for changes within
    /// a state.
    void onModified(QpState from, QpState to, long nowNanos);

    /// Whether SQD still waits for started requests.
    boolean isDraining();

    /// The owner has to put the queue pair into ERR, for a reason of its own.
    ///
    /// @param cause in words, for everything that is flushed
    void breakDown(String cause);

    /// Why the queue pair is in ERR or SQE, in words; empty when it is not, or when its owner wanted it.
    String rootCause();
}
