package verbena.cm;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Req;

/// The connections of a [CommunicationManager], by each of their names, and what makes room for one more: they have
/// limits ([CmLimits]), and those that strangers ask for have lower ones.
final class CmConnections implements CmConnection.Registry {
    /// The peer's name for a connection, or for its queue pair.
    private record Foreign(Gid from, long caGuid, int number) {}

    private final CmOutbox outbox;
    private final CmLimits limits;
    private final Runnable decided;
    private final Map<Integer, CmConnection> byLocalCommId = new HashMap<>();
    private final Map<Foreign, CmConnection> byRemoteCommId = new HashMap<>();
    private final Map<Foreign, CmConnection> byRemoteQpn = new HashMap<>();
    private final Crowd<CmConnection> halfOpen =
            new Crowd<>(connection -> connection.route().remote());
    private final LinkedHashSet<CmConnection> inTimewait = new LinkedHashSet<>();

    /// @param decided runs when a request of a peer is decided or forgotten
    CmConnections(CmOutbox outbox, CmLimits limits, Runnable decided) {
        this.outbox = outbox;
        this.limits = limits;
        this.decided = decided;
    }

    // ---- names

    /// Adds a connection with a number of its own.
    ///
    /// @param service the service that a peer asks for; null when this side asks
    CmConnection add(CmEvent.Listener listener, CmRoute route, @Nullable CmService service) {
        int commId = outbox.newId(byLocalCommId::containsKey);
        var connection =
                new CmConnection(outbox, this, listener, route, commId, service == null ? null : service::remove);
        byLocalCommId.put(commId, connection);
        return connection;
    }

    @Nullable
    CmConnection ofLocalCommId(int commId) {
        return byLocalCommId.get(commId);
    }

    @Nullable
    CmConnection ofRemoteCommId(Gid peer, long caGuid, int commId) {
        return byRemoteCommId.get(new Foreign(peer, caGuid, commId));
    }

    boolean hasRemoteQpn(Gid peer, long caGuid, int qpn) {
        return byRemoteQpn.containsKey(new Foreign(peer, caGuid, qpn));
    }

    /// Returns the connection that both sides name so.
    @Nullable
    CmConnection find(int ours, int theirs, CmRoute route) {
        CmConnection connection = byLocalCommId.get(ours);
        if (connection != null
                && connection.messages().remoteCommId() == theirs
                && connection.route().equals(route)) {
            return connection;
        }
        outbox.count(CmCounter.STRAYS);
        return null;
    }

    /// Returns the same when the peer's name for it may not be known yet.
    @Nullable
    CmConnection findAnswered(int ours, int theirs, CmRoute route) {
        CmConnection connection = byLocalCommId.get(ours);
        if (connection == null || !connection.route().equals(route)) {
            return null;
        }
        boolean isUnknown = connection.state() == CmConnection.State.REQ_SENT;
        return isUnknown || connection.messages().remoteCommId() == theirs ? connection : null;
    }

    @Override
    public boolean identified(CmConnection connection) {
        assert byLocalCommId.get(connection.localCommId()) == connection : "it has a number of its own";
        Foreign commId = foreign(connection, connection.messages().remoteCommId());
        Foreign qpn = foreign(connection, connection.messages().remoteQpn());
        if (byRemoteCommId.containsKey(commId) || byRemoteQpn.containsKey(qpn)) {
            return false;
        }
        byRemoteCommId.put(commId, connection);
        byRemoteQpn.put(qpn, connection);
        return true;
    }

    @Override
    public void forget(CmConnection connection) {
        CmConnection forgotten = byLocalCommId.remove(connection.localCommId());
        assert forgotten == connection : "it is forgotten once";
        byRemoteCommId.remove(foreign(connection, connection.messages().remoteCommId()), connection);
        byRemoteQpn.remove(foreign(connection, connection.messages().remoteQpn()), connection);
    }

    private static Foreign foreign(CmConnection connection, int number) {
        return new Foreign(connection.route().remote(), connection.messages().remoteCaGuid(), number);
    }

    // ---- room

    @Override
    public void moved(CmConnection connection) {
        if (connection.isHalfOpen()) {
            boolean _ = halfOpen.add(connection);
        } else if (halfOpen.remove(connection)) {
            decided.run();
        }
        assert halfOpen.size() + inTimewait.size() <= byLocalCommId.size() : "each stands in one place";
        if (connection.state() == CmConnection.State.TIMEWAIT) {
            inTimewait.add(connection);
        } else {
            inTimewait.remove(connection);
        }
    }

    /// Returns whether a peer has asked for a service at an own address, and may ask again because it has no answer
    /// yet.
    boolean isAsked(long serviceId, Gid local) {
        for (CmConnection one : halfOpen.all()) {
            if (one.request().serviceId() == serviceId && one.route().local().equals(local)) {
                return true;
            }
        }
        return false;
    }

    /// Makes room for another connection; the oldest timewait ends for it.
    boolean makeRoom() {
        if (byLocalCommId.size() >= limits.connections() && !inTimewait.isEmpty()) {
            inTimewait.getFirst().hurry();
        }
        return byLocalCommId.size() < limits.connections();
    }

    /// Returns whether there is room for another connection that a stranger asks for: at the service, and among the
    /// half open. Otherwise the request is refused, or its sender is to wait and to repeat it: nothing of it is
    /// kept here. Among the half open a peer may have more than its share as long as no other peer wants the room.
    /// Then the oldest goes, first of the peers that have more.
    boolean hasRoom(Req req, CmRoute route, CmService service) {
        Gid peer = route.remote();
        boolean isFull = halfOpen.size() >= limits.halfOpen() || (!makeRoom() && halfOpen.size() > 0);
        CmConnection rival = service.isFull() ? service.rival(peer) : null;
        if ((isFull && halfOpen.of(peer) >= limits.perPeer()) || (service.isFull() && rival == null)) {
            outbox.count(CmCounter.PUT_OFF);
            int code = CmTimer.SERVICE_TIMEOUT;
            outbox.send(route, new Mra(req.transactionId(), 0, req.localCommId(), 0, code, PrivateData.NONE));
            return false;
        }
        if (rival != null) {
            shed(rival, "others wait for the same service");
        } else if (isFull) {
            CmConnection beyond = halfOpen.oldestBeyond(limits.perPeer());
            shed(beyond == null ? halfOpen.oldest() : beyond, "too many connections are being made");
        }
        boolean is = byLocalCommId.size() < limits.connections();
        if (!is) {
            outbox.refuse(req, route, RejectReason.NO_RESOURCES, PrivateData.NONE);
        }
        return is;
    }

    private void shed(CmConnection connection, String why) {
        outbox.count(CmCounter.SHED);
        connection.shed("the request of " + connection.route().remote() + " was forgotten: " + why);
    }

    // ---- figures

    /// Returns the number of all connections.
    int size() {
        return byLocalCommId.size();
    }

    int halfOpen() {
        return halfOpen.size();
    }

    int inTimewait() {
        return inTimewait.size();
    }
}
