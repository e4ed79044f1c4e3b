package verbena.verbs.cm;

/// The side that ended a connection. Immutable.
///
/// @since 0.1
public enum EndedBy {
    /// The program on this side.
    THIS_SIDE,
    /// The peer: it sent a disconnect request.
    PEER,
    /// Neither side: a request failed, a completion queue overflowed, or the peer does not answer any more.
    FAILURE
}
