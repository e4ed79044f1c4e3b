package verbena.verbs.cm;

/// Who ended a connection.
public enum EndedBy {
    /// The program on this side.
    THIS_SIDE,
    /// The peer: it has said so.
    PEER,
    /// Nobody wanted it: a request failed, or the peer does not answer any more.
    FAILURE
}
