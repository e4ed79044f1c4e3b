package verbena.nic.roce;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmCall;
import verbena.cm.CmConnection;
import verbena.cm.CmCounter;
import verbena.cm.CmEvent;
import verbena.cm.CmExtension;
import verbena.cm.CmGuard;
import verbena.cm.CmProof;
import verbena.cm.CmRefusal;
import verbena.cm.CmRoute;
import verbena.cm.SidrInquiry;
import verbena.nic.kind.DeviceHost;
import verbena.nic.link.LinkException;
import verbena.nic.link.ServiceClaims;
import verbena.verbs.AddressVector;
import verbena.verbs.ConnectionException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.QpType;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;
import verbena.verbs.spi.ConnectionService;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Req;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// The device's connections, made by its communication manager: ports are service IDs, and the IP addresses and
/// ports of both ends travel in front of the private data (IBTA A11).
final class RoceConnections implements ConnectionService, ConnectionHost {
    /// The bytes of private data of a REQ that are left to the application.
    private static final int CONNECT_BYTES = 56;
    private static final int INQUIRE_BYTES = 180;
    private static final int HOP_LIMIT = 64;
    /// `IBV_RATE_10_GBPS`.
    private static final int RATE = 3;

    private final DeviceHost host;
    private final Ways ways;
    private final Supplier<CmAgent> cm;
    /// Engine-confined: the ports of each service, one at each address of the device.
    private final Map<Long, List<Port>> ports = new HashMap<>();
    /// Engine-confined; null before the first request that has to prove something.
    private @Nullable CmGuard guard;

    /// @param cm the device's communication manager, made when it is first asked for
    RoceConnections(DeviceHost host, Ways ways, Supplier<CmAgent> cm) {
        this.host = host;
        this.ways = ways;
        this.cm = cm;
    }

    @Override
    public DeviceHost host() {
        return host;
    }

    @Override
    public CmAgent cm() {
        return cm.get();
    }

    @Override
    public Ways ways() {
        return ways;
    }

    // ---- the device

