package verbena.cm;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Drep;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.Lap;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;
import verbena.wire.mad.Mad;

/// Makes and ends the connections of one device (IBTA 12). Arrivals are pushed, departures are pulled, timers
/// are asked for, as with a queue pair's protocol; not safe for use by several threads.
///
/// A message from a sender that does not know the connection changes nothing: communication IDs are random,
/// and each message must come from the address that the connection is with. A request gets one answer, and
/// costs the same however many connections there are. What it leaves behind has limits ([CmLimits]), so
/// that a peer alone cannot use up the room of all.
public final class CommunicationManager {
    /// Numbers are drawn from all there are.
    public static final int NO_SLOT = CmOutbox.NO_SLOT;

    private static final int PATH_MTU_MAX = 5;
    /// The code in an MRA that names a LAP as the message received.
    private static final int ABOUT_LAP = 2;

    private final CmOutbox outbox;
    private final Map<Long, CmService> services = new HashMap<>();
    private final CmConnections connections;
    private final SidrRequests sidr;
    private final ClosedServices closed = new ClosedServices(this::isAsked);
    private final CmSuspects suspects = new CmSuspects();

    /// @param caGuid names this host and device to peers, not 0
    /// @param slot the 8 high bits of all communication and request IDs that are drawn here, when several
    ///     managers share an address; or [#NO_SLOT]
    /// @param random unpredictable to peers; in a simulation, seeded
    public CommunicationManager(long caGuid, int slot, RandomGenerator random, CmLimits limits) {
        this.outbox = new CmOutbox(caGuid, slot, random);
        this.connections = new CmConnections(outbox, limits, closed::onDecided);
        this.sidr = new SidrRequests(outbox, limits, closed::onDecided);
    }

    // ---- what the owner does

    /// Takes requests for a service from now on; false when another listener does already.
    ///
    /// @param backlog requests that may wait for the owner's decision; senders of more are asked to wait. A
    ///     peer that has the most gives one up to a peer that has fewer
    public boolean listen(long serviceId, int backlog, CmEvent.Listener listener) {
        return services.putIfAbsent(serviceId, new CmService(backlog, listener)) == null;
    }

    /// Takes none any more; connections stay, and those that wait for a decision.
    public void unlisten(long serviceId) {
        services.remove(serviceId);
    }

    /// Asks for a connection; null when there are too many.
    public @Nullable CmConnection connect(CmRoute route, CmCall call, CmEnd own, CmEvent.Listener listener, long now) {
        return connect(route, call, own, UnaryOperator.identity(), listener, now);
    }

    /// Connects likewise, after `seal` has changed the REQ.
    public @Nullable CmConnection connect(
            CmRoute route, CmCall call, CmEnd own, UnaryOperator<Req> seal, CmEvent.Listener listener, long now) {
        if (!connections.makeRoom()) {
            return null;
        }
        CmConnection connection = connections.add(listener, route, null);
        Req req = connection.messages().req(call, own);
        connection.begin(seal.apply(req), call.maxRetries(), now);
        return connection;
    }

    /// Registers a listener for requests for a datagram service (SIDR); returns false when there is another one
    /// already.
    public boolean answer(long serviceId, SidrInquiry.Listener answerer) {
        return sidr.answer(serviceId, answerer);
    }

    /// Removes that listener; open requests can still be answered.
    public void unanswer(long serviceId) {
        sidr.unanswer(serviceId);
    }

    /// Asks for the queue pair of a datagram service (IBTA 12.11); null when too many requests are open already.
    public @Nullable SidrRequest ask(
            CmRoute route,
            long serviceId,
            int responseTimeout,
            int maxRetries,
            PrivateData privateData,
            SidrRequest.Listener listener,
            long now) {
        return sidr.ask(route, serviceId, responseTimeout, maxRetries, privateData, listener, now);
    }

    /// Handles an access error: an established connection of this peer has asked for memory that it may not have.
    /// Returns true when that makes the peer blocked, which it was not: it gets no connections for a while
    /// ([CmSuspects]).
    public boolean onAccessError(Gid peer, long now) {
        return suspects.onAccessError(peer, now);
    }

    /// Runs `then` when no peer repeats a request for a service that was closed at an own address: at once, or when
    /// the last one is established, answered or over.
    public void whenQuiet(long serviceId, Gid local, Runnable then) {
        closed.add(serviceId, local, then);
    }

    private boolean isAsked(long serviceId, Gid local) {
        return connections.isAsked(serviceId, local) || sidr.isAsked(serviceId, local);
    }

    // ---- the four verbs

