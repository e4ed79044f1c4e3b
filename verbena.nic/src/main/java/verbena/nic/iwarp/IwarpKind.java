package verbena.nic.iwarp;

import java.util.EnumSet;
import java.util.Map;
import verbena.cm.CmCounter;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.link.tap.Tap;
import verbena.nic.link.tcp.TcpLink;
import verbena.transport.iwarp.IwarpConnection;
import verbena.verbs.Capability;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.UnsupportedException;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.QpStateTable;

/// iWARP: reliable connections in TCP streams, made by MPA. It has neither FLUSH nor ATOMIC WRITE nor a SEND with
/// immediate data (RFC 5040, RFC 7306).
final class IwarpKind implements DeviceKind {
    private static final DeviceProfile PROFILE = new DeviceProfile(
            EnumSet.of(
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
                    Capability.DEVICE_MEMORY,
                    Capability.RESIZE_CQ,
                    Capability.REREGISTER,
                    Capability.ZERO_BASED,
                    Capability.IOVA,
                    Capability.ON_DEMAND_PAGING,
                    Capability.NULL_REGION,
                    Capability.CONNECTION_MANAGER,
                    Capability.CONNECTION_SECRETS),
            0,
            0,
            0);

    private final DeviceHost host;
    private final TcpLink link;
    private final StreamConnections connections;

    /// @param crc whether it asks for CRCs (RFC 5044, 7.1)
    IwarpKind(DeviceHost host, TcpLink link, boolean crc) {
        this.host = host;
        this.link = link;
        this.connections = new StreamConnections(host, link, crc);
        link.onContained(host.engine()::contained);
    }

    @Override
    public DeviceProfile profile() {
        return PROFILE;
    }

    @Override
    public QpState check(QpType type, QpState from, QpModification modification) {
        return QpStateTable.checkIwarp(host.name(), from, modification);
    }

    @Override
    public QueuePairDriver queuePair(QueuePairWiring w) {
        return new StreamDriver(new IwarpConnection(w.parts()), link, w);
    }

    @Override
    public ConnectionService connections() {
        return connections;
    }

    /// Throws, because iWARP has no queue pair 1.
    @Override
    public ManagementPort manage(int managementClass, ManagementAgent agent) {
        throw new UnsupportedException("manage", Capability.UD, host.name());
    }

    @Override
    public void tap(Tap tap) {
        host.engine().call(() -> {
            link.tap(tap, host.engine()::nowNanos);
            return true;
        });
    }

    @Override
    public void untap(Tap tap) {
        host.engine().call(() -> {
            link.untap(tap);
            return true;
        });
    }

    @Override
    public Map<String, Long> counters() {
        return Map.of(CmCounter.UNPROVEN.label(), connections.unproven());
    }
}
