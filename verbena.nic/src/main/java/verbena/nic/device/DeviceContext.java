package verbena.nic.device;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.SoftContext;
import verbena.nic.capture.Capture;
import verbena.nic.capture.CaptureFile;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.GidTable;
import verbena.nic.kind.PeerLog;
import verbena.nic.link.Link;
import verbena.nic.link.NetworkWatch;
import verbena.nic.link.Tap;
import verbena.nic.observe.JfrEvents;
import verbena.nic.observe.Management;
import verbena.nic.observe.ObservedDevice;
import verbena.provider.FailureWatch;
import verbena.provider.Slabs;
import verbena.transport.PacketFate;
import verbena.transport.Path;
import verbena.transport.congestion.PeerWindow;
import verbena.transport.memory.KeyTable;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.AtomicCapability;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.LinkLayer;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortState;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.XrcDomain;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.OwnedObject;

/// An opened software device: links, an engine for each, and the tables that they meet in.
///
/// Queue pairs are spread over the engines by completion queue: those that share one live on the same engine,
/// where its ring has one writer, and whoever polls it drives that engine. The first engine has queue pair 1 and
/// the communication manager as well.
///
/// # Order of locks
///
/// A thread that holds one of these waits for those behind it only. An engine is a lock too: a command of another
/// thread waits until its owner has finished the present piece of work.
///
/// 1. The connection identifiers' (`verbena.verbs.cm`), and that of the devices which connections share.
/// 2. The monitors of this context's parts.
/// 3. The posters' locks of a queue: sends, then receives. A program holds one as long as it has a batch open.
/// 4. The engines, in their order.
/// 5. The sleepers' lock of a completion queue. An engine takes it to wake them, so no sleeper calls an engine.
/// 6. The innermost: the pollers' lock of a completion queue, event queues, key tables, slabs, the lists of an XRC
///    domain, the trees of [OwnedObject]. They are held for moments, and nothing is called or waited for under them.
public final class DeviceContext extends OwnedObject implements SoftContext, ObservedDevice {
    /// No company's number (IEEE OUI), as rxe and siw say it; zero is one.
    private static final int NO_VENDOR = 0xFF_FFFF;

    private final Device device;
    private final Mtu mtu;
    private final Engines engines;
    private final GidTable gids;
    final Placement placement;
    private final DeviceEvents events;
    private final DeviceKind kind;
    private final RandomGenerator random;
    private final AtomicBoolean failed = new AtomicBoolean();
    private final FailureWatch failureWatch = new FailureWatch();
    private final Map<Integer, SoftQueuePair> queuePairs = new ConcurrentHashMap<>();
    private final Set<Runnable> closers = ConcurrentHashMap.newKeySet();
    private final Runnable networkChanged = this::onNetworkChanged;
    final Slabs slabs = new Slabs();
    /// Those whose threads may be waiting when the engine fails.
    final Set<SoftCompletionQueue> openQueues = ConcurrentHashMap.newKeySet();
    private final AtomicInteger channelNumber = new AtomicInteger();
    public final Limit completionQueues = new Limit("maxCq", DeviceLimits.CQ_MAX);
    final Limit protectionDomains = new Limit("maxPd", DeviceLimits.PD_MAX);
    final Limit sharedReceiveQueues = new Limit("maxSrq", DeviceLimits.SRQ_MAX);
    final Limit xrcDomains = new Limit("maxXrcd", DeviceLimits.PD_MAX);
    /// The shared receive queues of XRC domains, by their numbers.
    final KeyTable<XrcQueue> xrcQueues;

    private DeviceContext(
            Device device,
            List<? extends Link> links,
            DeviceKind.Maker kind,
            Mtu mtu,
            LongSupplier clock,
            RandomGenerator random) {
        super("context of " + device.name());
        this.device = device;
        this.mtu = mtu;
        this.random = random;
        this.xrcQueues = new KeyTable<>(random, 1, DeviceLimits.SRQ_MAX, clock);
        this.engines = new Engines(links, clock, random, DeviceLimits.QP_MAX, DeviceLimits.MR_MAX, new Listener());
        this.gids = new GidTable(device.name(), links.getFirst());
        this.placement = new Placement(engines);
        this.events = new DeviceEvents(this);
        this.kind = kind.make(new DeviceHost(
                this,
                device.name(),
                device.nodeGuid(),
                mtu,
                engines,
                gids,
                random,
                new PeerLog(device.name(), engines.first().counters()),
                failureWatch::add,
                queuePairs::get));
    }

