package verbena.nic.roce;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmLimits;
import verbena.cm.CommunicationManager;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.engine.MulticastGroups;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.link.UnreadSockets;
import verbena.nic.link.psp.PspLink;
import verbena.nic.link.tap.Tap;
import verbena.nic.link.tap.TapLink;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.queue.CompletionRing;
import verbena.transport.rc.PacketWay;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.XrcInitiator;
import verbena.transport.rc.XrcTarget;
import verbena.transport.unreliable.UnreliableConnection;
import verbena.transport.unreliable.UnreliableDatagram;
import verbena.transport.weak.WeakDevice;
import verbena.transport.weak.WeakQueuePair;
import verbena.transport.weak.Weakness;
import verbena.verbs.Capability;
import verbena.verbs.Gid;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.QpStateTable;
import verbena.wire.mad.Mad;

/// The InfiniBand transport in frames: all types of queue pair, connections by the communication manager on
/// queue pair 1 (IBTA volume 1, annex A17 for RoCE v2). Kinds of device whose frames travel otherwise extend it.
public class RoceKind implements DeviceKind {
    private static final DeviceProfile PROFILE = new DeviceProfile(
            EnumSet.of(
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
                    Capability.DEVICE_MEMORY,
                    Capability.FLUSH,
                    Capability.ATOMIC_WRITE,
                    Capability.MULTICAST,
                    Capability.RESIZE_CQ,
                    Capability.REREGISTER,
                    Capability.ZERO_BASED,
                    Capability.IOVA,
                    Capability.ON_DEMAND_PAGING,
                    Capability.NULL_REGION,
                    Capability.SQ_DRAIN,
                    Capability.ENDPOINTS,
                    Capability.CONNECTION_MANAGER,
                    Capability.CONNECTION_SECRETS),
            MulticastGroups.GROUPS_MAX,
            MulticastGroups.ATTACHED_MAX,
            Integer.MAX_VALUE); // address handles cost nothing but heap

    /// The profile of devices that protect packets: a group has no keys.
    private static final DeviceProfile WITHOUT_GROUPS = new DeviceProfile(
            PROFILE.capabilities().stream()
                    .filter(one -> one != Capability.MULTICAST)
                    .collect(Collectors.toSet()),
            0,
            0,
            Integer.MAX_VALUE);

    private final DeviceHost host;
    private final CongestionRule congestion;
    private final boolean repeatsSelectively;
    /// The weaknesses of the device; null when it has none.
    private final @Nullable WeakDevice weak;

    private final Gsi gsi;
    private final ConnectionService connections;
    private volatile @Nullable CmAgent cm;

    /// Creates the kind of a device whose links carry frames.
    public RoceKind(DeviceHost host) {
        this(host, CongestionRule.NONE, false, null);
    }

    /// Creates the kind of such a device, which may be weak.
    ///
    /// @param weakness the freedoms that it takes, null for none
    protected RoceKind(DeviceHost host, @Nullable Weakness weakness) {
        this(host, CongestionRule.NONE, false, weakness);
    }

    /// Creates the kind of such a device with a rule for congestion.
    ///
    /// @param repeatsSelectively whether all peers know selective repeat, however they are connected; others
    ///     are told by the communication manager
    /// @param weakness the freedoms that it takes, null for none
    RoceKind(DeviceHost host, CongestionRule congestion, boolean repeatsSelectively, @Nullable Weakness weakness) {
        this(host, _ -> Ways.BY_GID, congestion, repeatsSelectively, weakness);
    }

    /// Creates the kind of a device on whose wire a GID alone may not lead to a peer.
    ///
    /// @param ways makes the ways to peers, which send by this kind
    public RoceKind(DeviceHost host, Function<RoceKind, Ways> ways) {
        this(host, ways, CongestionRule.NONE, false, null);
    }

    @SuppressWarnings("this-escape") // called when a program asks for a connection
    private RoceKind(
            DeviceHost host,
            Function<RoceKind, Ways> ways,
            CongestionRule congestion,
            boolean repeatsSelectively,
            @Nullable Weakness weakness) {
        this.host = host;
        this.congestion = congestion;
        this.repeatsSelectively = repeatsSelectively;
        this.weak = weakness == null
                ? null
                : new WeakDevice(weakness, host.engines().memory(), host.engine()::nowNanos);
        Ways made = ways.apply(this);
        this.gsi = new Gsi(host.engines().all(), made);
        this.connections = new RoceConnections(host, made, this::cm);
    }

