package verbena.cm;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Drep;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// Makes and ends the connections of one device (IBTA 12). Arrivals are pushed, departures are pulled, timers are
/// asked for, as with a queue pair's protocol; not safe for use by several threads.
///
/// A message that nobody can send who does not know the connection changes nothing: communication IDs are random, and
/// each message must come from the address that the connection is with. A request from anyone gets one answer.
public final class CommunicationManager {
    /// Code of the time that a peer is asked for when a message has to wait for the application: 69 s, as Linux has
    /// it.
    static final int SERVICE_TIMEOUT = 24;
    /// A peer may not ask for more.
    static final int SERVICE_TIMEOUT_MAX = 24;
    /// Code of how long a device takes to acknowledge, as soft-RoCE says it.
    static final int TARGET_ACK_DELAY = 15;

    /// A message on its way out.
    public record Departure(CmRoute route, CmMessage message) {}

    /// Who answers questions about a datagram service (SIDR).
    @FunctionalInterface
    public interface Answerer {
        /// Gives the answer; the question's request ID and transaction are put in by the caller.
        SidrAnswer onQuestion(SidrReq question, CmRoute route);
    }

    /// Who takes datagrams for a service, or why nobody does.
    ///
    /// @param status as in [SidrRep]; 0 when there is a queue pair
    public record SidrAnswer(int status, int qpn, int qkey, PrivateData privateData) {}

    /// Who takes requests for a service.
    private record Service(int backlog, CmEvent.Listener listener) {}

    /// What a peer calls a connection, or has it through.
    private record Foreign(Gid from, long caGuid, int number) {}

    /// Something that has a deadline of its own.
    interface Timed {
        long deadlineNanos();

        void onDeadline(long now);
    }

    private record Timer(long nanos, long order, Timed timed) {}

    private final long caGuid;
    private final RandomGenerator random;
    private final CmLimits limits;
    private final Map<Long, Service> services = new HashMap<>();
    private final Map<Long, Answerer> answerers = new HashMap<>();
    private final Map<Integer, CmQuestion> questions = new HashMap<>();
    private final Map<Integer, CmConnection> connections = new HashMap<>();
    private final Map<Foreign, CmConnection> byRemoteCommId = new HashMap<>();
    private final Map<Foreign, CmConnection> byRemoteQpn = new HashMap<>();
    private final LinkedHashSet<CmConnection> halfOpen = new LinkedHashSet<>();
    private final ArrayDeque<Departure> departures = new ArrayDeque<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(
            (a, b) -> a.nanos != b.nanos ? Long.compare(a.nanos, b.nanos) : Long.compare(a.order, b.order));
    private long timerOrder;
    private long shed;
    private long strays;

    /// @param caGuid names this host and device to peers, not 0
    /// @param random unpredictable to peers; in a simulation, seeded
    public CommunicationManager(long caGuid, RandomGenerator random, CmLimits limits) {
        this.caGuid = caGuid;
        this.random = random;
        this.limits = limits;
    }

    long caGuid() {
        return caGuid;
    }

    // ---- what the owner does

    /// Takes requests for a service from now on; false when somebody does already.
    ///
    /// @param backlog requests that may wait for the owner's decision; more are refused
    public boolean listen(long serviceId, int backlog, CmEvent.Listener listener) {
        return services.putIfAbsent(serviceId, new Service(backlog, listener)) == null;
    }

    /// Takes none any more; connections stay.
    public void unlisten(long serviceId) {
        services.remove(serviceId);
    }

    /// Answers questions about a datagram service from now on; false when somebody does already.
    public boolean answer(long serviceId, Answerer answerer) {
        return answerers.putIfAbsent(serviceId, answerer) == null;
    }

    /// Answers none any more.
    public void unanswer(long serviceId) {
        answerers.remove(serviceId);
    }

    /// Asks who takes datagrams for a service (IBTA 12.11); null when too much is asked already.
    public @Nullable CmQuestion ask(
            CmRoute route,
            long serviceId,
            int responseTimeout,
            int maxRetries,
            PrivateData privateData,
            CmQuestion.Listener listener,
            long now) {
        if (questions.size() >= limits.connections()) {
            return null;
        }
        int id;
        do {
            id = random.nextInt();
        } while (questions.containsKey(id));
        var message = new SidrReq(newTransaction(id), id, 0xFFFF, serviceId, privateData);
        var question = new CmQuestion(this, listener, route, message, maxRetries, CmTimer.nanos(responseTimeout));
        questions.put(id, question);
        question.send(now);
        return question;
    }

    private void onQuestion(SidrReq question, CmRoute route) {
        Answerer answerer = answerers.get(question.serviceId());
        SidrAnswer answer = answerer == null
                ? new SidrAnswer(SidrRep.NOT_SUPPORTED, 0, 0, PrivateData.NONE)
                : answerer.onQuestion(question, route);
        send(
                route,
                new SidrRep(
                        question.transactionId(),
                        question.requestId(),
                        answer.status,
                        0,
                        answer.qpn,
                        question.serviceId(),
                        answer.qkey,
                        PrivateData.NONE,
                        answer.privateData));
    }