    /// Opens a device with an engine, and its thread, for each of its links. Several are at the same addresses and have
    /// slots ([Link#slot()]), so that each packet finds the engine that its queue pair lives on.
    ///
    /// @param links closed with the context
    /// @param kind makes what is particular to this kind of device
    /// @param mtu largest path MTU that the links carry
    public static DeviceContext open(Device device, List<? extends Link> links, DeviceKind.Maker kind, Mtu mtu) {
        var context = open(device, links, kind, mtu, System::nanoTime, SoftContext.secureRandom());
        context.start();
        return context;
    }

    /// The same without threads: [#drive()] has to be called.
    ///
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable to peers; in a simulation, seeded
    public static DeviceContext open(
            Device device,
            List<? extends Link> links,
            DeviceKind.Maker kind,
            Mtu mtu,
            LongSupplier clock,
            RandomGenerator random) {
        var context = new DeviceContext(device, links, kind, mtu, clock, random);
        context.tellOpened();
        return context;
    }

    private void tellOpened() {
        if (JfrEvents.isOn()) {
            JfrEvents.opened(
                    device.name(),
                    device.transportType().name(),
                    gids(1).toString(),
                    engines.all().size());
        }
    }

    /// Gives each engine its thread.
    public void start() {
        engines.start("verbena-" + device.name());
        Management.opened(this);
    }

    /// From now on tells of changes of the host's network: [AsyncEvent.Type#PORT_ERR] when no address of the
    /// device can be used any more, [AsyncEvent.Type#PORT_ACTIVE] when one can again, [AsyncEvent.Type#GID_CHANGE]
    /// when others can.
    public void watchNetwork() {
        NetworkWatch.add(networkChanged);
    }

    private void onNetworkChanged() {
        gids.onNetworkChanged().ifPresent(type -> raise(new AsyncEvent.PortEvent(type, 1)));
    }

    @Override
    public void tap(Tap tap) {
        kind.tap(tap);
    }

    @Override
    public void untap(Tap tap) {
        kind.untap(tap);
    }

    @Override
    public AutoCloseable capture(java.nio.file.Path file) throws IOException {
        checkOpen("capture");
        return Capture.toFile(this, CaptureFile.of(file));
    }

    /// The same as an option of the device says, which cannot be opened when that cannot be had; null for nothing.
    public DeviceContext capturing(@Nullable CaptureFile to) {
        if (to == null) {
            return this;
        }
        try {
            Capture.toFile(this, to);
            return this;
        } catch (IOException e) {
            close();
            throw new DeviceException(
                    "open " + device.name() + ": option \"capture\": cannot write " + to.file() + ": " + e.getMessage(),
                    e);
        }
    }

    @Override
    public void beforeClosed(Runnable close) {
        closers.add(close);
    }

    @Override
    public void neverMind(Runnable close) {
        closers.remove(close);
    }

    @Override
    public long nanoTime() {
        return engine().nowNanos();
    }

    @Override
    public boolean drive() {
        return engines.drive();
    }

    @Override
    public long deadlineNanos() {
        return engines.deadlineNanos();
    }

    @Override
    public int roomTo(Gid peer) {
        int least = Integer.MAX_VALUE;
        for (Engine engine : engines.all()) {
            least = Math.min(least, engine.call(() -> {
                PeerWindow window = engine.windows().join(peer.high(), peer.low());
                int room = window.room();
                engine.windows().leave(window);
                return room;
            }));
        }
        return least;
    }

    @Override
    public void keepAlive(QueuePair queuePair, Duration silence) {
        if (!(queuePair instanceof SoftQueuePair soft)
                || soft.protectionDomain().context() != this) {
            throw new IllegalArgumentException("keepAlive: queue pair: belongs to another context");
        }
        if (silence.isNegative()) {
            throw new IllegalArgumentException("keepAlive: silence: zero or more, got " + silence);
        }
        soft.engine().call(() -> {
            soft.keepAlive(silence);
            return true;
        });
    }

