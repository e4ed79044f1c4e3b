package verbena.transport.rc;

/// The outcome of an attempt to begin a request of a [ReliableConnection].
public enum Beginning {
    /// Done: the request needs neither the peer nor packets.
    DONE,
    /// The request cannot begin now: it has to wait, or has failed.
    WAITS,
    /// Ready to be carried out.
    MAY_LEAVE
}