    /// Handles a management datagram of the class, of [Mad#BYTES].
    ///
    /// @param route to the sender
    public void onMad(MemorySegment mad, CmRoute route, long now) {
        CmMessage message = CmMessage.read(mad);
        if (message != null) {
            onMessage(message, route, now);
            return;
        }
        count(CmCounter.UNREADABLE);
        if (CmMessage.isRequestOfOtherVersion(mad)) {
            PrivateData supported = PrivateData.of((byte) Mad.CM_VERSION);
            outbox.refuse(
                    Mad.transactionId(mad),
                    CmMessage.localCommId(mad),
                    route,
                    RejectReason.UNSUPPORTED_CLASS_VERSION,
                    supported);
        }
    }

    /// Handles a message that has arrived.
    ///
    /// @param route to the sender
    public void onMessage(CmMessage message, CmRoute route, long now) {
        count(CmCounter.RECEIVED);
        switch (message) {
            case Req req -> onRequest(req, route, now);
            case Rep rep -> onReply(rep, route, now);
            case Rtu rtu -> {
                CmConnection connection = connections.find(rtu.remoteCommId(), rtu.localCommId(), route);
                if (connection != null) {
                    connection.onReadyToUse(rtu);
                }
            }
            case Rej rej -> onReject(rej, route, now);
            case Mra mra -> {
                CmConnection connection = connections.findAnswered(mra.remoteCommId(), mra.localCommId(), route);
                if (connection == null) {
                    count(CmCounter.STRAYS);
                } else if (mra.messageReceived() == ABOUT_LAP) {
                    connection.paths().onReceiptAck(mra, now);
                } else {
                    connection.onReceiptAck(mra, now);
                }
            }
            case Dreq dreq -> onDisconnectRequest(dreq, route, now);
            case Drep drep -> {
                CmConnection connection = connections.find(drep.remoteCommId(), drep.localCommId(), route);
                if (connection != null) {
                    connection.onDisconnectReply(drep, now);
                }
            }
            case Lap lap -> {
                CmConnection connection = connections.find(lap.remoteCommId(), lap.localCommId(), route);
                if (connection != null) {
                    connection.paths().onAsked(lap);
                }
            }
            case Apr apr -> {
                CmConnection connection = connections.find(apr.remoteCommId(), apr.localCommId(), route);
                if (connection != null) {
                    connection.paths().onAnswered(apr, now);
                }
            }
            case SidrReq asked -> sidr.onRequest(asked, route);
            case SidrRep answer -> sidr.onReply(answer, route);
        }
    }

    /// Polls the next message to send; null when there is none now.
    public @Nullable CmDeparture poll() {
        return outbox.poll();
    }

    /// Returns the time to call [#onDeadline(long)]; `Long.MAX_VALUE` when there is nothing to wait for.
    public long deadlineNanos() {
        return outbox.deadlineNanos();
    }

    /// Handles the deadline, which has perhaps come.
    public void onDeadline(long now) {
        outbox.onDeadline(now);
    }

    // ---- requests

    /// Returns whether a request is dropped or refused because of its sender. A process at this side's address is
    /// of the same user (decision 03), and trusted.
    private boolean isSuspected(Req req, CmRoute route, long now) {
        if (route.remote().equals(route.local())) {
            return false;
        }
        return switch (suspects.standing(route.remote(), now)) {
            case FREE -> false;
            case SLOWED -> { // its sender repeats it
                count(CmCounter.SUSPECTED);
                yield true;
            }
            case BLOCKED -> {
                count(CmCounter.SUSPECTED);
                refuse(req, route, RejectReason.NO_RESOURCES, CmRefusal.BLOCKED.info());
                yield true;
            }
        };
    }

    /// Handles a request, with checks in the order of IBTA 12.9.8.3: is it known, is it stale, is there a listener,
    /// is it valid, is there room.
    private void onRequest(Req req, CmRoute route, long now) {
        CmConnection known = connections.ofRemoteCommId(route.remote(), req.localCaGuid(), req.localCommId());
        if (known != null) {
            known.onRepeatedRequest(req, now);
            return;
        }
        if (connections.hasRemoteQpn(route.remote(), req.localCaGuid(), req.localQpn())) {
            count(CmCounter.STALE);
            refuse(req, route, RejectReason.STALE_CONNECTION);
            return;
        }
        if (isSuspected(req, route, now)) {
            return;
        }
        CmService service = services.get(req.serviceId());
        if (service == null) {
            refuse(req, route, RejectReason.INVALID_SERVICE_ID);
            return;
        }
        if (!isRight(req, route)) {
            return;
        }
        if (!connections.hasRoom(req, route, service)) {
            return;
        }
        CmConnection connection = connections.add(service.listener, route, service);
        connection.received(req);
        connections.identified(connection);
        service.add(connection);
        connections.moved(connection);
        service.listener.onEvent(connection, new CmEvent.Requested(req));
    }

