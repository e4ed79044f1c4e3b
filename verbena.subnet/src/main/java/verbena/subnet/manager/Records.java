package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.wire.mad.ClassPortInfo;
import verbena.wire.mad.Field;
import verbena.wire.mad.NodeDescription;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.NodeRecord;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.PortInfoRecord;
import verbena.wire.mad.Sa;

/// The records of nodes, ports and paths of the subnet administration. They are computed from the last sweep at each
/// request (IBTA 15.2.5).
final class Records {
    /// Time that a packet may be under way: 4.096 us times two to this.
    private static final int PACKET_LIFE = 18;

    private static final int PAIRS_MAX = 1_024;
    private static final int MTU_DEFAULT_SELECTOR = -1;
    private static final Field CAPABILITIES = PortInfo.CAPABILITY_MASK.in(PortInfoRecord.PORT_INFO);

    private final Configuration configuration;
    private @Nullable Subnet subnet;

    Records(Configuration configuration) {
        this.configuration = configuration;
    }

    void onSubnet(Subnet found) {
        subnet = found;
    }

    private Subnet subnet() {
        return Objects.requireNonNull(subnet);
    }

    static int classPortInfo(List<MemorySegment> found) {
        MemorySegment info = MemorySegment.ofArray(new byte[ClassPortInfo.BYTES]);
        ClassPortInfo.BASE_VERSION.put(info, 1);
        ClassPortInfo.CLASS_VERSION.put(info, 2);
        ClassPortInfo.CAPABILITY_MASK_2.put(info, ClassPortInfo.SEND_ONLY_FULL_MEMBER);
        ClassPortInfo.RESP_TIME_VALUE.put(info, PACKET_LIFE);
        found.add(info);
        return 0;
    }

    int nodes(long mask, MemorySegment query, List<MemorySegment> found) {
        for (SubnetPort port : subnet().endPorts()) {
            MemorySegment record = MemorySegment.ofArray(new byte[NodeRecord.BYTES]);
            NodeRecord.LID.put(record, port.lid());
            MemorySegment info = record.asSlice(NodeRecord.NODE_INFO, NodeInfo.BYTES);
            info.copyFrom(port.node().info());
            NodeInfo.PORT_GUID.put(info, port.guid());
            NodeInfo.LOCAL_PORT_NUM.put(info, port.number());
            NodeDescription.put(
                    record.asSlice(NodeRecord.NODE_DESCRIPTION), port.node().description());
            if (NodeRecord.COMPONENTS.matches(mask, query, record)) {
                found.add(record);
            }
        }
        return 0;
    }

    /// @param byBits whether ports match that have all capabilities asked for, and perhaps others (IBTA 15.2.5.3,
    ///     the attribute modifier)
    int ports(long mask, MemorySegment query, boolean byBits, List<MemorySegment> found) {
        boolean asksForBits = byBits && (mask & PortInfoRecord.CAPABILITY_MASK) != 0;
        long bits = asksForBits ? CAPABILITIES.get(query) : 0;
        long exact = asksForBits ? mask & ~PortInfoRecord.CAPABILITY_MASK : mask;
        for (SubnetNode node : subnet().nodes().values()) {
            SubnetPort end = node.port(0);
            for (SubnetPort port : node.ports().values()) {
                MemorySegment record = MemorySegment.ofArray(new byte[PortInfoRecord.BYTES]);
                PortInfoRecord.LID.put(record, end != null ? end.lid() : port.lid());
                PortInfoRecord.PORT_NUM.put(record, port.number());
                MemorySegment info = record.asSlice(PortInfoRecord.PORT_INFO, PortInfo.BYTES);
                info.copyFrom(port.info());
                PortInfo.M_KEY.put(info, 0); // nobody's business
                if (PortInfoRecord.COMPONENTS.matches(exact, query, record)
                        && (CAPABILITIES.get(record) & bits) == bits) {
                    found.add(record);
                }
            }
        }
        return 0;
    }

    /// @param single whether one record is wanted: the first of several is
    int paths(long mask, MemorySegment query, boolean single, List<MemorySegment> found) {
        List<SubnetPort> sources = select(mask, query, true);
        List<SubnetPort> targets = select(mask, query, false);
        if (sources == null || targets == null) {
            return Sa.STATUS_INVALID_GID;
        }
        // A question that names no end asks for everything with everything: a table of a small subnet only.
        if (sources.size() > 1 && targets.size() > 1 && (single || sources.size() * targets.size() > PAIRS_MAX)) {
            return Sa.STATUS_INSUFFICIENT_COMPONENTS;
        }
        int most = single ? 1 : (mask & PathRecord.HAS_NUMB_PATH) != 0 ? PathRecord.NUMB_PATH.getInt(query) : 127;
        for (SubnetPort source : sources) {
            for (SubnetPort target : targets) {
                pair(mask, query, source, target, most, found);
                if (single && !found.isEmpty()) {
                    return 0;
                }
            }
        }
        return 0;
    }