    @Override
    public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return host.engines().attendGivingWay(isOver, nanos);
    }

    @Override
    public void wakeAttendant() {
        host.engine().wakeGuest();
    }

    @Override
    public Watch watch(Consumer<String> onFailure) {
        return host.failures().apply(onFailure);
    }

    @Override
    public Watch join(GroupJoin join, GroupListener listener) {
        return ways.join(join, listener);
    }

    // ---- ports

    @Override
    public BoundPort bind(PortSpace space, Gid local, int port) {
        if (port < 0 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 0 to 65535, got " + port);
        }
        return cm().call(manager -> {
            if (port != 0) {
                Port taken = take(space, local, port);
                if (taken == null) {
                    throw new ConnectionException(
                            ConnectionException.Reason.ADDRESS,
                            "port " + port + " of " + local + " is taken, by this process or another");
                }
                return taken;
            }
            return PortTable.OF_PROCESS.<Port>any("bind", local, number -> takeIfFree(space, local, number));
        });
    }

    @Override
    public Optional<CallerPort> bindCaller(PortSpace space, Gid local) {
        return Optional.of(PortTable.OF_PROCESS.call(space, local));
    }

    /// Returns the port if it is free; null also for a port that another user has.
    private @Nullable Port takeIfFree(PortSpace space, Gid local, int number) {
        try {
            return take(space, local, number);
        } catch (ConnectionException e) {
            if (e.getCause() instanceof LinkException why && why.kind() == LinkException.Kind.PORT_IN_USE) {
                return null;
            }
            throw e;
        }
    }

    private @Nullable Port take(PortSpace space, Gid local, int number) {
        if (!PortTable.OF_PROCESS.bind(space, local, number)) {
            return null;
        }
        Port taken = null;
        try {
            taken = claim(space, local, number);
        } finally {
            if (taken == null) {
                PortTable.OF_PROCESS.unbind(space, local, number);
            }
        }
        return taken;
    }

    private @Nullable Port claim(PortSpace space, Gid local, int number) {
        long serviceId = space.serviceId(number);
        if (at(serviceId, local) != null) {
            return null;
        }
        try {
            ServiceClaims claims = serviceClaims();
            if (claims != null && !claims.claimService(serviceId, local)) {
                return null; // another process or context at our address has it
            }
        } catch (LinkException e) {
            throw new ConnectionException(
                    ConnectionException.Reason.ADDRESS, "port " + number + " of " + local + ": " + e.getMessage(), e);
        }
        var taken = new Port(space, local, number);
        ports.computeIfAbsent(serviceId, _ -> new ArrayList<>()).add(taken);
        return taken;
    }

    /// Returns the claims of services; null where the link shares its addresses with no other. A free port is free
    /// for all others too then.
    private @Nullable ServiceClaims serviceClaims() {
        return host.engine().link().service(ServiceClaims.class);
    }

    /// A port at one address.
    private final class Port implements BoundPort {
        private final PortSpace space;
        private final Gid local;
        private final int number;
        /// Engine-confined; null when no program listens.
        private @Nullable Acceptor acceptor;
        /// Engine-confined.
        private Secret secret = Secret.NONE;

        Port(PortSpace space, Gid local, int number) {
            this.space = space;
            this.local = local;
            this.number = number;
        }

        private long serviceId() {
            return space.serviceId(number);
        }

        @Override
        public int port() {
            return number;
        }

        @Override
        public void listen(int backlog, Secret proven, Acceptor to) {
            requireConnections("listen", space, proven);
            cm().call(manager -> {
                acceptor = to;
                secret = proven;
                boolean _ = space.isDatagram()
                        ? manager.answer(serviceId(), RoceConnections.this::onInquiry)
                        : manager.listen(serviceId(), backlog, RoceConnections.this::onRequest);
                ServiceClaims claims = serviceClaims();
                if (claims != null) {
                    claims.openService(serviceId(), local);
                }
                return true;
            });
        }

        @Override
        public void close() {
            cm().call(manager -> {
                acceptor = null;
                List<Port> sharing = ports.get(serviceId());
                if (sharing == null || !sharing.remove(this)) {
                    return false;
                }
                manager.whenQuiet(serviceId(), local, this::release);
                if (sharing.isEmpty()) {
                    ports.remove(serviceId());
                    manager.unlisten(serviceId());
                    manager.unanswer(serviceId());
                }
                PortTable.OF_PROCESS.unbind(space, local, number);
                return true;
            });
        }

        /// Leaves the service to others, unless this device has it again.
        private void release() {
            ServiceClaims claims = serviceClaims();
            if (claims != null && at(serviceId(), local) == null) {
                claims.releaseService(serviceId(), local);
            }
        }
    }

    /// Returns the port at which a program listens; null when there is none.
    private @Nullable Port listening(long serviceId, Gid local) {
        Port port = at(serviceId, local);
        return port == null || port.acceptor == null ? null : port;
    }

    /// Returns the port of a service at an address; null when this device has none there.
    private @Nullable Port at(long serviceId, Gid local) {
        for (Port port : ports.getOrDefault(serviceId, List.of())) {
            if (port.local.equals(local)) {
                return port;
            }
        }
        return null;
    }

    private static void requireConnections(String verb, PortSpace space, Secret secret) {
        if (space.isDatagram() && !secret.isNone()) {
            throw new IllegalArgumentException(verb + ": secret: there is none for datagrams");
        }
    }

    // ---- requests

    /// Handles the first event of a connection, the request of a peer.
    private void onRequest(CmConnection connection, CmEvent event) {
        if (!(event instanceof CmEvent.Requested(Req request))) {
            throw new AssertionError("the listener of the request is told the rest");
        }
        long now = host.engine().nowNanos();
        Gid local = connection.route().local();
        Port port = listening(request.serviceId(), local);
        Acceptor acceptor = port == null ? null : port.acceptor;
        if (port == null || acceptor == null) {
            connection.reject(RejectReason.INVALID_SERVICE_ID, ConnectionHost.NOTHING, ConnectionHost.NOTHING, now);
        } else if (!isProven(connection, request, port.secret, now)) {
            return; // it is refused
        } else if (request.transportType() != RoceConnection.RC && request.transportType() != RoceConnection.UC) {
            connection.reject(RejectReason.INVALID_TRANSPORT_TYPE, ConnectionHost.NOTHING, ConnectionHost.NOTHING, now);
        } else if (request.pathMtu() < 1 || request.pathMtu() > host.mtu().code()) {
            var fits = ConnectionHost.data(new byte[] {(byte) host.mtu().code()});
            connection.reject(RejectReason.INVALID_PATH_MTU, fits, ConnectionHost.NOTHING, now);
        } else {
            var from = IpCmHeader.read(request.privateData());
            var exchange = RoceConnection.passive(
                    this, connection, IpCmHeader.port(request.serviceId()), from == null ? 0 : from.sourcePort());
            exchange.proven(port.secret, port.secret.isNone() ? new byte[0] : guard().challenge());
            var said = request.privateData()
                    .from((from == null ? 0 : IpCmHeader.BYTES) + (port.secret.isNone() ? 0 : CmProof.REQ_BYTES));
            var peer = new PeerParameters(
                    PrivateData.of(said.bytes()),
                    request.responderResources(),
                    request.initiatorDepth(),
                    request.retryCount(),
                    request.rnrRetryCount(),
                    request.sharedReceiveQueue(),
                    request.localQpn(),
                    0);
            connection.listener(exchange);
            exchange.listener(acceptor.onRequest(exchange, peer, exchange.type()));
        }
    }

    /// Returns whether a request has proven the listener's secret, or neither has one. Otherwise it is refused, or
    /// challenged.
    private boolean isProven(CmConnection connection, Req request, Secret secret, long now) {
        boolean hasSecret = CmExtension.of(request.localQkey()).hasSecret();
        if (hasSecret == secret.isNone()) {
            return refuse(connection, hasSecret ? CmRefusal.SECRET_UNWANTED : CmRefusal.SECRET_WANTED, now);
        }
        if (!hasSecret) {
            return true;
        }
        int at = IpCmHeader.read(request.privateData()) == null ? 0 : IpCmHeader.BYTES;
        return switch (guard().judge(request, connection.route(), at, secret.bytes(), now)) {
            case PROVEN -> true;
            case CHALLENGED -> {
                var challenge = CmRefusal.CHALLENGE.info(guard().challenge());
                connection.reject(RejectReason.VENDOR_OPTION_NOT_SUPPORTED, challenge, ConnectionHost.NOTHING, now);
                yield false;
            }
            case WRONG -> refuse(connection, CmRefusal.SECRET_WRONG, now);
            case FULL -> {
                connection.reject(RejectReason.NO_RESOURCES, ConnectionHost.NOTHING, ConnectionHost.NOTHING, now);
                yield false;
            }
        };
    }

    private boolean refuse(CmConnection connection, CmRefusal why, long now) {
        connection.reject(RejectReason.VENDOR_OPTION_NOT_SUPPORTED, why.info(), ConnectionHost.NOTHING, now);
        unproven(connection.route(), why);
        return false;
    }

    @Override
    public void unproven(CmRoute route, CmRefusal why) {
        cm().call(manager -> {
            manager.count(CmCounter.UNPROVEN);
            return true;
        });
        host.peers().unproven(route.remote(), why, host.engine().nowNanos());
    }

    private CmGuard guard() {
        CmGuard there = guard;
        if (there == null) {
            there = new CmGuard(host.random());
            guard = there;
        }
        return there;
    }

    /// Handles a peer that asks for the queue pair of a datagram service.
    private void onInquiry(SidrInquiry inquiry) {
        SidrReq request = inquiry.request();
        Port port = listening(request.serviceId(), inquiry.route().local());
        Acceptor acceptor = port == null ? null : port.acceptor;
        if (acceptor == null) {
            inquiry.answer(SidrRep.NOT_SUPPORTED, 0, 0, ConnectionHost.NOTHING);
            return;
        }
        var from = IpCmHeader.read(request.privateData());
        var exchange = new SidrExchange(
                this,
                inquiry.route(),
                IpCmHeader.port(request.serviceId()),
                from == null ? 0 : from.sourcePort(),
                inquiry);
        var said = request.privateData().from(from == null ? 0 : IpCmHeader.BYTES);
        acceptor.onRequest(exchange, PeerParameters.ofDatagrams(PrivateData.of(said.bytes()), 0, 0), QpType.UD);
    }

    @Override
    public void suspect(Gid peer) {
        if (cm().call(manager -> manager.onAccessError(peer, host.engine().nowNanos()))) {
            host.peers().blocked(peer);
        }
    }

    // ---- calls

    @Override
    public Exchange connect(Route call, OwnSide own, Listener listener) {
        var said = own.parameters().privateData();
        var route = new CmRoute(call.local(), call.remote());
        boolean isDatagram = call.space().isDatagram();
        Secret secret = own.parameters().secret();
        requireConnections("connect", call.space(), secret);
        int proofBytes = secret.isNone() ? 0 : CmProof.REQ_BYTES;
        ConnectionHost.fits(
                "private data to " + (isDatagram ? "ask" : "connect") + " with",
                said,
                isDatagram ? INQUIRE_BYTES : CONNECT_BYTES - proofBytes);
        var header = new IpCmHeader(
                call.remote().isIpv4(),
                call.localPort(),
                call.local().high(),
                call.local().low(),
                call.remote().high(),
                call.remote().low());
        byte[] behindProof = new byte[proofBytes + said.length()];
        System.arraycopy(said.bytes(), 0, behindProof, proofBytes, said.length());
        var all = header.before(ConnectionHost.data(behindProof));
        long serviceId = call.space().serviceId(call.remotePort());
        CmAgent agent = cm();
        return agent.call(manager -> {
            if (isDatagram) {
                var inquiry = new SidrExchange(this, route, call.localPort(), call.remotePort(), null);
                inquiry.begin(manager, serviceId, all, listener, agent.nowNanos());
                return inquiry;
            }
            var connection = RoceConnection.active(this, route, call.localPort(), call.remotePort(), listener);
            connection.begin(manager, serviceId, all, own);
            return connection;
        });
    }

    @Override
    public CmCall call(long serviceId, CmRoute route, OwnSide own, int mtu) {
        ConnectionParameters parameters = own.parameters();
        var call = new CmCall(
                serviceId,
                own.type() == QpType.UC ? RoceConnection.UC : RoceConnection.RC,
                mtu,
                parameters.ackTimeout().code(),
                parameters.retryCount(),
                parameters.trafficClass(),
                HOP_LIMIT,
                RATE,
                RoceConnection.RESPONSE_TIMEOUT,
                RoceConnection.RETRIES);
        return ways.complete(call, route.remote());
    }

    // ---- leaves

    @Override
    public AddressVector path(CmRoute route, int trafficClass) {
        GidEntry own = host.gids().entries().stream()
                .filter(entry -> entry.gid().equals(route.local()))
                .findFirst()
                .orElseThrow(() -> new ConnectionException(
                        ConnectionException.Reason.ADDRESS, host.name() + " has " + route.local() + " no more"));
        return ways.complete(AddressVector.to(route.remote(), own.index()).withTrafficClass(trafficClass));
    }
}
