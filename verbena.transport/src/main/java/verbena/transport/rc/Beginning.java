package verbena.transport.rc;

/// How a request of a [ReliableConnection] begins.
public enum Beginning {
    /// Done: the request needs neither the peer nor packets.
    DONE,
    /// Not now: the request has to wait, or has failed.
    WAITS,
    /// Ready to be carried out.
    MAY_LEAVE
}
