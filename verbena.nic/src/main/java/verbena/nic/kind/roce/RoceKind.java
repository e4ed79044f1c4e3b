package verbena.nic.kind.roce;

import java.util.EnumSet;
import java.util.Map;
import java.util.function.Function;
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
import verbena.nic.link.Tap;
import verbena.nic.link.TapLink;
import verbena.transport.QueuePairProtocol;
import verbena.transport.rc.PeerMemory;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.XrcInitiator;
import verbena.transport.rc.XrcTarget;
import verbena.transport.unreliable.UnreliableConnection;
import verbena.transport.unreliable.UnreliableDatagram;
import verbena.verbs.Capability;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpStateTable;
import verbena.verbs.QpType;
import verbena.verbs.spi.ConnectionService;
import verbena.wire.cm.Mad;

/// The InfiniBand transport in frames: all types of queue pair, connections by the communication manager on queue
/// pair 1 (IBTA volume 1, annex A17 for RoCE v2).
public final class RoceKind implements DeviceKind {
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
                    Capability.CONNECTION_SECRETS),
            MulticastGroups.GROUPS_MAX,
            MulticastGroups.ATTACHED_MAX,
            Integer.MAX_VALUE); // address handles cost nothing but heap

    private final DeviceHost host;
    private final Function<QueuePairWiring, @Nullable PeerMemory> peerMemory;
    private final Gsi gsi;
    private final ConnectionService connections;
    private volatile @Nullable CmAgent cm;

    /// The kind of a device whose links carry frames.
    public RoceKind(DeviceHost host) {
        this(host, _ -> null);
    }

    /// The kind of a device that can also reach the memory of some peers by itself.
    ///
    /// @param peerMemory makes the way to the peer's memory for a reliable connection; null when there is none
    public RoceKind(DeviceHost host, Function<QueuePairWiring, @Nullable PeerMemory> peerMemory) {
        this.host = host;
        this.peerMemory = peerMemory;
        this.gsi = new Gsi(host.engines().all());
        this.connections = new RoceConnections(host, this::cm);
    }

    @Override
    public DeviceProfile profile() {
        return PROFILE;
    }

    @Override
    public QpState check(QpType type, QpState from, QpModification modification) {
        return QpStateTable.check(type, from, modification);
    }

    @Override
    public QueuePairDriver queuePair(QueuePairWiring w) {
        QueuePairProtocol protocol = switch (w.type()) {
            case RC -> reliable(w);
            case UC -> new UnreliableConnection(w.parts());
            case UD -> new UnreliableDatagram(w.parts());
            case XRC_INITIATOR -> new XrcInitiator(w.parts());
            case XRC_TARGET ->
                new XrcTarget(w.parts(), w.xrcDomain().queues(), w.xrcDomain().number());
        };
        return new FrameDriver(protocol, w);
    }

    private ReliableConnection reliable(QueuePairWiring w) {
        var made = new ReliableConnection(w.parts());
        PeerMemory near = peerMemory.apply(w);
        if (near != null) {
            made.peerMemory(near);
        }
        return made;
    }

    @Override
    public ConnectionService connections() {
        return connections;
    }

    /// The communication manager of this device; from the first call on, management datagrams of its class are
    /// taken.
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
