package verbena.transport.rc;

import org.jspecify.annotations.Nullable;

/// Packets of a [Requester] that lie where its peer has not read them (decision 08). Nothing is known of them
/// where packets take no [PacketWay]. Engine-confined.
final class UnreadPackets {
    private static final long NOWHERE = -1;

    private @Nullable PacketWay way;
    /// The place behind all packets that the ACK timer has run out for.
    private long place = NOWHERE;
    /// Whether the peer had not come to that place when the ACK timer last ran out.
    private boolean wasUnread;

    /// Sends packets by this [PacketWay] from now on.
    void watch(PacketWay to) {
        way = to;
    }

    /// Returns whether packets lie where the peer has not read them, or has read them only since the last time;
    /// called when the ACK timer has run out. They are not lost, and the peer has not had its time.
    boolean waitsForReader() {
        if (way == null) {
            return false;
        }
        if (place == NOWHERE) {
            place = way.added();
        }
        boolean isUnread = !way.isRead(place);
        boolean waits = isUnread || wasUnread;
        wasUnread = isUnread;
        if (!waits) {
            forget();
        }
        return waits;
    }

    /// Forgets the place: the peer has acknowledged a packet, or nothing is under way any more.
    void forget() {
        place = NOWHERE;
        wasUnread = false;
    }
}
