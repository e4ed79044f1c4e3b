package verbena.verbs.cm;

/// The side that ended a connection.
public enum EndedBy {
    /// The program on this side.
    THIS_SIDE,
    /// The peer: it has said so.
    PEER,
    /// Neither side: a request failed, or the peer does not answer any more.
    FAILURE
}