    /// Asks for a connection; null when there are too many.
    public @Nullable CmConnection connect(CmRoute route, CmCall call, CmEnd own, CmEvent.Listener listener, long now) {
        if (connections.size() >= limits.connections()) {
            return null;
        }
        var connection = new CmConnection(this, listener, route, newCommId(), true);
        connections.put(connection.localCommId(), connection);
        var req = new Req(
                newTransaction(connection.localCommId()),
                connection.localCommId(),
                call.serviceId(),
                caGuid,
                0,
                own.qpn(),
                own.responderResources(),
                own.initiatorDepth(),
                call.responseTimeout(),
                call.transportType(),
                false,
                own.startingPsn(),
                call.responseTimeout(),
                call.retryCount(),
                0xFFFF,
                call.pathMtu(),
                own.rnrRetryCount(),
                call.maxRetries(),
                own.sharedReceiveQueue(),
                CmConnection.path(route, call),
                CmPath.NONE,
                own.privateData());
        connection.begin(req, call.maxRetries(), now);
        return connection;
    }

    private int newCommId() {
        int id;
        do {
            id = random.nextInt();
        } while (id == 0 || connections.containsKey(id));
        return id;
    }

    long newTransaction(int commId) {
        return ((long) random.nextInt() << 32) | Integer.toUnsignedLong(commId);
    }

    // ---- the four verbs

    /// A message has arrived.
    ///
    /// @param route to the sender
    public void onMessage(CmMessage message, CmRoute route, long now) {
        switch (message) {
            case Req req -> onRequest(req, route);
            case Rep rep -> onReply(rep, route, now);
            case Rtu rtu -> {
                CmConnection connection = find(rtu.remoteCommId(), rtu.localCommId(), route);
                if (connection != null) {
                    connection.onReadyToUse(rtu);
                    halfOpen.remove(connection);
                }
            }
            case Rej rej -> onReject(rej, route, now);
            case Mra mra -> {
                CmConnection connection = findAnswered(mra.remoteCommId(), mra.localCommId(), route);
                if (connection != null) {
                    connection.onReceiptAck(mra, now);
                }
            }
            case Dreq dreq -> onDisconnectRequest(dreq, route, now);
            case Drep drep -> {
                CmConnection connection = find(drep.remoteCommId(), drep.localCommId(), route);
                if (connection != null) {
                    connection.onDisconnectReply(drep, now);
                }
            }
            case SidrReq question -> onQuestion(question, route);
            case SidrRep answer -> {
                CmQuestion asked = questions.get(answer.requestId());
                if (asked == null || !asked.route().equals(route)) {
                    strays++;
                    return;
                }
                asked.onAnswer(answer);
            }
        }
    }

    /// The next message to send; null when there is none now.
    public @Nullable Departure poll() {
        return departures.poll();
    }

    /// When to call [#onDeadline(long)]; `Long.MAX_VALUE` when there is nothing to wait for.
    public long deadlineNanos() {
        Timer first = timers.peek();
        while (first != null && first.timed.deadlineNanos() != first.nanos) {
            timers.remove();
            first = timers.peek();
        }
        return first == null ? Long.MAX_VALUE : first.nanos;
    }

    /// That time has come, perhaps.
    public void onDeadline(long now) {
        while (deadlineNanos() <= now) {
            timers.remove().timed.onDeadline(now);
        }
    }

    // ---- arrivals

    private void onRequest(Req req, CmRoute route) {
        CmConnection known = byRemoteCommId.get(new Foreign(route.remote(), req.localCaGuid(), req.localCommId()));
        if (known != null) {
            known.onRepeatedRequest();
            return;
        }
        if (byRemoteQpn.containsKey(new Foreign(route.remote(), req.localCaGuid(), req.localQpn()))) {
            refuse(req, route, RejectReason.STALE_CONNECTION);
            return;
        }
        Service service = services.get(req.serviceId());
        if (service == null) {
            refuse(req, route, RejectReason.INVALID_SERVICE_ID);
            return;
        }
        if (waiting(req.serviceId()) >= service.backlog || !makeRoom(route)) {
            refuse(req, route, RejectReason.NO_RESOURCES);
            return;
        }
        var connection = new CmConnection(this, service.listener, route, newCommId(), false);
        connections.put(connection.localCommId(), connection);
        connection.received(req);
        identified(connection, req.localCaGuid());
        halfOpen.add(connection);
        service.listener.onEvent(connection, new CmEvent.Requested(req));
    }

    private int waiting(long serviceId) {
        int n = 0;
        for (CmConnection connection : halfOpen) {
            n += connection.state() == CmConnection.State.REQ_RECEIVED
                            && connection.request().serviceId() == serviceId
                    ? 1
                    : 0;
        }
        return n;
    }

