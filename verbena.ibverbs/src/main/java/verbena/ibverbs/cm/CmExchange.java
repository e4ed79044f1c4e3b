package verbena.ibverbs.cm;

import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ADDR_CHANGE;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ADDR_ERROR;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ADDR_RESOLVED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_CONNECT_ERROR;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_CONNECT_RESPONSE;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_DEVICE_REMOVAL;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_DISCONNECTED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ESTABLISHED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_REJECTED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ROUTE_ERROR;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_ROUTE_RESOLVED;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_TIMEWAIT_EXIT;
import static verbena.foreign.rdma.CmConstants.RDMA_CM_EVENT_UNREACHABLE;
import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID;
import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID_ACK_TIMEOUT;
import static verbena.foreign.rdma.CmConstants.RDMA_OPTION_ID_TOS;
import static verbena.foreign.rdma.CmStructs.CM_ID;
import static verbena.foreign.rdma.VerbsStructs.QP_ATTR;

import java.lang.foreign.Arena;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.SocketAddress;
import verbena.foreign.rdma.VerbsConstants;
import verbena.ibverbs.objects.IbvQueuePair;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.Transition;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.Listener;
import verbena.verbs.spi.ConnectionService.News;
import verbena.verbs.spi.ConnectionService.OwnSide;
import verbena.verbs.spi.ConnectionService.Route;

/// One connection by librdmacm: an identifier of C's from the first call to its end. Its own lock guards it; C is
/// called under it, listeners are told outside.
final class CmExchange implements Exchange, CmConnections.Owner {
    private static final int RESOLVE_MILLIS = 2_000;
    private static final long SRC = CM_ID.at("route.addr.src_storage");
    private static final long DST = CM_ID.at("route.addr.dst_storage");

    /// The stage of an exchange.
    private enum Stage {
        RESOLVING,
        ASKING,
        ANSWERED,
        REQUESTED,
        ACCEPTED,
        CONNECTED,
        /// The stage in which this side has announced its end.
        ENDING,
        ENDED;

        /// Returns whether a call or an event of librdmacm can lead from here to `next`.
        boolean leadsTo(Stage next) {
            return switch (this) {
                case RESOLVING -> next == ASKING || next == ENDED;
                case ASKING -> next == ANSWERED || next == ENDED;
                case ANSWERED -> next == CONNECTED || next == ENDING || next == ENDED;
                case REQUESTED -> next == ACCEPTED || next == ENDED;
                case ACCEPTED -> next == CONNECTED || next == ENDING || next == ENDED;
                case CONNECTED -> next == ENDING || next == ENDED;
                case ENDING -> next == ENDED;
                case ENDED -> next == ENDED;
            };
        }
    }

    private final CmConnections service;
    private final boolean isActive;
    private final boolean isDatagram;
    private final boolean isIwarp;
    private final CmTerms terms;
    private final Gid local;
    private final Gid remote;
    private final int localPort;
    private final int remotePort;

    // Under this.
    /// 0 when C's is destroyed.
    private long id;
    private Stage stage;
    private @Nullable Listener listener;
    private @Nullable OwnSide own;
    private @Nullable IbvQueuePair queuePair;
    private @Nullable PeerParameters peer;
    private Optional<AddressVector> path = Optional.empty();

    private CmExchange(
            CmConnections service,
            long id,
            boolean isActive,
            boolean isDatagram,
            Gid local,
            int localPort,
            Gid remote,
            int remotePort) {
        this.service = service;
        this.id = id;
        this.isActive = isActive;
        this.isDatagram = isDatagram;
        this.isIwarp = service.context().isIwarp();
        this.terms = new CmTerms(service.context().attributes(), isIwarp, isDatagram);
        this.local = local;
        this.localPort = localPort;
        this.remote = remote;
        this.remotePort = remotePort;
        this.stage = isActive ? Stage.RESOLVING : Stage.REQUESTED;
    }

