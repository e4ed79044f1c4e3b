package verbena.ibverbs.cm;

import static verbena.foreign.rdma.CmStructs.CM_ID;
import static verbena.foreign.rdma.CmStructs.EVENT_CHANNEL;
import static verbena.foreign.rdma.CmStructs.SOCKADDR_STORAGE;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.CmConstants;
import verbena.foreign.rdma.SocketAddress;
import verbena.ibverbs.lib.CmLibrary;
import verbena.ibverbs.objects.OpenContext;
import verbena.verbs.Capability;
import verbena.verbs.ConnectionException;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.QpType;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.Secret;
import verbena.verbs.spi.ConnectionService;

/// Connections by librdmacm: one event channel for a context, read by its poller. Identifiers have no queue pairs
/// as C sees it: those are the program's, on the context that it has opened, and the kernel is told their numbers.
public final class CmConnections implements ConnectionService {
    private static final long SRC = CM_ID.at("route.addr.src_storage");

    /// The receiver of an identifier's events, on the poller's thread.
    interface Owner {
        void onEvent(CmEvent event);
    }

    private final OpenContext context;
    private final CmLibrary library;
    private final long channel;
    private final int descriptor;
    private final Map<Long, Owner> owners = new ConcurrentHashMap<>();
    private final Map<Long, CmExchange> exchanges = new ConcurrentHashMap<>();
    private final List<Port> ports = new java.util.concurrent.CopyOnWriteArrayList<>();

    /// Opens the connections of a device.
    ///
    /// @throws DeviceException when the kernel's part of it cannot be used
    public static CmConnections open(OpenContext context) {
        CmLibrary library = CmLibrary.find();
        var made = library.createEventChannel.call();
        if (made.isNull()) {
            throw new DeviceException("connectionService: rdma_create_event_channel says " + Errno.text(made.errno())
                    + "; is the kernel's module rdma_ucm loaded, and /dev/infiniband/rdma_cm for this user?");
        }
        return new CmConnections(context, library, made.value());
    }

    private CmConnections(OpenContext context, CmLibrary library, long channel) {
        this.context = context;
        this.library = library;
        this.channel = channel;
        this.descriptor = Memory.getInt(channel + EVENT_CHANNEL.at("fd"));
        context.poller().add(descriptor, this::onReadable);
    }

    OpenContext context() {
        return context;
    }

    CmLibrary library() {
        return library;
    }

    @Override
    public Watch watch(Consumer<String> onFailure) {
        return context.failureWatch().add(onFailure);
    }

    // ---- events

    /// Reads an event on the poller's thread. The identifier of the event is looked up before it is given back,
    /// because afterwards it may be gone.
    private void onReadable() {
        try (Arena arena = Arena.ofConfined()) {
            var place = arena.allocate(ValueLayout.JAVA_LONG);
            while (library.getCmEvent.call(channel, place).value() == 0) {
                long event = place.get(ValueLayout.JAVA_LONG, 0);
                CmEvent told = CmEvent.read(event);
                boolean isRequest = told.type() == CmConstants.RDMA_CM_EVENT_CONNECT_REQUEST;
                Owner owner = owners.get(isRequest ? told.listenId() : told.id());
                library.ackCmEvent.call(event);
                if (owner != null) {
                    owner.onEvent(told);
                } else if (isRequest) {
                    destroy(told.id()); // the listener is gone
                }
            }
        }
    }

    void own(long id, Owner owner) {
        owners.put(id, owner);
        if (owner instanceof CmExchange exchange) {
            exchanges.put(id, exchange);
        }
    }

    /// Ends an identifier.
    void destroy(long id) {
        owners.remove(id);
        exchanges.remove(id);
        library.destroyId.call(id);
    }

    // ---- identifiers

