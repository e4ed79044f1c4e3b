package verbena.ibverbs;

import static verbena.foreign.rdma.VerbsStructs.ASYNC_EVENT;
import static verbena.foreign.rdma.VerbsStructs.CONTEXT;
import static verbena.foreign.rdma.VerbsStructs.DEVICE;
import static verbena.foreign.rdma.VerbsStructs.PORT_ATTR;

import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.linux.Errno;
import verbena.ibverbs.cm.CmConnections;
import verbena.ibverbs.lib.DeviceQuery;
import verbena.ibverbs.lib.Ops;
import verbena.ibverbs.lib.PortQuery;
import verbena.ibverbs.objects.IbvCompletionChannel;
import verbena.ibverbs.objects.IbvCompletionQueue;
import verbena.ibverbs.objects.IbvDeviceMemory;
import verbena.ibverbs.objects.IbvProtectionDomain;
import verbena.ibverbs.objects.IbvQueuePair;
import verbena.ibverbs.objects.IbvSharedReceiveQueue;
import verbena.ibverbs.objects.IbvXrcDomain;
import verbena.ibverbs.objects.OpenContext;
import verbena.provider.EventQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceException;
import verbena.verbs.DeviceMemory;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.PortAttributes;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.Waitable;
import verbena.verbs.XrcDomain;
import verbena.verbs.counting.LateBeans;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.OwnedObject;

/// An opened device of the system's: `struct ibv_context`, and one thread that waits for its events.
final class IbvContext extends OpenContext implements ConnectionService.Owner {
    private static final int ASYNC_EVENTS_MAX = 1 << 12;

    private final DeviceAttributes attributes;
    private final GidTable gidTable;
    private final EventQueue<AsyncEvent> asyncEvents;
    private final AtomicLong tokens = new AtomicLong();
    private final AtomicInteger channels = new AtomicInteger();
    private final AtomicInteger domains = new AtomicInteger();
    private final AtomicInteger xrcDomains = new AtomicInteger();

    // Made when first needed; under this.
    private @Nullable IbvCompletionChannel waiting;
    private @Nullable CmConnections connections;

    /// @throws DeviceException when it cannot be opened; says why, and what to do
    static IbvContext open(IbvDevice device) {
        return device.library().withDevices(found -> {
            for (long each : found) {
                if (Memory.getString(each + DEVICE.at("name")).equals(device.name())) {
                    var made = device.library().openDevice.call(each);
                    if (made.isNull()) {
                        throw new DeviceException("open " + device.name() + ": " + whyNot(device, made.errno()));
                    }
                    LateBeans.beginSoon();
                    return new IbvContext(device, each, made.value());
                }
            }
            throw new DeviceException("open " + device.name() + ": it is not there any more");
        });
    }

    private static String whyNot(IbvDevice device, int error) {
        String node = device.node();
        if (!Files.exists(Path.of(node))) {
            return node + " does not exist: load the kernel's module ib_uverbs, or give this container the file";
        }
        return Errno.EACCES.is(error) || Errno.EPERM.is(error)
                ? node + " is not for this user: " + Errno.text(error) + "; udev's rule of rdma-core makes it"
                        + " readable and writable for all"
                : "libibverbs says " + Errno.text(error);
    }

    private IbvContext(IbvDevice device, long cDevice, long address) {
        DeviceAttributes told;
        Ops ops;
        Path sysfs;
        boolean made = false;
        try {
            sysfs = Path.of(Memory.getString(cDevice + DEVICE.at("ibdev_path")));
            var asking = new Ops(address, cDevice, device.name(), false);
            var query = new DeviceQuery(device.library(), device, address, asking);
            ops = new Ops(address, cDevice, device.name(), !query.postsBySystemCall());
            told = query.attributes();
            made = true;
        } finally {
            if (!made) {
                device.library().closeDevice.call(address);
            }
        }
        int vectors = Math.max(1, Memory.getInt(address + CONTEXT.at("num_comp_vectors")));
        super(device.library(), device, address, ops, vectors);
        this.attributes = told;
        this.gidTable = new GidTable(this, sysfs);
        this.asyncEvents = new EventQueue<>(label(), ASYNC_EVENTS_MAX);
        poller().add(Memory.getInt(address + CONTEXT.at("async_fd")), this::onAsyncReadable);
    }

    /// Checks the state after a failed request, over iWARP only: other devices report their state.
    @Override
    public void onFailedRequest(int qpn) {
        if (isIwarp()) {
            for (OwnedObject each : objects()) {
                if (each instanceof IbvQueuePair qp && qp.qpn() == qpn) {
                    qp.moved(QpState.ERR);
                }
            }
        }
    }