    static CmExchange passive(CmConnections service, long id, PeerParameters asking) {
        int space = Memory.getInt(id + CM_ID.at("ps"));
        var made = new CmExchange(
                service,
                id,
                false,
                space == PortSpace.UDP.code() || space == PortSpace.IPOIB.code(),
                SocketAddress.gid(id + SRC),
                SocketAddress.port(id + SRC),
                SocketAddress.gid(id + DST),
                SocketAddress.port(id + DST));
        made.peer = asking;
        return made;
    }

    /// @param isBound whether the identifier has its own address and port already
    static CmExchange active(
            CmConnections service, long id, Route call, OwnSide own, Listener listener, boolean isBound) {
        var made = new CmExchange(
                service,
                id,
                true,
                call.space().isDatagram(),
                call.local(),
                call.localPort(),
                call.remote(),
                call.remotePort());
        made.begin(own, listener, isBound);
        return made;
    }

    private synchronized void begin(OwnSide mine, Listener to, boolean isBound) {
        listener = to;
        attach(mine);
        service.own(id, this);
        option(RDMA_OPTION_ID_TOS, mine.parameters().trafficClass());
        option(RDMA_OPTION_ID_ACK_TIMEOUT, mine.parameters().ackTimeout().code());
        try (Arena arena = Arena.ofConfined()) {
            long from = isBound ? 0 : service.socketAddress(arena, local, localPort);
            long there = service.socketAddress(arena, remote, remotePort);
            var result = service.library().resolveAddr.call(id, from, there, RESOLVE_MILLIS);
            if (result.value() != 0) {
                service.destroy(id);
                id = 0;
                enter(Stage.ENDED);
                String why = "no way to " + remote + ": " + Errno.text(result.errno());
                to.onNews(this, new News.Unreachable(why));
            }
        }
    }

