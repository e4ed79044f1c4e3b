package verbena.transport.rc;

/// The way of packets to a peer where it can be seen whether the peer has read them. Engine-confined.
public interface PacketWay {
    /// The place on the way behind all that was added, by whomever.
    long added();

    /// Whether the peer's device has taken all before such a place. It may say so later than it does so.
    boolean isRead(long place);
}
