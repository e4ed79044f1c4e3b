package verbena.cm.mpa;

/// How long a connection waits, and for what. At most one of these runs at a time.
public enum MpaTimer {
    /// For the reply to a request, TCP's own connecting included; as soft-iWARP waits.
    REPLY(10_000_000_000L),
    /// For the request of a peer that has connected; as soft-iWARP waits.
    REQUEST(5_000_000_000L),
    /// For the end of a stream that this side has ended.
    END(5_000_000_000L),
    /// Before a port without a listener is tried again (decision 0048).
    RETRY(5_000_000L);

    final long nanos;

    MpaTimer(long nanos) {
        this.nanos = nanos;
    }
}
