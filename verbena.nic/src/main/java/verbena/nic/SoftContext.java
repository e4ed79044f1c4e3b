package verbena.nic;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmLimits;
import verbena.cm.CmRefusal;
import verbena.cm.CmSuspects;
import verbena.cm.CommunicationManager;
import verbena.nic.capture.Capture;
import verbena.nic.capture.CaptureFile;
import verbena.nic.engine.Engine;
import verbena.nic.engine.MulticastGroups;
import verbena.nic.engine.Station;
import verbena.nic.link.Link;
import verbena.nic.link.NetworkWatch;
import verbena.nic.link.Tap;
import verbena.nic.link.TapLink;
import verbena.nic.link.TcpLink;
import verbena.transport.Counter;
import verbena.transport.Messages;
import verbena.transport.PacketFate;
import verbena.transport.Path;
import verbena.transport.PeerWindow;
import verbena.transport.memory.KeyTable;
import verbena.transport.memory.MemoryTable;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.AtomicCapability;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
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
import verbena.wire.cm.Mad;

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
/// 2. This context's monitor, and `placing`.
/// 3. The posters' locks of a queue: sends, then receives. A program holds one as long as it has a batch open.
/// 4. The engines, in their order.
/// 5. The sleepers' lock of a completion queue. An engine takes it to wake them, so no sleeper calls an engine.
/// 6. The innermost: the pollers' lock of a completion queue, event queues, key tables, slabs, the lists of an XRC
///    domain, the trees of [OwnedObject]. They are held for moments, and nothing is called or waited for under them.
public final class SoftContext extends OwnedObject implements Context {
    static final int QP_MAX = 65_536;
    static final int QP_WR_MAX = 16_384;
    static final int SGE_MAX = 32;
    static final int INLINE_MAX = 512;
    static final int CQ_MAX = 65_536;
    static final int CQE_MAX = 1 << 20;
    static final int MR_MAX = 1 << 20;
    static final int PD_MAX = 65_536;
    static final int SRQ_MAX = 65_536;
    /// Address handles cost nothing but heap.
    static final int AH_MAX = Integer.MAX_VALUE;
    static final int READ_ATOMIC_MAX = 128;
    static final long MESSAGE_BYTES_MAX = Messages.BYTES_MAX;
    /// No company's number (IEEE OUI), as rxe and siw say it; zero is one.
    private static final int NO_VENDOR = 0xFF_FFFF;

    private static final Set<Capability> ALL = EnumSet.of(
            Capability.RC,
            Capability.UC,
            Capability.UD,
            Capability.SRQ,
            Capability.XRC,
            Capability.RDMA_READ,
            Capability.RDMA_WRITE,
            Capability.ATOMICS,
            Capability.IMMEDIATE_DATA,
            Capability.SEND_WITH_IMMEDIATE,
            Capability.SEND_WITH_INVALIDATE,
            Capability.LOCAL_INVALIDATE,
            Capability.MEMORY_WINDOW_TYPE_1,
            Capability.MEMORY_WINDOW_TYPE_2,
            Capability.FLUSH,
            Capability.ATOMIC_WRITE,
            Capability.MULTICAST,
            Capability.RESIZE_CQ,
            Capability.REREGISTER,
            Capability.ZERO_BASED,
            Capability.IOVA,
            Capability.SQ_DRAIN,
            Capability.ENDPOINTS,
            Capability.CONNECTION_MANAGER,
            Capability.CONNECTION_SECRETS);
    private static final Set<Capability> IWARP = EnumSet.of(
            Capability.RC,
            Capability.SRQ,
            Capability.RDMA_READ,
            Capability.RDMA_WRITE,
            Capability.ATOMICS,
            Capability.IMMEDIATE_DATA,
            Capability.SEND_WITH_INVALIDATE,
            Capability.LOCAL_INVALIDATE,
            Capability.MEMORY_WINDOW_TYPE_1,
            Capability.MEMORY_WINDOW_TYPE_2,
            Capability.RESIZE_CQ,
            Capability.REREGISTER,
            Capability.ZERO_BASED,
            Capability.IOVA,
            Capability.CONNECTION_MANAGER);

