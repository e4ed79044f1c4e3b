package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.wire.mad.McMemberRecord;
import verbena.wire.mad.MulticastForwarding;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Sa;

/// The multicast groups (IBTA 15.2.5.17): their members, and the trees by which the switches forward.
final class Groups {
    private static final int GROUPS_MAX = 512;
    private static final long CREATES = McMemberRecord.HAS_Q_KEY
            | McMemberRecord.HAS_TRAFFIC_CLASS
            | McMemberRecord.HAS_P_KEY
            | McMemberRecord.HAS_SL
            | McMemberRecord.HAS_FLOW_LABEL;
    private static final long MEMBER =
            McMemberRecord.HAS_MGID | McMemberRecord.HAS_PORT_GID | McMemberRecord.HAS_JOIN_STATE;
    /// The join states of members for which a group lives.
    private static final int FULL = McMemberRecord.FULL_MEMBER | McMemberRecord.SEND_ONLY_FULL_MEMBER;
    /// The join states of members to which a group's packets are forwarded.
    private static final int RECEIVES = McMemberRecord.FULL_MEMBER | McMemberRecord.NON_MEMBER;

    private static final int JOIN_STATES = FULL | RECEIVES | McMemberRecord.SEND_ONLY;
    private static final int PKEY_MASK = 0x7FFF;
    private static final int MTU_4096 = 5;

    private record Mgid(long high, long low) {}

    private static final class Group {
        final Mgid mgid;
        final MemorySegment record;
        /// The join states of the members, by GUID of the port.
        final Map<Long, Integer> members = new TreeMap<>();

        Group(Mgid mgid, MemorySegment record) {
            this.mgid = mgid;
            this.record = record;
        }

        int mlid() {
            return McMemberRecord.MLID.getInt(record);
        }
    }

    private record Change(Mgid mgid, int trap) {}

    private final Configuration configuration;
    private final Map<Mgid, Group> groups = new LinkedHashMap<>();
    private final List<Change> changes = new ArrayList<>();
    private @Nullable Subnet subnet;
    private boolean dirty;
    private int topBlock;
    private long generated;

    Groups(Configuration configuration) {
        this.configuration = configuration;
    }

    int size() {
        return groups.size();
    }

    private Subnet subnet() {
        return Objects.requireNonNull(subnet);
    }

    /// Members that are gone leave.
    void onSubnet(Subnet found) {
        subnet = found;
        for (Group group : List.copyOf(groups.values())) {
            group.members.keySet().removeIf(guid -> found.byGuid(guid) == null);
            endUnlessAlive(group);
        }
        dirty = true;
    }

    int join(long mask, MemorySegment query, List<MemorySegment> found) {
        int state = McMemberRecord.JOIN_STATE.getInt(query);
        if ((mask & MEMBER) != MEMBER || state == 0 || (state & ~JOIN_STATES) != 0) {
            return Sa.STATUS_REQUEST_INVALID;
        }
        SubnetPort port = subnet().byGuid(McMemberRecord.PORT_GID_LOW.get(query));
        if (port == null) {
            return Sa.STATUS_INVALID_GID;
        }
        var mgid = new Mgid(McMemberRecord.MGID_HIGH.get(query), McMemberRecord.MGID_LOW.get(query));
        Group group = groups.get(mgid);
        if (group == null) {
            if ((mask & CREATES) != CREATES || (state & FULL) == 0) {
                return Sa.STATUS_INSUFFICIENT_COMPONENTS;
            }
            if (mgid.high >>> 56 != 0xFF && !(mgid.high == 0 && mgid.low == 0)) {
                return Sa.STATUS_REQUEST_INVALID;
            }
            if (!isMember(port, McMemberRecord.P_KEY.getInt(query))) {
                return Sa.STATUS_REQUEST_INVALID;
            }
            int mlid = freeMlid();
            if (groups.size() == GROUPS_MAX || mlid < 0) {
                return Sa.STATUS_NO_RESOURCES;
            }
            group = create(mgid, mask, query, port, mlid);
        } else if (!fits(group, mask, query) || !isMember(port, McMemberRecord.P_KEY.getInt(group.record))) {
            return Sa.STATUS_REQUEST_INVALID;
        }
        group.members.merge(port.guid(), state, (old, more) -> old | more);
        dirty = true;
        found.add(member(group, port.guid()));
        return 0;
    }

