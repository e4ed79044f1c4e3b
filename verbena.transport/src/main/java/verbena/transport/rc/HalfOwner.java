package verbena.transport.rc;

/// The connection that a [Requester] or a [Responder] is a half of.
interface HalfOwner {
    /// The queue pair goes to ERR, because a half cannot go on. The half then completes what has failed, and
    /// calls [#flush()]. So a thread that sees the failed completion finds the queue pair in ERR, and its peer
    /// reaches no memory through it any more. Responses that are owed still leave, unless they are
    /// [dropped][#dropResponses()].
    ///
    /// @param cause in words
    void enterError(String cause);

    /// ERR: the peer is owed nothing any more.
    void dropResponses();

    /// ERR: what is posted, or in use, completes as flushed.
    void flush();

    /// A half has made the connection migrate to its alternate path.
    void onMigrated();

    /// The queue pair goes to ERR, although no request of its own has failed; nothing more is sent.
    ///
    /// @param cause in words
    default void fail(String cause) {
        dropResponses();
        enterError(cause);
        flush();
    }
}