    // ---- what there is to know

    @Override
    public DeviceAttributes attributes() {
        return attributes;
    }

    @Override
    public PortAttributes port(int port) {
        checkOpen("port");
        return queryPort(port);
    }

    private void checkPort(int port) {
        if (port < 1 || port > attributes.physicalPorts()) {
            throw new IllegalArgumentException(
                    "port: " + device().name() + " has ports 1 to " + attributes.physicalPorts() + ", got " + port);
        }
    }

    private PortAttributes queryPort(int port) {
        checkPort(port);
        try (Arena arena = Arena.ofConfined()) {
            // Larger than any version's, because the compatible one does not tell how much it writes.
            long at = arena.allocate(2 * PORT_ATTR.size(), 8).address();
            int error = ops().extended("u32 query_port(ptr, u8, ptr, u64)")
                    .map(query -> query.call(address(), (byte) port, at, PORT_ATTR.size()))
                    .orElseGet(() -> library().queryPort.call(address(), (byte) port, at))
                    .error();
            if (error != 0) {
                throw new DeviceException("port " + port + " of " + device().name() + ": " + Errno.text(error));
            }
            return PortQuery.attributes(
                    at, isIwarp() ? OptionalInt.of(gidTable.addressCount(port)) : OptionalInt.empty());
        }
    }

    @Override
    public List<GidEntry> gids(int port) {
        checkOpen("gids");
        checkPort(port);
        return gidTable.entries(port, isIwarp() ? 1 : queryPort(port).gidTableLength());
    }

    @Override
    public GidEntry gidFor(int port, Gid peer) {
        return GidTable.towards(peer, gids(port), device().name());
    }

