package verbena.transport;

import verbena.verbs.QpState;

/// A queue pair's protocol as its owner knows it, which modifies and ends it. It is the same for all kinds of
/// devices. Engine-confined.
public interface QueuePairLife {
    /// Handles a change of [QueuePairParameters#state] by the owner; called also for changes within a state.
    void onModified(QpState from, QpState to, long nowNanos);

    /// Returns whether SQD still waits for started requests.
    boolean isDraining();

    /// Puts the queue pair into ERR, for a reason of the owner.
    ///
    /// @param cause in words, for everything that is flushed
    void breakDown(String cause);

    /// Handles the end of the process at the other end, from which no answer will ever come. The oldest request
    /// fails as after the last retry, where there are retries.
    ///
    /// @param cause in words, for everything that is flushed
    default void peerGone(String cause) {
        breakDown(cause);
    }

    /// Returns the reason why the queue pair is in ERR or SQE, in words; empty when it is not, or when its owner
    /// wanted it.
    String rootCause();
}