    @Override
    public @Nullable Throwable failure() {
        return engines.failure();
    }

    /// What drives this device.
    public Engines engines() {
        return engines;
    }

    /// The first engine: the only one, or the one that has the communication manager.
    public Engine engine() {
        return engines.first();
    }

    public DeviceEvents events() {
        return events;
    }

    /// What kind of device this is.
    public DeviceKind kind() {
        return kind;
    }

    @Override
    public Optional<Throwable> containedFailure() {
        return events.containedFailure();
    }

    FailureWatch failureWatch() {
        return failureWatch;
    }

    @Override
    public Collection<SoftQueuePair> queuePairs() {
        return queuePairs.values();
    }

    void add(SoftQueuePair queuePair) {
        queuePairs.put(queuePair.qpn(), queuePair);
    }

    void remove(SoftQueuePair queuePair) {
        queuePairs.remove(queuePair.qpn());
    }

    /// @throws UnsupportedException when this device does not have it
    void require(String verb, Capability capability) {
        if (!kind.profile().capabilities().contains(capability)) {
            throw new UnsupportedException(verb, capability, device.name());
        }
    }

    RandomGenerator random() {
        return random;
    }

    @Override
    public Mtu mtu() {
        return mtu;
    }

    private final class Listener implements Engine.Listener {
        @Override
        public void onFailure(Throwable cause) {
            if (failed.getAndSet(true)) {
                return;
            }
            engines.fail(cause);
            events.failed(cause);
            openQueues.forEach(SoftCompletionQueue::wakeAll);
            failureWatch.tell("device " + device.name() + " has failed: " + cause);
        }

        @Override
        public void onContained(Throwable cause) {
            events.contained(cause);
        }

        @Override
        public void onSearch(PacketFate last, long sourceHigh, long sourceLow) {
            PeerLog.search(device.name(), last, sourceHigh, sourceLow);
        }
    }

    @Override
    public ManagementPort manage(int managementClass, ManagementAgent agent) {
        checkOpen("manage");
        if (managementClass < 1 || managementClass > 0xFF || (managementClass & 0x7F) == 0x01) {
            throw new IllegalArgumentException("manage: class: 1 to 255, and neither 0x01 nor 0x81, got 0x"
                    + Integer.toHexString(managementClass));
        }
        return kind.manage(managementClass, agent);
    }

    /// Any thread.
    void raise(AsyncEvent event) {
        events.raise(event);
    }