    @Override
    public int pkey(int port, int index) {
        checkOpen("pkey");
        int length = queryPort(port).pkeyTableLength();
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(2, 2).address();
            int error = index < 0
                    ? Errno.EINVAL.code
                    : library()
                            .queryPkey
                            .call(address(), (byte) port, index, at)
                            .error();
            if (error != 0) {
                throw new IllegalArgumentException("pkey: port " + port + " of " + device().name() + " has " + length
                        + " P_Keys from index 0 on, got " + index);
            }
            return Memory.swapShort(Memory.getUnsignedShort(at));
        }
    }

    /// Returns the kernel's counters of each port, packets and errors, by the names that it gives them.
    @Override
    public SortedMap<String, Long> counters() {
        checkOpen("counters");
        var counters = new TreeMap<String, Long>();
        for (int port = 1; port <= attributes.physicalPorts(); port++) {
            for (String folder : List.of("counters", "hw_counters")) {
                gidTable.readNumbers(port, folder, counters);
            }
        }
        return counters;
    }

    // ---- what is made from it

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        checkOpen("allocateProtectionDomain");
        return new IbvProtectionDomain(this, domains.incrementAndGet());
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long bytes) {
        checkOpen("allocateDeviceMemory");
        require("allocateDeviceMemory", Capability.DEVICE_MEMORY);
        return new IbvDeviceMemory(this, bytes);
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueOptions options) {
        String verb = "createCompletionQueue";
        if (options.hasTimestamps()) {
            require(verb, Capability.COMPLETION_TIMESTAMPS);
        }
        checkOpen(verb);
        int entries = options.entries();
        if (entries < 1) {
            throw new IllegalArgumentException(verb + ": entries: at least 1, got " + entries);
        }
        if (entries > attributes.queues().maxCqe()) {
            throw new ResourceLimitException(verb, "maxCqe", attributes.queues().maxCqe(), "asked for " + entries);
        }
        Optional<IbvCompletionChannel> own = options.channel().map(each -> {
            if (!(each instanceof IbvCompletionChannel of) || of.context() != this) {
                throw new IllegalArgumentException(verb + ": channel: belongs to another context");
            }
            return of;
        });
        return new IbvCompletionQueue(this, tokens.incrementAndGet(), entries, own, waiting(), options.hasTimestamps());
    }

    @Override
    public XrcDomain openXrcDomain() {
        checkOpen("openXrcDomain");
        require("openXrcDomain", Capability.XRC);
        return new IbvXrcDomain(this, xrcDomains.incrementAndGet());
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        checkOpen("createCompletionChannel");
        return new IbvCompletionChannel(this, channels.incrementAndGet());
    }

    /// Returns the channel of queues that have none, for threads that wait at them.
    private synchronized IbvCompletionChannel waiting() {
        IbvCompletionChannel known = waiting;
        if (known == null) {
            known = IbvCompletionChannel.ofContext(this);
            waiting = known;
        }
        return known;
    }

    @Override
    public synchronized ConnectionService connectionService() {
        checkOpen("connectionService");
        require("connectionService", Capability.CONNECTION_MANAGER);
        CmConnections known = connections;
        if (known == null) {
            known = CmConnections.open(this);
            connections = known;
        }
        return known;
    }

    // ---- asynchronous events

    @Override
    public Optional<AsyncEvent> pollAsyncEvent() {
        checkOpen("pollAsyncEvent");
        return asyncEvents.poll();
    }

    @Override
    public Optional<AsyncEvent> awaitAsyncEvent(Duration timeout) throws InterruptedException {
        checkOpen("awaitAsyncEvent");
        return asyncEvents.await(timeout);
    }

    @Override
    public AsyncEvent awaitAsyncEvent() throws InterruptedException {
        checkOpen("awaitAsyncEvent");
        return asyncEvents.await();
    }

    @Override
    public Waitable asyncEvents() {
        return asyncEvents;
    }

    /// Reads asynchronous events, on the poller's thread. Each is acknowledged before anything else, so that no
    /// thread that destroys its object has to wait for the poller.
    private void onAsyncReadable() {
        try (Arena arena = Arena.ofConfined()) {
            var event = arena.allocate(ASYNC_EVENT.size(), 8);
            while (library().getAsyncEvent.call(address(), event).value() == 0) {
                int code = Memory.getInt(event.address() + ASYNC_EVENT.at("event_type"));
                AsyncEvent told = code >= 0 && code < AsyncEvent.Type.values().length
                        ? event(AsyncEvent.Type.values()[code], event.address() + ASYNC_EVENT.at("element"))
                        : null;
                library().ackAsyncEvent.call(event);
                if (told != null) {
                    tell(told);
                }
            }
        }
    }

    private @Nullable AsyncEvent event(AsyncEvent.Type type, long element) {
        return switch (type) {
            case CQ_ERR -> {
                long of = Memory.getLong(element);
                yield completionQueues().stream()
                        .filter(each -> each.address() == of)
                        .findFirst()
                        .map(cq -> new AsyncEvent.CompletionQueueEvent(type, cq))
                        .orElse(null);
            }
            case QP_FATAL,
                    QP_REQ_ERR,
                    QP_ACCESS_ERR,
                    COMM_EST,
                    SQ_DRAINED,
                    PATH_MIG,
                    PATH_MIG_ERR,
                    QP_LAST_WQE_REACHED ->
                object(Memory.getLong(element)) instanceof IbvQueuePair qp
                        ? new AsyncEvent.QueuePairEvent(type, qp)
                        : null;
            case SRQ_ERR, SRQ_LIMIT_REACHED ->
                object(Memory.getLong(element)) instanceof IbvSharedReceiveQueue srq
                        ? new AsyncEvent.SharedReceiveQueueEvent(type, srq)
                        : null;
            case PORT_ACTIVE, PORT_ERR, LID_CHANGE, PKEY_CHANGE, SM_CHANGE, CLIENT_REREGISTER, GID_CHANGE ->
                new AsyncEvent.PortEvent(type, Memory.getInt(element));
            case DEVICE_FATAL -> new AsyncEvent.DeviceEvent(type);
        };
    }

    private void tell(AsyncEvent event) {
        switch (event) {
            case AsyncEvent.CompletionQueueEvent(var type, var cq) -> {
                if (cq instanceof Queue own) {
                    own.onBroken();
                }
            }
            case AsyncEvent.SharedReceiveQueueEvent(var type, var srq) -> {
                if (type == AsyncEvent.Type.SRQ_LIMIT_REACHED && srq instanceof IbvSharedReceiveQueue own) {
                    own.onLimit();
                }
            }
            case AsyncEvent.QueuePairEvent(var type, var qp) -> {
                if (qp instanceof IbvQueuePair own) {
                    own.onAsyncEvent(type);
                }
            }
            case AsyncEvent.DeviceEvent e -> onFailed("device " + device().name() + " has failed");
            case AsyncEvent.PortEvent e -> {}
        }
        asyncEvents.offer(event);
    }

    @Override
    protected void release() {
        CmConnections cm;
        IbvCompletionChannel channel;
        synchronized (this) {
            cm = connections;
            channel = waiting;
        }
        if (cm != null) {
            cm.close();
        }
        if (channel != null) {
            channel.close();
        }
        asyncEvents.close();
        poller().close();
        int error = library().closeDevice.call(address()).error();
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_close_device says " + Errno.text(error));
        }
    }
}