    /// Sets an option by a byte that C may not know; the default is used then.
    private void option(int name, int value) {
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(1, 1).address();
            Memory.putByte(at, value);
            service.library().setOption.call(id, RDMA_OPTION_ID, name, at, 1L);
        }
    }

    private void enter(Stage next) {
        assert Thread.holdsLock(this);
        assert stage.leadsTo(next) : stage + " does not lead to " + next;
        stage = next;
    }

    private void attach(OwnSide mine) {
        own = mine;
        queuePair = mine.queuePair().orElse(null) instanceof IbvQueuePair qp ? qp : null;
    }

    synchronized void listener(Listener to) {
        listener = to;
    }

    /// Returns the type of a passive side; librdmacm does not distinguish unreliable connections.
    QpType type() {
        return isDatagram ? QpType.UD : QpType.RC;
    }

    // ---- the poller

    @Override
    public void onEvent(CmEvent event) {
        News news = take(event);
        Listener to;
        synchronized (this) {
            to = listener;
        }
        if (news != null && to != null) {
            to.onNews(this, news);
        }
    }

    private synchronized @Nullable News take(CmEvent event) {
        if (id == 0) {
            return null;
        }
        return switch (event.type()) {
            case RDMA_CM_EVENT_ADDR_RESOLVED ->
                step(service.library().resolveRoute.call(id, RESOLVE_MILLIS), "route");
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> ask();
            case RDMA_CM_EVENT_ADDR_ERROR ->
                end(new News.Unreachable("no host answers at " + remote + ": " + Errno.text(-event.status())));
            case RDMA_CM_EVENT_ROUTE_ERROR ->
                end(new News.Unreachable("no route to " + remote + ": " + Errno.text(-event.status())));
            case RDMA_CM_EVENT_CONNECT_RESPONSE -> accepted(event);
            case RDMA_CM_EVENT_ESTABLISHED -> established(event);
            case RDMA_CM_EVENT_REJECTED ->
                end(new News.Rejected(
                        event.status(),
                        terms.whyRejected(event.status(), remote + " port " + remotePort),
                        event.peer().privateData()));
            case RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_CONNECT_ERROR -> unreachable(event.status());
            case RDMA_CM_EVENT_DISCONNECTED -> disconnected();
            case RDMA_CM_EVENT_TIMEWAIT_EXIT -> {
                destroy();
                yield new News.TimewaitExit();
            }
            case RDMA_CM_EVENT_DEVICE_REMOVAL -> {
                service.context()
                        .onFailed("device " + service.context().device().name() + " was removed");
                yield null;
            }
            case RDMA_CM_EVENT_ADDR_CHANGE -> null; // an interface of a bond is another now; connections go on
            default -> null;
        };
    }

    private @Nullable News step(NativeFunction.Result result, String what) {
        return result.value() == 0
                ? null
                : end(new News.Unreachable("no " + what + " to " + remote + ": " + Errno.text(result.errno())));
    }

    /// Asks the peer, now that the route is known.
    private @Nullable News ask() {
        enter(Stage.ASKING);
        try (Arena arena = Arena.ofConfined()) {
            return step(service.library().connect.call(id, terms.write(arena, begun(), null)), "connection");
        }
    }

    /// Handles the acceptance of the peer (active side), which waits for the notice that the queue pair is ready.
    private News accepted(CmEvent event) {
        enter(Stage.ANSWERED);
        peer = event.peer();
        return new News.Accepted(event.peer());
    }

    /// Handles an iWARP queue pair that the kernel has brought to RTS.
    private @Nullable News established(CmEvent event) {
        IbvQueuePair qp = queuePair;
        if (isIwarp && qp != null) {
            qp.moved(QpState.RTS);
        }
        if (!isActive) {
            enter(Stage.CONNECTED);
            return new News.Established();
        }
        path = event.path();
        if (isIwarp || isDatagram) {
            return accepted(event);
        }
        return null;
    }

    private News unreachable(int status) {
        String to = remote + " port " + remotePort;
        if (isIwarp && Errno.ECONNREFUSED.is(-status)) {
            return end(new News.Rejected(status, "no program listens at " + to, PrivateData.NONE));
        }
        return end(new News.Unreachable(
                to + " does not answer: " + (status < 0 ? Errno.text(-status) : "status " + status)));
    }

    private @Nullable News disconnected() {
        IbvQueuePair qp = queuePair;
        boolean byPeer = stage != Stage.ENDING && (qp == null || !qp.isEndedHere());
        if (stage == Stage.ENDED) {
            return null;
        }
        if (byPeer) {
            service.library().disconnect.call(id); // the answer that the peer waits for
        }
        enter(Stage.ENDED);
        breakDown();
        if (isIwarp) {
            destroy(); // no timewait follows
        }
        return byPeer
                ? new News.Disconnected(EndedBy.PEER, remote + " has disconnected")
                : new News.Disconnected(EndedBy.THIS_SIDE, "disconnected by this side");
    }

    /// Ends the exchange, which has failed.
    private News end(News news) {
        enter(Stage.ENDED);
        breakDown();
        destroy();
        return news;
    }

    /// Breaks the queue pair down when its connection ends: both end together.
    private void breakDown() {
        IbvQueuePair qp = queuePair;
        queuePair = null;
        if (qp == null || isDatagram || !qp.isOpen()) {
            return;
        }
        try {
            if (qp.state() != QpState.RESET) {
                qp.modify(new Transition.ToError());
            }
        } catch (VerbsException e) {
            qp.moved(QpState.ERR); // it was closed, or the kernel has done it
        }
    }

    private void destroy() {
        long ended = id;
        id = 0;
        if (ended != 0) {
            service.destroy(ended);
        }
    }

    /// Abandons the exchange when the context closes.
    synchronized void abandon() {
        enter(Stage.ENDED);
        destroy();
    }

    // ---- any thread

    @Override
    public Gid local() {
        return local;
    }

    @Override
    public Gid remote() {
        return remote;
    }

    @Override
    public int localPort() {
        return localPort;
    }

    @Override
    public int remotePort() {
        return remotePort;
    }

    private OwnSide begun() {
        OwnSide mine = own;
        if (mine == null) {
            throw new IllegalStateException("the connection has not begun");
        }
        return mine;
    }

    @Override
    public synchronized AddressVector path() {
        return path.orElseGet(() ->
                AddressVector.to(remote, service.context().gidFor(1, remote).index()));
    }

    @Override
    public synchronized QpModification modification(QpState to, OwnSide mine) {
        if (to != QpState.RTR && to != QpState.RTS) {
            throw new IllegalArgumentException("to: RTR or RTS, got " + to);
        }
        if (isDatagram) {
            throw new InvalidStateException("modification: datagrams need none; go to INIT, RTR and RTS");
        }
        if (!isActive) {
            terms.checkAccepts(mine.parameters().privateData());
        }
        if (isIwarp) {
            return new QpModification(); // the stream takes the queue pair to RTS when it begins
        }
        requireId("modification");
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(QP_ATTR.size(), 8).address();
            long mask = arena.allocate(4, 4).address();
            Memory.putInt(at, to == QpState.RTR ? VerbsConstants.IBV_QPS_RTR : VerbsConstants.IBV_QPS_RTS);
            var result = service.library().initQpAttr.call(id, at, mask);
            if (result.value() != 0) {
                throw new InvalidStateException("modification: the connection to " + remote + " port " + remotePort
                        + " is not there any more: " + Errno.text(result.errno()));
            }
            return (to == QpState.RTR ? terms.toRtr(at, mine) : terms.toRts(at, mine, peer)).modification();
        }
    }

    @Override
    public synchronized void accept(OwnSide mine) {
        terms.checkAccepts(mine.parameters().privateData());
        if (stage != Stage.REQUESTED) {
            throw new InvalidStateException(
                    "accept: the request of " + remote + " port " + remotePort + " is not there any more");
        }
        requireId("accept");
        attach(mine);
        try (Arena arena = Arena.ofConfined()) {
            var result = service.library().accept.call(id, terms.write(arena, mine, peer));
            if (result.value() != 0) {
                throw new InvalidStateException("accept: the request of " + remote + " port " + remotePort
                        + " is not there any more: " + Errno.text(result.errno()));
            }
        }
        enter(Stage.ACCEPTED);
    }

    @Override
    public synchronized void reject(PrivateData privateData) {
        terms.checkRejects(privateData);
        requireId("reject");
        try (Arena arena = Arena.ofConfined()) {
            byte[] data = privateData.bytes();
            service.library().reject.call(id, data.length == 0 ? 0L : CmTerms.data(arena, data), (byte) data.length);
        }
        enter(Stage.ENDED);
        queuePair = null;
        destroy();
    }

    @Override
    public synchronized void ready() {
        requireId("ready");
        if (!isIwarp) {
            var result = service.library().establish.call(id);
            if (result.value() != 0) {
                throw new InvalidStateException("ready: the connection to " + remote + " port " + remotePort
                        + " is not there any more: " + Errno.text(result.errno()));
            }
        }
        enter(Stage.CONNECTED);
    }

    @Override
    public synchronized void communicationEstablished() {
        requireId("communicationEstablished");
        service.library().notifyId.call(id, VerbsConstants.IBV_EVENT_COMM_EST);
    }

    @Override
    public void disconnect(PrivateData privateData) {
        News news = null;
        Listener to;
        synchronized (this) {
            to = listener;
            if (id == 0 || stage == Stage.ENDING || stage == Stage.ENDED) {
                return;
            }
            boolean hasBegun = stage == Stage.CONNECTED || stage == Stage.ACCEPTED || stage == Stage.ANSWERED;
            if (hasBegun && !isDatagram) {
                enter(Stage.ENDING);
            }
            if (!hasBegun || isDatagram || service.library().disconnect.call(id).value() != 0) {
                news = end(new News.Disconnected(EndedBy.THIS_SIDE, "given up by this side"));
            }
        }
        if (news != null && to != null) {
            to.onNews(this, news);
        }
    }

    private void requireId(String verb) {
        if (id == 0) {
            throw new InvalidStateException(
                    verb + ": the connection to " + remote + " port " + remotePort + " has ended");
        }
    }

    @Override
    public String toString() {
        return "connection to " + remote + " port " + remotePort;
    }
}