    /// The two first queue pair numbers are the standard's own (SMI and GSI).
    private static final int QPN_FIRST = 2;
    /// Asynchronous events that wait to be taken; the oldest go when there are more.
    private static final int EVENTS_MAX = 4_096;

    private final Device device;
    private final Mtu mtu;
    private final List<Engine> engines;
    /// One for each engine, over the same keys.
    private final List<MemoryTable> memories = new ArrayList<>();
    private final Object placing = new Object();
    private final AtomicBoolean failed = new AtomicBoolean();
    /// [#QP_MAX], or less where others give out numbers too.
    final int queuePairsMax;
    private final RandomGenerator random;
    private final EventQueue<AsyncEvent> events;
    /// The first mistake of our own that ended one queue pair, stream or command only.
    private volatile Optional<Throwable> containedFailure = Optional.empty();
    private final FailureWatch failureWatch = new FailureWatch(this);
    private final ConnectionService connections;
    /// The streams of an iWARP device; null when packets are sent.
    private final @Nullable TcpLink streams;
    /// By their numbers: for those who look on, and of an iWARP device, where no packet names one.
    final Map<Integer, SoftQueuePair> queuePairs = new ConcurrentHashMap<>();
    private final Set<Capture> captures = ConcurrentHashMap.newKeySet();
    private final Runnable networkChanged = this::lookAtNetwork;
    /// The addresses that could be used when the network last changed.
    private volatile List<GidEntry> liveGids;
    private final Gsi gsi;
    private final Silence unproven = new Silence();
    private volatile @Nullable CmAgent cm;
    final Slabs slabs = new Slabs();
    /// Those who may be waiting when the engine fails.
    final Set<SoftCompletionQueue> openQueues = ConcurrentHashMap.newKeySet();
    private final AtomicLong raised = new AtomicLong();
    private final AtomicInteger channelNumber = new AtomicInteger();
    final Limit completionQueues = new Limit("maxCq", CQ_MAX);
    final Limit protectionDomains = new Limit("maxPd", PD_MAX);
    final Limit sharedReceiveQueues = new Limit("maxSrq", SRQ_MAX);
    final Limit xrcDomains = new Limit("maxXrcd", PD_MAX);
    /// The shared receive queues of XRC domains, by their numbers.
    final KeyTable<XrcQueue> xrcQueues;

    private SoftContext(
            Device device, List<? extends Link> links, Mtu mtu, LongSupplier clock, RandomGenerator random) {
        super("context of " + device.name());
        this.device = device;
        this.mtu = mtu;
        this.random = random;
        this.xrcQueues = new KeyTable<>(random, 1, SRQ_MAX, clock);
        memories.add(new MemoryTable(random, MR_MAX, clock));
        var made = new ArrayList<Engine>();
        int most = 0;
        for (Link link : links) {
            KeyTable<Station> stations = link.slot() == Link.NO_SLOT
                    ? new KeyTable<>(random, QPN_FIRST, QP_MAX, clock)
                    : KeyTable.ofSlot(random, link.slot(), QPN_FIRST, QP_MAX, clock);
            most = stations.limit();
            made.add(new Engine(link, clock, stations, new Listener()));
            if (made.size() > 1) {
                memories.add(memory().forAnotherEngine());
            }
        }
        this.engines = List.copyOf(made);
        this.queuePairsMax = most;
        this.gsi = new Gsi(engines);
        this.events = new EventQueue<>(label(), EVENTS_MAX, this);
        this.liveGids = engine().link().gids();
        this.streams = engine().link() instanceof TcpLink tcp ? tcp : null;
        if (streams != null) {
            streams.onContained(engine()::contained);
        }
        this.connections =
                streams == null ? new SoftConnections(this) : new StreamConnections(this, streams, isCrcWanted(device));
    }