    /// For one more half-open connection; the oldest makes room.
    private boolean makeRoom(CmRoute route) {
        long ofPeer = halfOpen.stream()
                .filter(connection -> connection.route().remote().equals(route.remote()))
                .count();
        if (ofPeer >= limits.perPeer()) {
            return false;
        }
        if (halfOpen.size() >= limits.halfOpen() || connections.size() >= limits.connections()) {
            if (halfOpen.isEmpty()) {
                return false;
            }
            CmConnection oldest = halfOpen.getFirst();
            shed++;
            oldest.close();
        }
        return true;
    }

    private void refuse(Req req, CmRoute route, RejectReason reason) {
        send(
                route,
                new Rej(
                        req.transactionId(),
                        0,
                        req.localCommId(),
                        0,
                        0,
                        reason.code(),
                        PrivateData.NONE,
                        PrivateData.NONE));
    }

    private void onReply(Rep rep, CmRoute route, long now) {
        int ours = rep.remoteCommId();
        int theirs = rep.localCommId();
        CmConnection connection = connections.get(ours);
        if (connection == null || !connection.route().equals(route) || !connection.isActive()) {
            strays++;
            int reason = RejectReason.INVALID_COMM_ID.code();
            send(route, new Rej(rep.transactionId(), ours, theirs, 1, 0, reason, PrivateData.NONE, PrivateData.NONE));
            return;
        }
        connection.onReply(rep, now);
    }

    private void onReject(Rej rej, CmRoute route, long now) {
        CmConnection connection = findAnswered(rej.remoteCommId(), rej.localCommId(), route);
        if (connection == null && RejectReason.of(rej.reason()) == RejectReason.TIMEOUT) {
            // The active side gives up, and may not know what we call the connection.
            connection = byRemoteCommIdOnly(rej.localCommId(), route);
        }
        if (connection != null) {
            connection.onReject(rej, now);
            halfOpen.remove(connection);
        } else {
            strays++;
        }
    }

    private @Nullable CmConnection byRemoteCommIdOnly(int commId, CmRoute route) {
        for (CmConnection connection : halfOpen) {
            if (connection.remoteCommId() == commId && connection.route().equals(route)) {
                return connection;
            }
        }
        return null;
    }

    private void onDisconnectRequest(Dreq dreq, CmRoute route, long now) {
        int ours = dreq.remoteCommId();
        int theirs = dreq.localCommId();
        CmConnection connection = find(ours, theirs, route);
        if (connection != null) {
            connection.onDisconnectRequest(dreq, now);
            halfOpen.remove(connection);
        } else {
            // It is long over here, and our DREP was lost (IBTA 12.9.8.4).
            send(route, new Drep(dreq.transactionId(), ours, theirs, PrivateData.NONE));
        }
    }

    /// The connection that both sides call so.
    private @Nullable CmConnection find(int ours, int theirs, CmRoute route) {
        CmConnection connection = connections.get(ours);
        if (connection != null
                && connection.remoteCommId() == theirs
                && connection.route().equals(route)) {
            return connection;
        }
        strays++;
        return null;
    }

    /// The same when the peer's name for it may not be known yet.
    private @Nullable CmConnection findAnswered(int ours, int theirs, CmRoute route) {
        CmConnection connection = connections.get(ours);
        if (connection == null || !connection.route().equals(route)) {
            return null;
        }
        boolean isUnknown = connection.state() == CmConnection.State.REQ_SENT;
        return isUnknown || connection.remoteCommId() == theirs ? connection : null;
    }

    // ---- by connections

    void send(CmRoute route, CmMessage message) {
        departures.add(new Departure(route, message));
    }

    void schedule(Timed timed) {
        timers.add(new Timer(timed.deadlineNanos(), timerOrder++, timed));
    }

    /// The peer's names for the connection are known.
    void identified(CmConnection connection, long remoteCaGuid) {
        connection.remoteCaGuid = remoteCaGuid;
        byRemoteCommId.put(foreign(connection, connection.remoteCommId()), connection);
        byRemoteQpn.put(foreign(connection, connection.remoteQpn()), connection);
    }

    void forget(CmConnection connection) {
        connections.remove(connection.localCommId());
        byRemoteCommId.remove(foreign(connection, connection.remoteCommId()), connection);
        byRemoteQpn.remove(foreign(connection, connection.remoteQpn()), connection);
        halfOpen.remove(connection);
    }

    private static Foreign foreign(CmConnection connection, int number) {
        return new Foreign(connection.route().remote(), connection.remoteCaGuid, number);
    }

    void forget(CmQuestion question) {
        questions.remove(question.id());
    }

    // ---- figures

    /// Connections, those being made and those in timewait.
    public int size() {
        return connections.size();
    }

    /// Requests forgotten because there were too many.
    public long shed() {
        return shed;
    }

    /// Messages that fitted nothing.
    public long strays() {
        return strays;
    }
}