    /// Takes management datagrams of a class for `agent`, which lives as long as the device. The engine's owner.
    public void serve(int managementClass, ManagementAgent agent) {
        gsi.add(managementClass, agent);
    }

    /// Sends a management datagram. The engine's owner.
    ///
    /// @param mad [Mad#BYTES], which the caller does not touch any more
    public void send(MemorySegment mad, Gid local, Gid remote) {
        gsi.send(mad, local, remote);
    }

    /// Sees to it that agents are asked for their deadlines. The engine's owner.
    public void look() {
        gsi.look();
    }

    /// Makes the protocol of a reliable connection.
    protected QueuePairProtocol reliable(QueuePairWiring wiring) {
        var made = new ReliableConnection(wiring.parts());
        watch(wiring, made::watch);
        return made;
    }

    /// Makes the protocol of the sending end of an extended connection.
    protected QueuePairProtocol initiator(QueuePairWiring wiring) {
        var made = new XrcInitiator(wiring.parts());
        watch(wiring, made::watch);
        return made;
    }

    /// Lets the sending end of a connection see whether its peer has read what was sent, where that can be seen.
    private static void watch(QueuePairWiring wiring, Consumer<PacketWay> sender) {
        UnreadSockets sockets = wiring.engine().link().service(UnreadSockets.class);
        if (sockets != null) {
            sender.accept(new DatagramsToPeer(sockets, wiring.parts().parameters()));
        }
    }

    @Override
    public DeviceProfile profile() {
        return host.engine().link().service(PspLink.class) == null ? PROFILE : WITHOUT_GROUPS;
    }

    @Override
    public QpState check(QpType type, QpState from, QpModification modification) {
        return QpStateTable.check(type, from, modification);
    }

    @Override
    public QueuePairDriver queuePair(QueuePairWiring w) {
        WeakDevice shows = weak;
        if (shows == null) {
            return new FrameDriver(protocol(w), w);
        }
        var around = new WeakQueuePair(shows, w.parts());
        return new FrameDriver(around.around(protocol(w.with(around.parts()))), w);
    }

    private QueuePairProtocol protocol(QueuePairWiring w) {
        QueuePairParameters parameters = w.parts().parameters();
        parameters.congestion = congestion;
        parameters.repeatsSelectively = repeatsSelectively;
        parameters.repeatsAnswers = repeatsSelectively;
        parameters.repeatsRequests = repeatsSelectively;
        return switch (w.type()) {
            case RC -> reliable(w);
            case UC -> new UnreliableConnection(w.parts());
            case UD -> new UnreliableDatagram(w.parts());
            case XRC_INITIATOR -> initiator(w);
            case RAW_PACKET -> throw new IllegalStateException("a device without raw packets makes none");
            case XRC_TARGET ->
                new XrcTarget(w.parts(), w.xrcDomain().queues(), w.xrcDomain().number());
        };
    }

    @Override
    public CompletionRing.Listener listener(CompletionRing.Listener queue) {
        WeakDevice tells = weak;
        return tells == null ? queue : tells.listener(queue);
    }

    @Override
    public ConnectionService connections() {
        return connections;
    }

    /// Returns the communication manager of this device; from the first call on, management datagrams of its class
    /// are taken.
    ///
    /// @throws verbena.verbs.InvalidStateException when there is another agent for that class
    public synchronized CmAgent cm() {
        host.context().checkOpen("connection manager");
        CmAgent there = cm;
        if (there == null) {
            var manager = new CommunicationManager(
                    host.nodeGuid(), host.engine().link().slot(), host.random(), CmLimits.DEFAULT);
            there = new CmAgent(host.engine(), gsi, manager);
            gsi.add(Mad.CLASS_CM, there);
            cm = there;
        }
        return there;
    }

    @Override
    public ManagementPort manage(int managementClass, ManagementAgent agent) {
        return new GsiPort(host, gsi, managementClass, agent);
    }

    @Override
    public void tap(Tap tap) {
        host.engines().relink(link -> new TapLink(link, tap, host.engine()::nowNanos));
    }

    @Override
    public void untap(Tap tap) {
        host.engines().relink(link -> TapLink.without(tap, link));
    }

    @Override
    public Map<String, Long> counters() {
        CmAgent agent = cm;
        return agent == null ? Map.of() : agent.counters();
    }
}
