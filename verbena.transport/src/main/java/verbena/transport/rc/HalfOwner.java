package verbena.transport.rc;

/// The connection that a [Requester] or a [Responder] is a half of.
interface HalfOwner {
    /// The half cannot go on: the queue pair goes to ERR.
    ///
    /// @param cause in words
    /// @param keepAnswers whether the responder still sends what it owes, a NAK at its end
    void fail(String cause, boolean keepAnswers);
}