    /// Opens a device that is nothing but `link`: how a simulator, a test, or a program with a wire of its own
    /// gets one. The largest path MTU is what the link's packets have room for.
    ///
    /// @param name how messages and the thread call it
    /// @param link closed with the context
    /// @param clock nanoseconds, monotonic; `System::nanoTime`, or a simulator's
    /// @param random unpredictable to peers ([#secureRandom()]); in a simulation, seeded
    /// @param ownThread whether the engine has a thread; without one, [#drive()] has to be called
    public static SoftContext open(
            String name, Link link, LongSupplier clock, RandomGenerator random, boolean ownThread) {
        return open(new LinkDevice(name, link), link, LinkDevice.largestMtu(link), clock, random, ownThread);
    }

    /// Numbers that nobody can guess, cheap enough for every key.
    public static RandomGenerator secureRandom() {
        return new SecureNumbers();
    }

    /// Opens a device over any link.
    ///
    /// @param mtu largest path MTU that the link carries
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable to peers; in a simulation, seeded
    /// @param ownThread whether the engine has a thread; without one, [#drive()] has to be called
    public static SoftContext open(
            Device device, Link link, Mtu mtu, LongSupplier clock, RandomGenerator random, boolean ownThread) {
        var context = new SoftContext(device, List.of(link), mtu, clock, random);
        context.tellOpened();
        if (ownThread) {
            context.start();
        }
        return context;
    }

    /// Opens a device with an engine, and its thread, for each of several links at the same addresses. They have
    /// slots ([Link#slot()]), so that each packet finds the engine that its queue pair lives on.
    ///
    /// @param mtu largest path MTU that the links carry
    /// @param random unpredictable to peers
    static SoftContext open(Device device, List<? extends Link> links, Mtu mtu, RandomGenerator random) {
        var context = new SoftContext(device, links, mtu, System::nanoTime, random);
        context.tellOpened();
        context.start();
        return context;
    }

    /// Opens a device that is nothing but `links`, with an engine for each and no thread: [#drive()] has to be
    /// called. How a simulator gets a device with several engines.
    ///
    /// @param name how messages call it
    /// @param links at the same addresses, each with a slot of its own ([Link#slot()]); closed with the context
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable to peers; in a simulation, seeded
    public static SoftContext open(
            String name, List<? extends Link> links, LongSupplier clock, RandomGenerator random) {
        Link first = links.getFirst();
        var context = new SoftContext(new LinkDevice(name, first), links, LinkDevice.largestMtu(first), clock, random);
        context.tellOpened();
        return context;
    }

    private void tellOpened() {
        if (Flight.isOn()) {
            Flight.opened(device.name(), device.transportType().name(), gids(1).toString(), engines.size());
        }
    }

    private void start() {
        String name = "verbena-" + device.name();
        for (int i = 0; i < engines.size(); i++) {
            engines.get(i).start(i == 0 ? name : name + "-" + i);
        }
        Management.opened(this);
    }

    /// From now on tells of changes of the host's network: [AsyncEvent.Type#PORT_ERR] when no address of the
    /// device can be used any more, [AsyncEvent.Type#PORT_ACTIVE] when one can again, [AsyncEvent.Type#GID_CHANGE]
    /// when others can.
    void watchNetwork() {
        NetworkWatch.add(networkChanged);
    }

    private synchronized void lookAtNetwork() {
        List<GidEntry> now = engine().link().liveGids();
        List<GidEntry> before = liveGids;
        if (!now.equals(before)) {
            liveGids = now;
            raise(new AsyncEvent.PortEvent(
                    now.isEmpty()
                            ? AsyncEvent.Type.PORT_ERR
                            : before.isEmpty() ? AsyncEvent.Type.PORT_ACTIVE : AsyncEvent.Type.GID_CHANGE,
                    1));
        }
    }