    long createId(String verb, PortSpace space) {
        if (space.isDatagram()) {
            context.require(verb, Capability.UD);
        }
        try (Arena arena = Arena.ofConfined()) {
            var place = arena.allocate(ValueLayout.JAVA_LONG);
            var made = library.createId.call(channel, place, 0L, space.code());
            if (made.value() != 0) {
                if (Errno.ENOMEM.is(made.errno())) {
                    throw new ResourceLimitException(verb, "memory", 0, "rdma_create_id says ENOMEM");
                }
                throw new DeviceException(verb + ": rdma_create_id says " + Errno.text(made.errno()));
            }
            return place.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /// Returns a socket address in an arena's memory.
    long socketAddress(Arena arena, Gid address, int port) {
        long at = arena.allocate(SOCKADDR_STORAGE.size(), 8).address();
        int scope = context.gids(1).stream()
                .filter(entry -> entry.gid().isLinkLocal())
                .findFirst()
                .map(GidEntry::interfaceIndex)
                .orElse(0);
        SocketAddress.write(address, port, scope, at);
        return at;
    }

    private void bind(long id, Gid local, int port) {
        try (Arena arena = Arena.ofConfined()) {
            var result = library.bindAddr.call(id, socketAddress(arena, local, port));
            if (result.value() != 0) {
                throw new ConnectionException(
                        ConnectionException.Reason.ADDRESS,
                        Errno.EADDRINUSE.is(result.errno())
                                ? "port " + port + " of " + local + " is taken, by this process or another"
                                : "port " + port + " of " + local + ": " + Errno.text(result.errno()));
            }
        }
    }

    // ---- ports

    @Override
    public BoundPort bind(PortSpace space, Gid local, int port) {
        if (port < 0 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 0 to 65535, got " + port);
        }
        long id = createId("bind", space);
        boolean done = false;
        try {
            bind(id, local, port);
            var bound = new Port(id, local);
            ports.add(bound);
            done = true;
            return bound;
        } finally {
            if (!done) {
                destroy(id);
            }
        }
    }

    /// Binds an identifier whose port the kernel gives; the connection then takes the identifier over.
    @Override
    public Optional<CallerPort> bindCaller(PortSpace space, Gid local) {
        return Optional.of(bind(space, local, 0));
    }

    /// Refuses a secret: secrets are between Verbena ends, and this one is C's.
    private void requireNoSecret(String verb, Secret secret) {
        if (!secret.isNone()) {
            throw new UnsupportedException(
                    verb, Capability.CONNECTION_SECRETS, context.device().name());
        }
    }

    /// A port at one address. A connection from it takes its identifier over.
    private final class Port implements BoundPort, Owner {
        private final Gid local;
        private final int number;
        // Under this.
        private long id;
        private @Nullable Acceptor acceptor;

        Port(long id, Gid local) {
            this.id = id;
            this.local = local;
            this.number = SocketAddress.port(id + SRC);
        }

        @Override
        public int port() {
            return number;
        }

        @Override
        public synchronized void listen(int backlog, Secret secret, Acceptor to) {
            requireNoSecret("listen", secret);
            acceptor = to;
            own(id, this);
            var result = library.listen.call(id, backlog);
            if (result.value() != 0) {
                throw new ConnectionException(
                        ConnectionException.Reason.ADDRESS,
                        "listen: port " + number + " of " + local + ": " + Errno.text(result.errno()));
            }
        }

        @Override
        public void onEvent(CmEvent event) {
            Acceptor decides;
            synchronized (this) {
                decides = acceptor;
            }
            if (event.type() == CmConstants.RDMA_CM_EVENT_DEVICE_REMOVAL) {
                context.onFailed("device " + context.device().name() + " was removed");
            } else if (event.type() == CmConstants.RDMA_CM_EVENT_CONNECT_REQUEST) {
                if (decides == null) {
                    destroy(event.id());
                    return;
                }
                var asked = CmExchange.passive(CmConnections.this, event.id(), event.peer());
                own(event.id(), asked);
                asked.listener(decides.onRequest(asked, event.peer(), asked.type()));
            }
        }

        /// Takes its identifier for a connection; 0 when it has none any more.
        synchronized long take() {
            long taken = acceptor == null ? id : 0;
            id = taken == 0 ? id : 0;
            return taken;
        }

        @Override
        public void close() {
            long ended;
            synchronized (this) {
                ended = id;
                id = 0;
                acceptor = null;
            }
            ports.remove(this);
            if (ended != 0) {
                destroy(ended);
            }
        }
    }

    // ---- calls

    @Override
    public Exchange connect(Route call, OwnSide own, Listener listener) {
        requireNoSecret("connect", own.parameters().secret());
        if (own.type() == QpType.UC) {
            throw new UnsupportedException(
                    "connect by librdmacm", Capability.UC, context.device().name());
        }
        CmTerms.checkFits(call.space(), own.parameters().privateData());
        long id = call.localPort() == 0 ? 0 : takePort(call.local(), call.localPort());
        boolean isBound = id != 0;
        if (!isBound) {
            id = createId("connect", call.space());
        }
        return CmExchange.active(this, id, call, own, listener, isBound);
    }

    private long takePort(Gid local, int number) {
        return ports.stream()
                .filter(port -> port.number == number && port.local.equals(local))
                .mapToLong(Port::take)
                .filter(id -> id != 0)
                .findFirst()
                .orElse(0);
    }

    /// Closes it with the context.
    public void close() {
        exchanges.values().forEach(CmExchange::abandon);
        ports.forEach(Port::close);
        context.poller().remove(descriptor);
        library.destroyEventChannel.call(channel);
    }
}
