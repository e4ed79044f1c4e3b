package verbena.transport.rc;

/// How a request of a [ReliableConnection] begins.
public enum Beginning {
    /// It is done: it needs neither the peer nor packets.
    DONE,
    /// It has to wait, or has failed.
    WAITS,
    /// It may be carried out.
    MAY_LEAVE
}
