package verbena.nic.device;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.SoftContext;
import verbena.nic.capture.Capture;
import verbena.nic.capture.CaptureFile;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineListener;
import verbena.nic.engine.Engines;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.GidTable;
import verbena.nic.kind.PeerLog;
import verbena.nic.link.Link;
import verbena.nic.link.NetworkWatch;
import verbena.nic.link.psp.PspLink;
import verbena.nic.link.psp.PspStatus;
import verbena.nic.link.tap.Tap;
import verbena.nic.observe.JfrEvents;
import verbena.nic.observe.Management;
import verbena.nic.observe.ObservedDevice;
import verbena.nic.observe.ObservedQueuePair;
import verbena.provider.FailureWatch;
import verbena.transport.PacketFate;
import verbena.transport.memory.KeyTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceException;
import verbena.verbs.DeviceMemory;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.UnsupportedException;
import verbena.verbs.Waitable;
import verbena.verbs.XrcDomain;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.OwnedObject;

/// An opened software device: its links, an engine for each of them, and the tables that the engines share.
///
/// Queue pairs are spread over the engines by completion queue. Queue pairs that share a completion queue live on
/// the same engine: the ring has one writer, and a thread that polls it drives that engine. The first engine also
/// has queue pair 1 and the communication manager.
///
/// # Order of locks
///
/// A thread that holds one of these locks waits only for locks further down. An engine is a lock too: a command of
/// another thread waits until the owner has finished its current piece of work.
///
/// 1. The locks of connection identifiers (`verbena.verbs.cm`), and of the devices that connections share.
/// 2. The monitors of this context's parts.
/// 3. The posters' locks of a queue: sends, then receives. A program holds one as long as it has a batch open.
/// 4. The engines, in their order.
/// 5. The sleepers' lock of a completion queue. An engine takes it to wake sleepers, so no sleeper calls an engine.
/// 6. The innermost: the pollers' lock of a completion queue, event queues, key tables, slabs, the lists of an XRC
///    domain, the trees of [OwnedObject]. A thread holds them briefly; under them it calls and waits for nothing.
public final class DeviceContext extends OwnedObject implements SoftContext, ObservedDevice, ConnectionService.Owner {
    private final Device device;
    private final Mtu mtu;
    private final Engines engines;
    private final GidTable gids;
    private final DeviceEvents events;
    private final DeviceKind kind;
    private final DeviceFacts facts;
    private final AtomicBoolean failed = new AtomicBoolean();
    private final FailureWatch failureWatch = new FailureWatch();
    private final OpenQueuePairs queuePairs = new OpenQueuePairs();
    private final DeviceCore core;
    private final Set<Runnable> closers = ConcurrentHashMap.newKeySet();
    private final Runnable networkChanged = this::onNetworkChanged;
    private final AtomicInteger channelNumber = new AtomicInteger();
    /// The bytes of device memory that programs have.
    private final AtomicLong deviceMemory = new AtomicLong();

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
        var xrcQueues = new KeyTable<XrcQueue>(random, 1, DeviceLimits.SRQ_MAX, clock);
        this.engines = new Engines(links, clock, random, DeviceLimits.QP_MAX, DeviceLimits.MR_MAX, new Listener());
        this.gids = new GidTable(device.name(), links.getFirst());
        this.events = new DeviceEvents(device.name(), label(), engines);
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
                queuePairs.all()));
        this.core = new DeviceCore(this, engines, this.kind, events, random, xrcQueues, queuePairs);
        this.facts = new DeviceFacts(device, mtu, this.kind, engines, gids);
    }

    /// Opens a device with an engine and a thread for each of its links. Several links have the same addresses and
    /// different slots ([Link#slot()]), so that each packet reaches the engine of its queue pair.
    ///
    /// @param links closed with the context
    /// @param kind makes the parts that depend on the kind of device
    /// @param mtu largest path MTU that the links carry
    public static DeviceContext open(Device device, List<? extends Link> links, DeviceKind.Maker kind, Mtu mtu) {
        var context = open(device, links, kind, mtu, System::nanoTime, SoftContext.secureRandom());
        context.start();
        return context;
    }

    /// Opens a device without threads: its user has to call [#drive()].
    ///
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable for peers; seeded in a simulation
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

    /// Gives each engine a thread.
    public void start() {
        engines.start("verbena-" + device.name());
        Management.opened(this);
    }

    /// Begins to report changes of the host's network. [AsyncEvent.Type#PORT_ERR] means that no address of the
    /// device can be used any more, [AsyncEvent.Type#PORT_ACTIVE] that one can be used again.
    /// [AsyncEvent.Type#GID_CHANGE] means that other addresses can be used.
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

    /// Starts the capture that an option of the device asks for, or fails to open the device; null starts none.
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
    public void cancelBeforeClosed(Runnable close) {
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
        return engines.roomTo(peer);
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

    @Override
    public List<PspStatus> peers() {
        PspLink link = engines.first().link().service(PspLink.class);
        return link == null ? List.of() : link.peers();
    }

    /// Returns the engines that drive this device.
    public Engines engines() {
        return engines;
    }

    /// Returns the first engine: the only one, or the one with the communication manager.
    public Engine engine() {
        return engines.first();
    }

    /// Counts the completion queues.
    public Limit completionQueues() {
        return core.completionQueues;
    }

    public DeviceEvents events() {
        return events;
    }

    /// Returns the kind of this device.
    public DeviceKind kind() {
        return kind;
    }

    @Override
    public Optional<Throwable> containedFailure() {
        return events.containedFailure();
    }

    @Override
    public @Nullable QueuePair queuePair(int qpn) {
        return queuePairs.get(qpn);
    }

    @Override
    public Collection<? extends ObservedQueuePair> queuePairs() {
        return queuePairs.all().values();
    }

    @Override
    public Mtu mtu() {
        return mtu;
    }

    private final class Listener implements EngineListener {
        @Override
        public void onFailure(Throwable cause) {
            if (failed.getAndSet(true)) {
                return;
            }
            engines.fail(cause);
            events.failed(cause);
            core.openQueues.forEach(CompletionRing.Listener::onWake);
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

    /// Reports an asynchronous event. Any thread.
    public void raise(AsyncEvent event) {
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
        return facts.attributes();
    }

    @Override
    public PortAttributes port(int port) {
        checkPort(port);
        return facts.port(isOpen());
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

    @Override
    public int pkey(int port, int index) {
        checkPort(port);
        int[] pkeys = kind.pkeys();
        if (index < 0 || index >= pkeys.length) {
            throw new IllegalArgumentException("pkey index: 0 to " + (pkeys.length - 1) + ", got " + index);
        }
        return pkeys[index];
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        checkOpen("allocateProtectionDomain");
        return core.protectionDomains.take(
                "allocateProtectionDomain", number -> new SoftProtectionDomain(core, number));
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long bytes) {
        checkOpen("allocateDeviceMemory");
        return new SoftDeviceMemory(core, bytes, deviceMemory);
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueOptions options) {
        checkOpen("createCompletionQueue");
        if (options.hasTimestamps()) {
            throw new UnsupportedException("createCompletionQueue", Capability.COMPLETION_TIMESTAMPS, device().name());
        }
        int entries = options.entries();
        SoftCompletionQueue.checkEntries("createCompletionQueue", entries);
        Optional<CompletionChannel> channel = options.channel();
        if (channel.isPresent() && channel.get().context() != this) {
            throw new IllegalArgumentException("createCompletionQueue: channel: belongs to another context");
        }
        return core.completionQueues.take(
                "createCompletionQueue",
                number ->
                        new SoftCompletionQueue(core, number, entries, channel.map(SoftCompletionChannel.class::cast)));
    }

    @Override
    public XrcDomain openXrcDomain() {
        checkOpen("openXrcDomain");
        core.require("openXrcDomain", Capability.XRC);
        return core.xrcDomains.take("openXrcDomain", number -> new SoftXrcDomain(core, number, core.placement.place()));
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        checkOpen("createCompletionChannel");
        return new SoftCompletionChannel(core, channelNumber.incrementAndGet());
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
    public AsyncEvent awaitAsyncEvent() throws InterruptedException {
        checkOpen("awaitAsyncEvent");
        return events.await();
    }

    @Override
    public Waitable asyncEvents() {
        return events.waitable();
    }

    @Override
    public SortedMap<String, Long> counters() {
        SortedMap<String, Long> all = facts.counters();
        events.count(all);
        return all;
    }

    private static void checkPort(int port) {
        if (port != 1) {
            throw new IllegalArgumentException("port: 1 is the only one, got " + port);
        }
    }

    /// Returns false, because a closing thread cannot help. Throws when it owns an engine, because it cannot wait
    /// for the engine's end.
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
        List.copyOf(closers).forEach(Runnable::run); // after the engines have sent their last packets
        core.regionMemory.close();
        events.close();
    }
}