    /// Checks that the request is valid; otherwise it is refused.
    private boolean isRight(Req req, CmRoute route) {
        if (req.transportType() != Req.RC && req.transportType() != Req.UC) {
            refuse(req, route, RejectReason.INVALID_TRANSPORT_TYPE);
            return false;
        }
        if (req.pathMtu() < 1 || req.pathMtu() > PATH_MTU_MAX) {
            refuse(req, route, RejectReason.INVALID_PATH_MTU);
            return false;
        }
        // The datagram came to an address of ours, and answers go to the address that it came from. The
        // queue pairs are to use the same two, so that an attacker cannot aim our replies at a third party.
        CmPath path = req.primary();
        if (!route.local().equals(new Gid(path.remoteGidHigh(), path.remoteGidLow()))
                || !route.remote().equals(new Gid(path.localGidHigh(), path.localGidLow()))) {
            refuse(
                    req,
                    route,
                    RejectReason.PRIMARY_GID_REJECTED,
                    PrivateData.of(route.local().bytes()));
            return false;
        }
        CmPath alternate = req.alternate();
        if (req.hasAlternate() && !route.local().equals(new Gid(alternate.remoteGidHigh(), alternate.remoteGidLow()))) {
            refuse(
                    req,
                    route,
                    RejectReason.ALTERNATE_GID_REJECTED,
                    PrivateData.of(route.local().bytes()));
            return false;
        }
        return true;
    }

    private void refuse(Req req, CmRoute route, RejectReason reason) {
        refuse(req, route, reason, PrivateData.NONE);
    }

    private void refuse(Req req, CmRoute route, RejectReason reason, PrivateData info) {
        outbox.refuse(req, route, reason, info);
    }

    // ---- what comes later

    private void onReply(Rep rep, CmRoute route, long now) {
        int ours = rep.remoteCommId();
        int theirs = rep.localCommId();
        CmConnection connection = connections.ofLocalCommId(ours);
        if (connection == null || !connection.route().equals(route) || !connection.isActive()) {
            count(CmCounter.STRAYS);
            int reason = RejectReason.INVALID_COMM_ID.code();
            outbox.send(
                    route,
                    new Rej(rep.transactionId(), ours, theirs, 1, 0, reason, PrivateData.NONE, PrivateData.NONE));
            return;
        }
        connection.onReply(rep, now);
    }

    private void onReject(Rej rej, CmRoute route, long now) {
        CmConnection connection = connections.findAnswered(rej.remoteCommId(), rej.localCommId(), route);
        if (connection == null && RejectReason.of(rej.reason()) == RejectReason.TIMEOUT) {
            // The active side gives up, and may not know what we call the connection.
            byte[] guid = rej.info().bytes();
            connection = guid.length < Long.BYTES
                    ? null
                    : connections.ofRemoteCommId(
                            route.remote(), ByteBuffer.wrap(guid).getLong(), rej.localCommId());
        }
        if (connection != null) {
            connection.onReject(rej, now);
        } else {
            count(CmCounter.STRAYS);
        }
    }

    private void onDisconnectRequest(Dreq dreq, CmRoute route, long now) {
        int ours = dreq.remoteCommId();
        int theirs = dreq.localCommId();
        CmConnection connection = connections.find(ours, theirs, route);
        if (connection != null) {
            connection.onDisconnectRequest(dreq, now);
        } else {
            // It is long over here, and our DREP was lost (IBTA 12.9.8.4).
            outbox.send(route, new Drep(dreq.transactionId(), ours, theirs, PrivateData.NONE));
        }
    }

    // ---- figures

    /// Counts for an owner that refuses by itself.
    public void count(CmCounter counter) {
        outbox.count(counter);
    }

    /// Returns the number of connections, with those being made and those in timewait.
    public int size() {
        return connections.size();
    }

    /// Returns a counter's value. Any thread.
    public long get(CmCounter counter) {
        return outbox.get(counter);
    }

    /// Returns all counters by name. Any thread.
    public SortedMap<String, Long> counters() {
        return outbox.counters();
    }

    @Override
    public String toString() {
        return "communication manager of 0x%016x: %d connections, %d of them half open and %d in timewait; %d services, %d of datagrams; %d SIDR requests"
                .formatted(
                        outbox.caGuid(),
                        connections.size(),
                        connections.halfOpen(),
                        connections.inTimewait(),
                        services.size(),
                        sidr.services(),
                        sidr.open());
    }
}
