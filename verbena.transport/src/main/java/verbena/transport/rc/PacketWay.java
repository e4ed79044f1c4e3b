package verbena.transport.rc;

/// The transport of packets to a peer, where it can be seen whether the peer has read them. Engine-confined.
public interface PacketWay {
    /// Returns the place behind all packets that were added, by any connection.
    long added();

    /// Returns whether the peer's device has taken all packets before such a place. It may show so later than it
    /// takes them. Only the last place is asked about.
    boolean isRead(long place);

    /// Returns whether packets may get lost on the way, so that they are sent again though the peer may have them
    /// unread.
    default boolean mayLose() {
        return false;
    }

    /// Returns how long a peer that reads nothing at all is waited for, in nanoseconds.
    default long patienceNanos() {
        return Long.MAX_VALUE;
    }
}
