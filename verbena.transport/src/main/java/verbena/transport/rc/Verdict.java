package verbena.transport.rc;

/// The result of a [Responder]'s checks of a request. What follows from each is in `Responder#conclude`.
enum Verdict {
    /// The request passes all checks.
    ACCEPTED,
    /// There is no room for its response: it counts as lost.
    BUSY,
    /// The request needs a receive, and none is posted.
    NOT_READY,
    /// The peer may not ask for this, or not now.
    INVALID_REQUEST,
    /// The message is longer than its receive.
    TOO_LONG,
    /// The peer may not have this memory.
    NO_ACCESS,
    /// XRC: the peer may not name this shared receive queue.
    NO_QUEUE,
    /// The memory of the receive cannot be written.
    BAD_RECEIVE,
    /// The key that the SEND names cannot be withdrawn.
    NOT_WITHDRAWN
}
