package verbena.transport.rc;

/// The transport of packets to a peer, where it can be seen whether the peer has read them. Engine-confined.
public interface PacketWay {
    /// Returns the place behind all packets that were added, by any connection.
    long added();

    /// Returns whether the peer's device has taken all packets before such a place. It may show so later than it
    /// takes them.
    boolean isRead(long place);
}
