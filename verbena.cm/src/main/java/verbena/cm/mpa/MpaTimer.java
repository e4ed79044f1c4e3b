package verbena.cm.mpa;

/// The limits on the waits of a connection. At most one of these runs at a time.
public enum MpaTimer {
    /// The wait for the reply to a request, TCP's own connecting included; as soft-iWARP waits.
    REPLY(10_000_000_000L),
    /// The wait for the request of a peer that has connected; as soft-iWARP waits.
    REQUEST(5_000_000_000L),
    /// The wait for the end of a stream that this side has ended.
    END(5_000_000_000L),
    /// The wait before a port without a listener is tried again (decision 20).
    RETRY(5_000_000L);

    final long nanos;

    MpaTimer(long nanos) {
        this.nanos = nanos;
    }
}
