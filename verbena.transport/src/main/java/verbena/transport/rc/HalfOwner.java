package verbena.transport.rc;

/// The connection that a [Requester] or a [Responder] is a half of.
interface HalfOwner {
    /// Moves the queue pair to ERR, because a half cannot go on. The half then completes what has failed, and calls
    /// [#flush()]. A thread that sees the failed completion therefore finds the queue pair in ERR, and its peer
    /// reaches no memory through it any more. Responses that are owed still leave, unless they are
    /// [dropped][#dropResponses()].
    ///
    /// @param cause in words
    void enterError(String cause);

    /// Drops the responses that are owed (ERR).
    void dropResponses();

    /// Completes all that is posted, or in use, as flushed (ERR).
    void flush();

    /// Handles a migration of the connection to its alternate path, by one of the halves.
    void onMigrated();

    /// Moves the queue pair to ERR, although no request of its own has failed; nothing more is sent.
    ///
    /// @param cause in words
    default void fail(String cause) {
        dropResponses();
        enterError(cause);
        flush();
    }
}