    private @Nullable List<SubnetPort> select(long mask, MemorySegment query, boolean source) {
        boolean byGid = (mask & (source ? PathRecord.HAS_SGID : PathRecord.HAS_DGID)) != 0;
        boolean byLid = (mask & (source ? PathRecord.HAS_SLID : PathRecord.HAS_DLID)) != 0;
        var chosen = new ArrayList<SubnetPort>();
        if (byGid) {
            SubnetPort port = subnet().byGuid((source ? PathRecord.SGID_LOW : PathRecord.DGID_LOW).get(query));
            long prefix = (source ? PathRecord.SGID_HIGH : PathRecord.DGID_HIGH).get(query);
            if (port == null || prefix != PortInfo.GID_PREFIX.get(subnet().own().info())) {
                return null;
            }
            chosen.add(port);
        }
        if (byLid) {
            SubnetPort port = subnet().byLid((source ? PathRecord.SLID : PathRecord.DLID).getInt(query));
            if (byGid) {
                chosen.removeIf(one -> one != port);
            } else if (port != null) {
                chosen.add(port);
            }
        }
        if (!byGid && !byLid) {
            for (SubnetPort port : subnet().endPorts()) {
                if (!port.node().isSwitch()) {
                    chosen.add(port);
                }
            }
        }
        return chosen;
    }

    private void pair(
            long mask, MemorySegment query, SubnetPort source, SubnetPort target, int most, List<MemorySegment> found) {
        int pkey = commonPkey(source, target, (mask & PathRecord.HAS_P_KEY) != 0 ? PathRecord.P_KEY.getInt(query) : 0);
        if (pkey == 0 || ((mask & PathRecord.HAS_SL) != 0 && PathRecord.SL.getInt(query) != 0)) {
            return;
        }
        int count = 1 << target.get(PortInfo.LMC);
        for (int i = 0; i < count && i < most; i++) {
            int dlid = target.lid() + i;
            int slid = source.lid() + i % (1 << source.get(PortInfo.LMC));
            if ((mask & PathRecord.HAS_DLID) != 0) {
                dlid = PathRecord.DLID.getInt(query);
                count = 1;
            }
            if ((mask & PathRecord.HAS_SLID) != 0) {
                slid = PathRecord.SLID.getInt(query);
            }
            List<SubnetPort> ports = subnet().path(source, dlid);
            if (ports == null || subnet().path(target, slid) == null) {
                continue;
            }
            int mtu = ports.isEmpty() ? source.get(PortInfo.MTU_CAP) : 5;
            int rate = Rates.of(source);
            for (SubnetPort port : ports) {
                mtu = Math.min(mtu, port.get(PortInfo.NEIGHBOR_MTU));
                rate = Rates.slower(rate, Rates.of(port));
            }
            if (selects(
                            mask,
                            PathRecord.HAS_MTU_SELECTOR,
                            PathRecord.HAS_MTU,
                            PathRecord.MTU_SELECTOR.getInt(query),
                            Integer.compare(mtu, PathRecord.MTU.getInt(query)))
                    && selects(
                            mask,
                            PathRecord.HAS_RATE_SELECTOR,
                            PathRecord.HAS_RATE,
                            PathRecord.RATE_SELECTOR.getInt(query),
                            Rates.compare(rate, PathRecord.RATE.getInt(query)))) {
                found.add(record(source, target, slid, dlid, pkey, mtu, rate));
            }
        }
    }

    private static boolean selects(long mask, long hasSelector, long hasValue, int selector, int compared) {
        if ((mask & hasValue) == 0) {
            return true;
        }
        return switch ((mask & hasSelector) == 0 ? MTU_DEFAULT_SELECTOR : selector) {
            case PathRecord.GREATER -> compared > 0;
            case PathRecord.LESS -> compared < 0;
            case PathRecord.BEST -> true;
            default -> compared == 0;
        };
    }

    private static MemorySegment record(
            SubnetPort source, SubnetPort target, int slid, int dlid, int pkey, int mtu, int rate) {
        MemorySegment record = MemorySegment.ofArray(new byte[PathRecord.BYTES]);
        PathRecord.DGID_HIGH.put(record, PortInfo.GID_PREFIX.get(target.info()));
        PathRecord.DGID_LOW.put(record, target.guid());
        PathRecord.SGID_HIGH.put(record, PortInfo.GID_PREFIX.get(source.info()));
        PathRecord.SGID_LOW.put(record, source.guid());
        PathRecord.DLID.put(record, dlid);
        PathRecord.SLID.put(record, slid);
        PathRecord.REVERSIBLE.put(record, true);
        PathRecord.P_KEY.put(record, pkey);
        PathRecord.MTU_SELECTOR.put(record, PathRecord.EXACTLY);
        PathRecord.MTU.put(record, mtu);
        PathRecord.RATE_SELECTOR.put(record, PathRecord.EXACTLY);
        PathRecord.RATE.put(record, rate);
        PathRecord.PACKET_LIFE_SELECTOR.put(record, PathRecord.EXACTLY);
        PathRecord.PACKET_LIFE.put(record, PACKET_LIFE);
        return record;
    }

    /// Returns a P_Key by which the two ports may communicate, as the source has it; 0 when there is none.
    ///
    /// @param wanted 0: any
    private int commonPkey(SubnetPort source, SubnetPort target, int wanted) {
        var keys = new ArrayList<Integer>();
        for (int own : configuration.pkeys(source, subnet())) {
            for (int other : configuration.pkeys(target, subnet())) {
                boolean same = (own & 0x7FFF) == (other & 0x7FFF) && ((own | other) & 0x8000) != 0;
                if (same && (wanted == 0 || (wanted & 0x7FFF) == (own & 0x7FFF))) {
                    keys.add(own);
                }
            }
        }
        return keys.stream().max(Comparator.comparingInt(key -> key & 0x8000)).orElse(0);
    }
}