    /// Shows `tap` everything that this device sends and receives from now on: packets, or an iWARP device's
    /// streams. Any thread, at any time; of a device that nobody taps nothing is different. Where
    /// [FaultyLink][verbena.nic.link.FaultyLink] has its hand in, the tap sees what the engine sends before and
    /// receives behind it.
    public void tap(Tap tap) {
        if (streams != null) {
            engine().call(() -> {
                streams.tap(tap, engine()::nowNanos);
                return true;
            });
            return;
        }
        relink(link -> new TapLink(link, tap, engine()::nowNanos));
    }

    /// Shows it nothing any more: when this has returned, it is not called again. Not attached: does nothing.
    public void untap(Tap tap) {
        if (streams != null) {
            engine().call(() -> {
                streams.untap(tap);
                return true;
            });
            return;
        }
        relink(link -> TapLink.without(tap, link));
    }

    private void relink(UnaryOperator<Link> change) {
        for (Engine engine : engines) {
            engine.call(() -> {
                engine.relink(change);
                return true;
            });
        }
    }

    /// Begins to write what this device sends and receives into a pcapng file; closing what this gives ends that,
    /// and so does closing the device.
    ///
    /// @throws IOException when the file cannot be written
    public AutoCloseable capture(java.nio.file.Path file) throws IOException {
        checkOpen("capture");
        return Capture.toFile(this, CaptureFile.of(file));
    }

    /// The same as an option of the device says, which cannot be opened when that cannot be had; null for nothing.
    SoftContext capturing(@Nullable CaptureFile to) {
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

    /// For captures: whom to end with this device.
    public void addCapture(Capture capture) {
        captures.add(capture);
    }

    /// For captures: that has ended.
    public void removeCapture(Capture capture) {
        captures.remove(capture);
    }

    /// The engine's clock.
    public long nanoTime() {
        return engine().nowNanos();
    }

    /// Does a bounded piece of the engine's work on the calling thread; false when there was nothing to do, or
    /// somebody else is at it. Without a thread of its own the device does nothing else but what a call of this
    /// does, except that a verb that waits drives it too.
    public boolean drive() {
        boolean threads = hasThread();
        boolean any = false;
        for (int i = 0; i < engines.size(); i++) { // without an iterator: a simulator asks for each moment
            Engine engine = engines.get(i);
            any |= threads ? engine.drive() : engine.step() > 0;
        }
        return any;
    }

    /// When the engine has to be driven next though nothing arrives, in the clock's time: [Long#MAX_VALUE] when
    /// nothing is waited for, the past when something is to be done now. For whoever drives.
    public long deadlineNanos() {
        long earliest = engine().deadlineNanos();
        for (int i = 1; i < engines.size(); i++) {
            earliest = Math.min(earliest, engines.get(i).deadlineNanos());
        }
        return earliest;
    }

    /// How many PSNs the reliable connections of this device to the address `peer` may send now, in the engine
    /// where that is the least. Zero or less: what they have under way fills the window that they share, and
    /// whoever has something to send waits. Any thread.
    public int roomTo(Gid peer) {
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < engines.size(); i++) {
            Engine engine = engines.get(i);
            least = Math.min(least, engine.call(() -> {
                PeerWindow window = engine.windows().join(peer.high(), peer.low());
                int room = window.room();
                engine.windows().leave(window);
                return room;
            }));
        }
        return least;
    }

    /// From now on the peer of a reliable connection is asked whether it lives when nothing has come from it for
    /// `silence`; zero: never. For a queue pair that was connected without the connection manager, what
    /// [its option][verbena.verbs.cm.ConnectionParameters#keepAlive()] does for others. RESET ends it. Any thread.
    ///
    /// @throws IllegalArgumentException when the queue pair is not one of this device, or `silence` is negative
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

