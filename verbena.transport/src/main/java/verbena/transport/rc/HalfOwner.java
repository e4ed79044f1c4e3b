package verbena.transport.rc;

/// The connection that a [Requester] or a [Responder] is a half of.
interface HalfOwner {
    /// The half cannot go on: the queue pair goes to ERR, and nothing more is sent.
    ///
    /// @param cause in words
    void fail(String cause);

    /// The responder cannot go on: the queue pair goes to ERR, but what the responder owes still leaves, a NAK at its
    /// end.
    void failWhenAnswered(String cause);
}