    @Override
    public ConnectionService connectionService() {
        return kind.connections();
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes attributes() {
        DeviceProfile profile = kind.profile();
        return new DeviceAttributes(
                "verbena 0.1",
                device.nodeGuid(),
                device.nodeGuid(),
                Long.MAX_VALUE,
                0xFFFF_F000L,
                NO_VENDOR,
                0,
                0,
                engines.queuePairsMax(),
                DeviceLimits.QP_WR_MAX,
                DeviceLimits.SGE_MAX,
                DeviceLimits.SGE_MAX,
                DeviceLimits.INLINE_MAX,
                DeviceLimits.CQ_MAX,
                DeviceLimits.CQE_MAX,
                DeviceLimits.MR_MAX,
                DeviceLimits.PD_MAX,
                DeviceLimits.READ_ATOMIC_MAX,
                DeviceLimits.READ_ATOMIC_MAX * engines.queuePairsMax(),
                DeviceLimits.READ_ATOMIC_MAX,
                AtomicCapability.HCA,
                DeviceLimits.MR_MAX,
                profile.multicastGroups(),
                profile.multicastAttached(),
                profile.multicastGroups() * profile.multicastAttached(),
                profile.addressHandles(),
                DeviceLimits.SRQ_MAX,
                DeviceLimits.QP_WR_MAX,
                DeviceLimits.SGE_MAX,
                1,
                15,
                1,
                DeviceLimits.MESSAGE_BYTES_MAX,
                0,
                0,
                profile.capabilities());
    }

    @Override
    public PortAttributes port(int port) {
        checkPort(port);
        boolean active = isOpen() && gids.isLive();
        return new PortAttributes(
                active ? PortState.ACTIVE : PortState.DOWN,
                Mtu.MTU_4096,
                mtu,
                gids(1).size(),
                0,
                DeviceLimits.MESSAGE_BYTES_MAX,
                1,
                0,
                0,
                0,
                1,
                1,
                active ? 5 : 3,
                LinkLayer.ETHERNET);
    }

    @Override
    public List<GidEntry> gids(int port) {
        checkPort(port);
        return gids.entries();
    }

    @Override
    public GidEntry gidFor(int port, Gid peer) {
        checkPort(port);
        return gids.towards(peer);
    }

    /// The way that an address vector describes, when its two ends fit.
    ///
    /// @param verb what the message begins with
    Path path(String verb, AddressVector to) {
        GidEntry own;
        try {
            own = gid(1, to.sourceGidIndex());
        } catch (IllegalArgumentException e) {
            throw new InvalidAttributesException(verb + ": " + e.getMessage());
        }
        return GidTable.path(verb, own, to);
    }

    @Override
    public int pkey(int port, int index) {
        checkPort(port);
        if (index != 0) {
            throw new IllegalArgumentException("pkey index: 0 is the only one, got " + index);
        }
        return 0xFFFF;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        checkOpen("allocateProtectionDomain");
        return protectionDomains.take("allocateProtectionDomain", number -> new SoftProtectionDomain(this, number));
    }

    @Override
    public CompletionQueue createCompletionQueue(int entries, Optional<CompletionChannel> channel) {
        checkOpen("createCompletionQueue");
        checkEntries("createCompletionQueue", entries);
        if (channel.isPresent() && channel.get().context() != this) {
            throw new IllegalArgumentException("createCompletionQueue: channel: belongs to another context");
        }
        return completionQueues.take(
                "createCompletionQueue",
                number ->
                        new SoftCompletionQueue(this, number, entries, channel.map(SoftCompletionChannel.class::cast)));
    }

    static void checkEntries(String verb, int entries) {
        if (entries < 1) {
            throw new IllegalArgumentException(verb + ": entries: at least 1, got " + entries);
        }
        if (entries > DeviceLimits.CQE_MAX) {
            throw new ResourceLimitException(verb, "maxCqe", DeviceLimits.CQE_MAX, "asked for " + entries);
        }
    }

    @Override
    public XrcDomain openXrcDomain() {
        checkOpen("openXrcDomain");
        require("openXrcDomain", Capability.XRC);
        return xrcDomains.take("openXrcDomain", number -> new SoftXrcDomain(this, number, placement.place()));
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        checkOpen("createCompletionChannel");
        return new SoftCompletionChannel(this, channelNumber.incrementAndGet());
    }

    @Override
    public Optional<AsyncEvent> pollAsyncEvent() {
        checkOpen("pollAsyncEvent");
        return events.poll();
    }

    @Override
    public Optional<AsyncEvent> awaitAsyncEvent(Duration timeout) throws InterruptedException {
        checkOpen("awaitAsyncEvent");
        return events.await(timeout);
    }

    @Override
    public SortedMap<String, Long> counters() {
        SortedMap<String, Long> all = new TreeMap<>();
        for (Engine engine : engines.all()) {
            Link link = engine.link();
            engine.counters().snapshot().forEach((name, count) -> all.merge(name, count, Long::sum));
            all.merge("dropped.malformed", link.malformed(), Long::sum);
            all.merge("received.packets", link.malformed(), Long::sum);
            all.merge("unsendable", link.unsendable(), Long::sum);
            link.counters().forEach((name, count) -> all.merge(name, count, Long::sum));
        }
        events.count(all);
        all.putAll(kind.counters());
        return all;
    }

    private static void checkPort(int port) {
        if (port != 1) {
            throw new IllegalArgumentException("port: 1 is the only one, got " + port);
        }
    }

    /// A thread that owns an engine cannot see its end.
    @Override
    protected boolean help() {
        engines.checkNotMine(label());
        return false;
    }

    @Override
    protected void release() {
        engines.checkNotMine(label());
        NetworkWatch.remove(networkChanged);
        Management.closed(this);
        engines.close();
        List.copyOf(closers).forEach(Runnable::run); // now that the last words are said
        events.close();
    }
}