    /// The first engine: the only one, or the one that has the communication manager.
    Engine engine() {
        return engines.getFirst();
    }

    /// All of them.
    List<Engine> allEngines() {
        return engines;
    }

    /// Whether there are threads that drive.
    boolean hasThread() {
        return engine().hasThread();
    }

    /// The caller will not poll any more for now ([Engine#handOver()]).
    void handOver() {
        for (int i = 0; i < engines.size(); i++) { // without an iterator: this is asked for each wait
            engines.get(i).handOver();
        }
    }

    /// The caller parks until it is woken: 1, or has ended that: -1 ([Engine#parked(int)]).
    void parked(int change) {
        for (int i = 0; i < engines.size(); i++) {
            engines.get(i).parked(change);
        }
    }

    /// Attends to the engine until `isOver` or `nanos` have passed; false when that cannot be ([Engine#attend]), as
    /// with
    /// several engines: the caller could sleep in the link of one only.
    boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return engines.size() == 1 && engine().attend(isOver, nanos);
    }

    /// Why the device stands still; null while it works.
    @Nullable
    Throwable failure() {
        for (int i = 0; i < engines.size(); i++) {
            Throwable failure = engines.get(i).failure();
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    /// Runs `command` while no engine works. They are stopped in their order, by a command of one inside that of the
    /// other, so two callers never wait for each other. A caller that owns one of them already, because the engine
    /// has called the program back, helps the others meanwhile.
    <T> T alone(Supplier<T> command) {
        return alone(0, command);
    }

    private <T> T alone(int from, Supplier<T> command) {
        Engine engine = engines.get(from);
        return from == engines.size() - 1
                ? engine.call(command, this::helpEngines)
                : engine.call(() -> alone(from + 1, command), this::helpEngines);
    }

    /// Carries out what other threads wait for at engines that this thread owns; false when it owns none.
    boolean helpEngines() {
        boolean any = false;
        for (Engine engine : engines) {
            any |= engine.help();
        }
        return any;
    }

    /// Where a queue pair with these queues will live: where one of them is at home already, a shared receive
    /// queue before all, else where there are fewest. A completion queue that is at home elsewhere is shared by
    /// several engines from now on, and costs them a lock.
    Engine place(SoftCompletionQueue sends, SoftCompletionQueue receives, @Nullable SoftSharedReceiveQueue shared) {
        synchronized (placing) {
            Engine home = shared == null ? null : shared.home();
            home = home == null ? receives.home() : home;
            home = home == null ? sends.home() : home;
            if (home == null) {
                home = emptiest();
            }
            sends.use(home);
            receives.use(home);
            if (shared != null) {
                shared.home(home);
            }
            return home;
        }
    }

    /// The engine with the fewest queue pairs; under `placing`.
    private Engine emptiest() {
        return Collections.min(engines, Comparator.comparingInt(Engine::size));
    }

    /// Receives of an engine's queue pairs complete here from now on.
    void settle(SoftCompletionQueue completions, Engine home) {
        synchronized (placing) {
            completions.use(home);
        }
    }

    /// The first mistake of our own that ended one queue pair, stream or command, and not the device; empty when all
    /// is well. A test that drives the device looks at this, because nothing is thrown. Any thread.
    public Optional<Throwable> containedFailure() {
        return containedFailure;
    }

    FailureWatch failureWatch() {
        return failureWatch;
    }

    /// The streams of an iWARP device; null when it sends packets.
    @Nullable
    TcpLink streams() {
        return streams;
    }

    private static boolean isCrcWanted(Device device) {
        return !(device instanceof IwarpDevice iwarp) || iwarp.options().crc();
    }

    /// One by its number; null when there is none.
    @Nullable
    SoftQueuePair queuePair(int qpn) {
        return queuePairs.get(qpn);
    }

    /// @throws UnsupportedException when this device does not have it
    void require(String verb, Capability capability) {
        if (!capabilities().contains(capability)) {
            throw new UnsupportedException(verb, capability, device.name());
        }
    }

    /// iWARP has reliable connections only, and neither FLUSH nor ATOMIC WRITE nor a SEND with immediate data (RFC
    /// 5040, RFC 7306).
    private Set<Capability> capabilities() {
        return streams == null ? ALL : IWARP;
    }

    /// Where regions and windows are added; the table of the first engine.
    MemoryTable memory() {
        return memories.getFirst();
    }

    /// The table of an engine of this device.
    MemoryTable memory(Engine engine) {
        return memories.get(engines.indexOf(engine));
    }

    RandomGenerator random() {
        return random;
    }

    Mtu mtu() {
        return mtu;
    }

    private final class Listener implements Engine.Listener {
        /// Between two entries of the log about mistakes of our own.
        private static final long CONTAINED_LOG_NANOS = 1_000_000_000;

        private final AtomicLong containedNanos = new AtomicLong(System.nanoTime() - CONTAINED_LOG_NANOS);

        @Override
        public void onFailure(Throwable cause) {
            if (failed.getAndSet(true)) {
                return;
            }
            engines.forEach(engine -> engine.fail(cause));
            System.getLogger("verbena.nic")
                    .log(System.Logger.Level.ERROR, "device " + device.name() + " has failed and stands still", cause);
            events.offer(new AsyncEvent.DeviceEvent(AsyncEvent.Type.DEVICE_FATAL));
            Flight.async(device.name(), AsyncEvent.Type.DEVICE_FATAL, "device " + device.name(), cause.toString());
            openQueues.forEach(SoftCompletionQueue::wakeAll);
            failureWatch.onFailure(cause);
        }

        @Override
        public void onContained(Throwable cause) {
            if (containedFailure.isEmpty()) {
                containedFailure = Optional.of(cause);
            }
            long now = System.nanoTime();
            long before = containedNanos.get();
            if (now - before < CONTAINED_LOG_NANOS || !containedNanos.compareAndSet(before, now)) {
                return; // counted all the same
            }
            System.getLogger("verbena.nic")
                    .log(
                            System.Logger.Level.ERROR,
                            "device " + device.name() + " has met a mistake of its own, which ends one queue pair or"
                                    + " connection; please report it",
                            cause);
        }

        @Override
        public void onSearch(PacketFate last, long sourceHigh, long sourceLow) {
            System.getLogger("verbena.nic")
                    .log(
                            System.Logger.Level.WARNING,
                            "device {0}: somebody may be searching for queue pairs or keys: many packets fit none, the"
                                    + " last from {1} ({2}); see the counters",
                            device.name(),
                            new Gid(sourceHigh, sourceLow),
                            last.label());
        }
    }

    /// A peer gets no connections for a while, because of what those that it had have asked for; or only this is
    /// told, where its address is that of many.
    void tellBlocked(Gid peer) {
        engine().counters().count(Counter.BLOCKED_PEERS);
        Flight.blocked(device.name(), peer);
        System.getLogger("verbena.nic")
                .log(
                        System.Logger.Level.WARNING,
                        "device {0}: {1} may be guessing keys: {2} times in {3} s its connections asked for memory that"
                                + " they may not have; it is blocked for {4} s, unless the address is this host''s own",
                        device.name(),
                        peer,
                        CmSuspects.BLOCKED_AT,
                        CmSuspects.WINDOW_NANOS / 1_000_000_000,
                        CmSuspects.BLOCK_NANOS / 1_000_000_000);
    }

    /// A request for a connection was refused because it, or this side, has no secret, or another one. Logged now
    /// and then: everybody can cause it.
    void tellUnproven(Gid peer, CmRefusal why) {
        if (unproven.isQuiet(nanoTime())) {
            return;
        }
        System.getLogger("verbena.nic")
                .log(
                        System.Logger.Level.WARNING,
                        "device {0}: refuses connections, at last one of {1}: {2}; see the counter cm.unproven",
                        device.name(),
                        peer,
                        switch (why) {
                            case SECRET_WANTED -> "it has no secret, and this side has one";
                            case SECRET_UNWANTED -> "it has a secret, and this side has none";
                            default -> "it has another secret, or somebody has changed its request on the way";
                        });
    }

    /// Becomes the agent for management datagrams of a class: from now on queue pair 1 takes them. Until somebody
    /// does they are dropped.
    ///
    /// @param managementClass 0x01 to 0xFF; the communication manager's is 0x07
    /// @throws IllegalArgumentException when there is no such class, or it is that of subnet management, which has
    ///     a queue pair of its own (IBTA 13.4.4)
    /// @throws InvalidStateException when there is an agent for it already: the communication manager is, once it
    ///     has been used
    public ManagementPort manage(int managementClass, ManagementAgent agent) {
        checkOpen("manage");
        if (managementClass < 1 || managementClass > 0xFF || (managementClass & 0x7F) == 0x01) {
            throw new IllegalArgumentException("manage: class: 1 to 255, and neither 0x01 nor 0x81, got 0x"
                    + Integer.toHexString(managementClass));
        }
        return new ManagementPort(this, gsi, managementClass, agent);
    }

    /// The communication manager of this device; from the first call on, management datagrams of its class are
    /// taken.
    ///
    /// @throws InvalidStateException when somebody else is the agent for that class
    synchronized CmAgent cm() {
        checkOpen("connection manager");
        CmAgent there = cm;
        if (there == null) {
            there = new CmAgent(
                    engine(),
                    gsi,
                    new CommunicationManager(device.nodeGuid(), engine().link().slot(), random, CmLimits.DEFAULT));
            gsi.add(Mad.CLASS_CM, there);
            cm = there;
        }
        return there;
    }

    /// Any thread.
    void raise(AsyncEvent event) {
        raised.incrementAndGet();
        events.offer(event);
        if (Flight.isOn()) {
            tellFlight(event);
        }
    }

    private void tellFlight(AsyncEvent event) {
        String reason = "";
        String subject = switch (event) {
            case AsyncEvent.QueuePairEvent(var type, var queuePair) -> {
                reason = queuePair instanceof SoftQueuePair soft ? soft.rootCause() : "";
                yield queuePair.toString();
            }
            case AsyncEvent.CompletionQueueEvent(var type, var queue) -> queue.toString();
            case AsyncEvent.SharedReceiveQueueEvent(var type, var queue) -> queue.toString();
            case AsyncEvent.PortEvent(var type, int port) -> "port " + port;
            case AsyncEvent.DeviceEvent(var type) -> "device " + device.name();
        };
        Flight.async(device.name(), event.type(), subject, reason);
    }

    @Override
    public ConnectionService connectionService() {
        return connections;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes attributes() {
        boolean isIwarp = streams != null;
        int groups = isIwarp ? 0 : MulticastGroups.GROUPS_MAX;
        return new DeviceAttributes(
                "verbena 0.1",
                device.nodeGuid(),
                device.nodeGuid(),
                Long.MAX_VALUE,
                0xFFFF_F000L,
                NO_VENDOR,
                0,
                0,
                queuePairsMax,
                QP_WR_MAX,
                SGE_MAX,
                SGE_MAX,
                INLINE_MAX,
                CQ_MAX,
                CQE_MAX,
                MR_MAX,
                PD_MAX,
                READ_ATOMIC_MAX,
                READ_ATOMIC_MAX * queuePairsMax,
                READ_ATOMIC_MAX,
                AtomicCapability.HCA,
                MR_MAX,
                groups,
                isIwarp ? 0 : MulticastGroups.ATTACHED_MAX,
                groups * MulticastGroups.ATTACHED_MAX,
                isIwarp ? 0 : AH_MAX,
                SRQ_MAX,
                QP_WR_MAX,
                SGE_MAX,
                1,
                15,
                1,
                MESSAGE_BYTES_MAX,
                0,
                0,
                capabilities());
    }

    @Override
    public PortAttributes port(int port) {
        checkPort(port);
        boolean active = isOpen() && !liveGids.isEmpty();
        return new PortAttributes(
                active ? PortState.ACTIVE : PortState.DOWN,
                Mtu.MTU_4096,
                mtu,
                gids(1).size(),
                0,
                MESSAGE_BYTES_MAX,
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
        return engine().link().gids();
    }

    @Override
    public GidEntry gidFor(int port, Gid peer) {
        List<GidEntry> fitting = gids(port).stream()
                .filter(own -> own.gid().isIpv4() == peer.isIpv4())
                .filter(own -> own.gid().isLinkLocal() == peer.isLinkLocal())
                .toList();
        if (fitting.isEmpty()) {
            throw new DeviceException("gid: " + device.name() + " has no address to reach " + peer + " from; it has "
                    + gids(port).stream().map(own -> own.gid().toString()).toList());
        }
        if (fitting.size() > 1) {
            Gid routed = routedSource(peer);
            for (GidEntry own : fitting) {
                if (own.gid().equals(routed)) {
                    return own;
                }
            }
        }
        return fitting.getFirst();
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
        if (to.port() != 1) {
            throw new InvalidAttributesException(verb + ": port: 1 is the only one, got " + to.port());
        }
        if (own.gid().isIpv4() != to.destination().isIpv4()) {
            throw new InvalidAttributesException(verb + ": own GID " + own.index() + " is " + own.gid()
                    + " and the peer's is " + to.destination() + ": one is IPv4, the other is not");
        }
        return Path.of(own.gid(), to.destination(), to.trafficClass(), to.hopLimit());
    }

    /// The address that the host's routes would send from; `peer` itself when nobody knows. Sends nothing.
    private static Gid routedSource(Gid peer) {
        try (var probe = DatagramChannel.open()) {
            probe.connect(new InetSocketAddress(peer.address(), 4791));
            return probe.getLocalAddress() instanceof InetSocketAddress own ? Gid.of(own.getAddress()) : peer;
        } catch (IOException e) {
            return peer;
        }
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
        if (entries > CQE_MAX) {
            throw new ResourceLimitException(verb, "maxCqe", CQE_MAX, "asked for " + entries);
        }
    }

    @Override
    public XrcDomain openXrcDomain() {
        checkOpen("openXrcDomain");
        require("openXrcDomain", Capability.XRC);
        Engine home;
        synchronized (placing) {
            home = emptiest();
        }
        return xrcDomains.take("openXrcDomain", number -> new SoftXrcDomain(this, number, home));
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
        for (Engine engine : engines) {
            Link link = engine.link();
            engine.counters().snapshot().forEach((name, count) -> all.merge(name, count, Long::sum));
            all.merge("dropped.malformed", link.malformed(), Long::sum);
            all.merge("received.packets", link.malformed(), Long::sum);
            all.merge("unsendable", link.unsendable(), Long::sum);
            link.counters().forEach((name, count) -> all.merge(name, count, Long::sum));
        }
        all.put("async-events", raised.get());
        all.put("async-events.dropped", events.dropped());
        CmAgent agent = cm;
        if (agent != null) {
            all.putAll(agent.counters());
        }
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
        checkNotOwner();
        return false;
    }

    private void checkNotOwner() {
        if (engines.stream().anyMatch(Engine::isMine)) {
            throw new InvalidStateException("close: " + label() + " has called this thread; close it from another");
        }
    }

    @Override
    protected void release() {
        checkNotOwner();
        NetworkWatch.remove(networkChanged);
        Management.closed(this);
        engines.forEach(Engine::close);
        List.copyOf(captures).forEach(Capture::close); // now that the last words are said
        events.close();
        Flight.closed(device.name());
    }
}