    private Group create(Mgid wanted, long mask, MemorySegment query, SubnetPort port, int mlid) {
        Mgid mgid = wanted;
        while (mgid.high == 0 || groups.containsKey(mgid)) { // The requester wants any.
            generated++;
            mgid = new Mgid(0xFF12_A01B_FE80_0000L, generated << 32 | mlid);
        }
        MemorySegment record = MemorySegment.ofArray(new byte[McMemberRecord.BYTES]);
        record.copyFrom(query.asSlice(0, McMemberRecord.BYTES));
        McMemberRecord.MGID_HIGH.put(record, mgid.high);
        McMemberRecord.MGID_LOW.put(record, mgid.low);
        McMemberRecord.MLID.put(record, mlid);
        McMemberRecord.SCOPE.put(record, mgid.high >>> 48 & 0xF);
        McMemberRecord.MTU_SELECTOR.put(record, PathRecord.EXACTLY);
        if ((mask & McMemberRecord.HAS_MTU) == 0 || (mask & McMemberRecord.HAS_MTU_SELECTOR) == 0) {
            McMemberRecord.MTU.put(
                    record, port.number() == 0 ? MTU_4096 : Math.max(1, port.get(PortInfo.NEIGHBOR_MTU)));
        }
        McMemberRecord.RATE_SELECTOR.put(record, PathRecord.EXACTLY);
        if (McMemberRecord.RATE.getInt(record) == 0) {
            McMemberRecord.RATE.put(record, Rates.of(port));
        }
        McMemberRecord.PACKET_LIFE_SELECTOR.put(record, PathRecord.EXACTLY);
        McMemberRecord.PACKET_LIFE.put(record, 18);
        var group = new Group(mgid, record);
        groups.put(mgid, group);
        changes.add(new Change(mgid, Notice.GROUP_CREATED));
        return group;
    }

    private int freeMlid() {
        Set<Integer> used = new HashSet<>();
        groups.values().forEach(group -> used.add(group.mlid()));
        for (int i = 0; i < GROUPS_MAX; i++) {
            if (!used.contains(MulticastForwarding.FIRST_LID + i)) {
                return MulticastForwarding.FIRST_LID + i;
            }
        }
        return -1;
    }

    /// Returns whether the properties that a request names are those of the group.
    private static boolean fits(Group group, long mask, MemorySegment query) {
        long named = mask
                & (McMemberRecord.HAS_Q_KEY
                        | McMemberRecord.HAS_P_KEY
                        | McMemberRecord.HAS_SL
                        | McMemberRecord.HAS_TRAFFIC_CLASS
                        | McMemberRecord.HAS_FLOW_LABEL);
        if ((named & McMemberRecord.HAS_P_KEY) != 0
                && ((McMemberRecord.P_KEY.getInt(query) ^ McMemberRecord.P_KEY.getInt(group.record)) & PKEY_MASK)
                        != 0) {
            return false;
        }
        return McMemberRecord.COMPONENTS.matches(named & ~McMemberRecord.HAS_P_KEY, query, group.record);
    }

    private boolean isMember(SubnetPort port, int pkey) {
        for (int own : configuration.pkeys(port, subnet())) {
            if (((own ^ pkey) & PKEY_MASK) == 0) {
                return true;
            }
        }
        return false;
    }

    int leave(long mask, MemorySegment query, List<MemorySegment> found) {
        var mgid = new Mgid(McMemberRecord.MGID_HIGH.get(query), McMemberRecord.MGID_LOW.get(query));
        long guid = McMemberRecord.PORT_GID_LOW.get(query);
        int state = McMemberRecord.JOIN_STATE.getInt(query);
        Group group = groups.get(mgid);
        Integer before = group == null ? null : group.members.get(guid);
        if ((mask & MEMBER) != MEMBER || group == null || before == null || (before & state) != state || state == 0) {
            return Sa.STATUS_REQUEST_INVALID;
        }
        found.add(member(group, guid));
        if ((before & ~state) == 0) {
            group.members.remove(guid);
        } else {
            group.members.put(guid, before & ~state);
        }
        endUnlessAlive(group);
        dirty = true;
        return 0;
    }

