package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.Protocol;

/// Packets of a [Requester] that lie where its peer has not read them (decision 08). Nothing is known of them
/// where packets take no [PacketWay]. Engine-confined.
final class UnreadPackets {
    private static final long NOWHERE = -1;

    private @Nullable PacketWay way;
    /// The place behind all packets that the ACK timer has run out for.
    private long place = NOWHERE;
    /// Whether the peer had not come to that place when the ACK timer last ran out.
    private boolean wasUnread;
    /// Time at which the ACK timer first ran out since the peer last read anything; [Protocol#NEVER] if it has not, or
    /// if there is no limit.
    private long unreadSince = Protocol.NEVER;

    /// Sends packets by this [PacketWay] from now on.
    void watch(PacketWay to) {
        way = to;
    }

    /// Returns whether packets lie where the peer has not read them, or has read them only since the last time;
    /// called when the ACK timer has run out. They are not lost, and the peer has not had its time.
    boolean waitsForReader(long now) {
        if (way == null) {
            return false;
        }
        if (place == NOWHERE) {
            place = way.added();
        }
        boolean isRead = way.isRead(place);
        if (isRead || way.patienceNanos() == Long.MAX_VALUE) {
            unreadSince = Protocol.NEVER;
        } else if (unreadSince == Protocol.NEVER) {
            unreadSince = now;
        }
        boolean isUnread = !isRead && (unreadSince == Protocol.NEVER || now - unreadSince < way.patienceNanos());
        boolean waits = isUnread || wasUnread;
        wasUnread = isUnread;
        if (!waits) {
            place = NOWHERE;
        }
        return waits;
    }

    /// Returns whether such packets may be lost all the same.
    boolean mayBeLost() {
        return way != null && way.mayLose();
    }

    /// Forgets the place: the peer has acknowledged a packet, or nothing is under way any more.
    void forget() {
        place = NOWHERE;
        wasUnread = false;
        unreadSince = Protocol.NEVER;
    }
}
