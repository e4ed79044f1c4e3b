package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.Protocol;
import verbena.transport.queue.SendRequest;

/// The ways of a [Requester] that need no packets, as far as there are such: [DirectRequests] and [DirectMessages].
/// Engine-confined.
final class DirectWays {
    /// The time is not known.
    static final long NO_TIME = Long.MIN_VALUE;

    private static final long NOWHERE = -1;

    private final SendCursor cursor;
    private @Nullable DirectRequests requests;
    private @Nullable DirectMessages messages;
    /// The way that packets take, where it can be seen whether the peer has read them.
    private @Nullable PeerMessages path;
    /// The place on it behind all packets that the ACK timer has run out for.
    private long place = NOWHERE;
    /// Whether the peer had not come to that place when the ACK timer last ran out.
    private boolean wasUnread;

    DirectWays(SendCursor cursor) {
        this.cursor = cursor;
    }

    void use(DirectRequests way) {
        requests = way;
    }

    void use(DirectMessages way) {
        messages = way;
    }

    /// Packets take this way.
    void watch(PeerMessages way) {
        path = way;
    }

    boolean isEmpty() {
        return requests == null && messages == null;
    }

    // ---- life

    /// Something of the queue pair was changed.
    void onModified() {
        if (messages != null) {
            messages.onModified();
        }
    }

    /// Nothing is under way any more.
    void stop() {
        forgetPlace();
        if (messages != null) {
            messages.stop();
        }
    }

    /// The peer has acknowledged a packet.
    void proven() {
        forgetPlace();
        if (messages != null) {
            messages.proven();
        }
    }

    // ---- requests

    /// Whether a request has begun, here, and is not done.
    boolean hasBegun() {
        return (requests != null && requests.hasBegun()) || hasMessages();
    }

    /// Whether messages are under way. Nothing else begins meanwhile but [#goOn()].
    boolean hasMessages() {
        return messages != null && messages.isUnderWay();
    }

    /// Hands over what may follow the messages that are under way. True when nothing is left.
    boolean goOn() {
        return messages != null && messages.handOver();
    }

    /// Whether all that is posted is done, or is under way as a message.
    boolean isAllHandedOver() {
        return messages != null && messages.isUnderWay() && messages.isAllHandedOver();
    }

    /// The queue pair is polled.
    void beginTurn() {
        if (requests != null) {
            requests.beginTurn();
        }
    }

    /// Carries out the current request, which is new, as far as possible. It waits after
    /// [PeerMemory.Progress#MORE].
    ///
    /// @param now or [#NO_TIME]
    PeerMemory.Progress begin(SendRequest request, long now) {
        if (request.isOneSided()) {
            return requests == null ? PeerMemory.Progress.BY_PACKETS : begin(requests, request);
        }
        return messages == null ? PeerMemory.Progress.BY_PACKETS : begin(messages, request, now);
    }

    private static PeerMemory.Progress begin(DirectRequests way, SendRequest request) {
        return way.shouldWait(request) ? PeerMemory.Progress.MORE : way.execute(request);
    }

    private PeerMemory.Progress begin(DirectMessages way, SendRequest request, long now) {
        if (!cursor.isCurrentOldest()) {
            return way.shouldWait(request) ? PeerMemory.Progress.MORE : PeerMemory.Progress.BY_PACKETS;
        }
        if (!way.mayBegin(request)) {
            return PeerMemory.Progress.BY_PACKETS;
        }
        boolean mustWait = now == NO_TIME && !way.isTimed();
        return mustWait || way.begin(now) ? PeerMemory.Progress.MORE : PeerMemory.Progress.BY_PACKETS;
    }

    /// A request goes by packets, of which the first is sent.
    void wentByPackets(SendRequest request) {
        if (requests != null) {
            requests.declined(request);
        }
        if (messages != null) {
            messages.wentByPackets(request);
        }
    }

    // ---- time

    /// The ACK timer has run out: whether packets lie where the peer has not read them, or has read them only since
    /// the last time. They are not lost, and the peer has not had its time (decision 0106).
    boolean waitsForReader() {
        if (path == null) {
            return false;
        }
        if (place == NOWHERE) {
            place = path.added();
        }
        boolean isUnread = !path.isRead(place);
        boolean waits = isUnread || wasUnread;
        wasUnread = isUnread;
        if (!waits) {
            forgetPlace();
        }
        return waits;
    }

    private void forgetPlace() {
        place = NOWHERE;
        wasUnread = false;
    }

    long dueNanos() {
        return messages == null ? Protocol.NEVER : messages.dueNanos();
    }

    void onDue(long now) {
        if (messages != null) {
            messages.onDue(now);
        }
    }
}