    /// Removes a group that has no full member any more.
    private void endUnlessAlive(Group group) {
        if (group.members.values().stream().noneMatch(state -> (state & FULL) != 0)) {
            groups.remove(group.mgid);
            changes.add(new Change(group.mgid, Notice.GROUP_DELETED));
        }
    }

    /// Groups that the asker may join: one record each.
    int find(long mask, MemorySegment query, SubnetPort asker, List<MemorySegment> found) {
        for (Group group : groups.values()) {
            if (isMember(asker, McMemberRecord.P_KEY.getInt(group.record))) {
                long port = McMemberRecord.PORT_GID_LOW.get(query);
                boolean byPort = (mask & McMemberRecord.HAS_PORT_GID) != 0;
                if (byPort && !group.members.containsKey(port)) {
                    continue;
                }
                MemorySegment record = member(group, byPort ? port : 0);
                if (McMemberRecord.COMPONENTS.matches(mask, query, record)) {
                    found.add(record);
                }
            }
        }
        return 0;
    }

    /// @param guid 0: of no port in particular
    private MemorySegment member(Group group, long guid) {
        MemorySegment record = MemorySegment.ofArray(new byte[McMemberRecord.BYTES]);
        record.copyFrom(group.record);
        McMemberRecord.PORT_GID_HIGH.put(
                record, guid == 0 ? 0 : PortInfo.GID_PREFIX.get(subnet().own().info()));
        McMemberRecord.PORT_GID_LOW.put(record, guid);
        McMemberRecord.JOIN_STATE.put(record, group.members.getOrDefault(guid, 0));
        return record;
    }

    void flush() {
        if (dirty) {
            write();
        }
    }

    /// Writes all trees into the switches; entries that are there already are left out.
    void write() {
        dirty = false;
        List<SubnetNode> switches = subnet().switches();
        var masks = new ArrayList<Map<Integer, byte[]>>();
        switches.forEach(_ -> masks.add(new TreeMap<>()));
        for (Group group : groups.values()) {
            int index = group.mlid() - MulticastForwarding.FIRST_LID;
            topBlock = Math.max(topBlock, index / MulticastForwarding.ENTRIES);
            List<Set<Integer>> tree = subnet().tree(members(group, RECEIVES), members(group, JOIN_STATES));
            for (int i = 0; i < tree.size(); i++) {
                for (int port : tree.get(i)) {
                    int modifier = MulticastForwarding.modifier(
                            port / MulticastForwarding.PORTS, index / MulticastForwarding.ENTRIES);
                    MemorySegment block = MemorySegment.ofArray(
                            masks.get(i).computeIfAbsent(modifier, _ -> new byte[2 * MulticastForwarding.ENTRIES]));
                    int entry = index % MulticastForwarding.ENTRIES;
                    MulticastForwarding.put(
                            block,
                            entry,
                            MulticastForwarding.get(block, entry) | 1 << port % MulticastForwarding.PORTS);
                }
            }
        }
        for (int i = 0; i < switches.size(); i++) {
            SubnetNode node = switches.get(i);
            for (int block = 0; block <= topBlock; block++) {
                for (int position = 0; position <= node.portCount() / MulticastForwarding.PORTS; position++) {
                    int modifier = MulticastForwarding.modifier(position, block);
                    byte[] entries = masks.get(i).getOrDefault(modifier, new byte[2 * MulticastForwarding.ENTRIES]);
                    configuration.write(node, MulticastForwarding.ATTRIBUTE, modifier, entries);
                }
            }
        }
    }

    private List<SubnetPort> members(Group group, int states) {
        var ports = new ArrayList<SubnetPort>();
        group.members.forEach((guid, state) -> {
            SubnetPort port = subnet().byGuid(guid);
            if (port != null && (state & states) != 0) {
                ports.add(port);
            }
        });
        return ports;
    }

    /// Reports groups that have begun or ended.
    void tell(Subscriptions subscriptions, long nowNanos) {
        for (Change change : changes) {
            subscriptions.tellOfGid(change.trap, change.mgid.high, change.mgid.low, nowNanos);
        }
        changes.clear();
    }
}
