package verbena.subnet.node;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortCounters;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.SmInfo;
import verbena.wire.mad.Smp;
import verbena.wire.mad.SwitchInfo;

/// A node of a subnet: a channel adapter or a switch, with its ports and tables, and with the agents for subnet
/// and performance management (IBTA 13, 14, 16.1, 18.2). It forwards subnet management packets by directed
/// route.
///
/// The owner reports events ([#onLinkUp], [#onLinkDown], [#onMad], [#onDeadline]), and fetches the work that results
/// ([#poll], [#pollForManager], [#pollReset], [#deadlineNanos]). One thread at a time uses it. Whatever arrives, no
/// method throws.
public final class Node {
    private static final int QUEUE_MAX = 256;
    private static final long SECOND = 1_000_000_000L;

    private record Reset(NodePort port, int physicalState) {}

    private final NodeParts parts;
    private final SubnetAgent agent;
    private final PerformanceAgent performance;
    private final Traps traps;
    private final Queue<Datagram> departures = new ArrayDeque<>();
    private final Queue<Datagram> forManager = new ArrayDeque<>();
    private final Queue<Reset> resets = new ArrayDeque<>();
    private final long[] fates = new long[MadFate.values().length];
    private long nowNanos;
    private long leaseEndNanos = Long.MAX_VALUE;
    private @Nullable NodePort leased;

    public Node(NodeSpec spec) {
        parts = new NodeParts(spec);
        agent = new SubnetAgent(parts, new PortInfoAgent(parts, this::changeState, this::reset));
        performance = new PerformanceAgent(parts);
        traps = new Traps(spec, this::sendTrap);
    }

    public NodeSpec spec() {
        return parts.spec();
    }

    public boolean isSwitch() {
        return parts.isSwitch();
    }

    /// Returns the number of external ports.
    public int ports() {
        return parts.ports();
    }

    /// Returns a port.
    ///
    /// @param number 1 to [#ports]; a switch has 0 too
    /// @throws IllegalArgumentException if there is no such port
    public NodePort port(int number) {
        return parts.port(number);
    }

    /// Returns the port that has the LID: port 0 of a switch, else this port.
    public NodePort endPort(int port) {
        return parts.endPort(port);
    }

    /// Returns the forwarding tables of the switch.
    ///
    /// @throws IllegalStateException if this is no switch
    public SwitchTables tables() {
        return parts.tables();
    }

    /// Returns the number of datagrams that have had this fate.
    public long count(MadFate fate) {
        return fates[fate.ordinal()];
    }

    // What happens

    /// Handles a link that has come up: the port waits for a manager to arm it (IBTA 7.2.7).
    ///
    /// @param width one bit of [PortInfo#LINK_WIDTH_ACTIVE]
    /// @param speed one bit of [PortInfo#LINK_SPEED_ACTIVE]
    /// @param extendedSpeed one bit of [PortInfo#LINK_SPEED_EXT_ACTIVE], or 0
    public void onLinkUp(int number, int width, int speed, int extendedSpeed, long nowNanos) {
        NodePort port = external(number);
        this.nowNanos = nowNanos;
        port.put(PortInfo.LINK_WIDTH_ACTIVE, width);
        port.put(PortInfo.LINK_SPEED_ACTIVE, speed);
        port.put(PortInfo.LINK_SPEED_EXT_ACTIVE, extendedSpeed);
        port.put(PortInfo.PHYSICAL_STATE, PortInfo.PHYSICAL_LINK_UP);
        changeState(port, PortInfo.INIT);
    }

    /// Handles the loss of a link: the port looks for a peer again, unless it is disabled.
    public void onLinkDown(int number, long nowNanos) {
        NodePort port = external(number);
        this.nowNanos = nowNanos;
        if (port.state() != PortInfo.DOWN) {
            port.count(PortCounter.LINK_DOWNED, 1);
            port.put(PortInfo.PHYSICAL_STATE, port.get(PortInfo.LINK_DOWN_DEFAULT_STATE));
            changeState(port, PortInfo.DOWN);
        }
    }

    /// Handles the arrival of data at a port: an armed port is active from now on, because its peer is (IBTA
    /// 7.2.3).
    public void onData(NodePort port) {
        if (port.state() == PortInfo.ARMED) {
            changeState(port, PortInfo.ACTIVE);
        }
    }

    /// Counts a packet whose P_Key or Q_Key its target does not have (IBTA 10.9.3, 14.2.5.1), and reports it to the
    /// manager.
    ///
    /// @param number [Notice#BAD_P_KEY] or [Notice#BAD_Q_KEY]
    /// @param packet LIDs, service level and queue pairs of the packet, which has arrived at a port of a channel
    ///     adapter
    /// @param key the wrong one
    public void onBadKey(int number, MadRoute packet, int key, long nowNanos) {
        NodePort port = external(packet.port());
        this.nowNanos = nowNanos;
        port.countViolation(number == Notice.BAD_P_KEY ? PortInfo.P_KEY_VIOLATIONS : PortInfo.Q_KEY_VIOLATIONS);
        port.refresh();
        traps.raise(
                endPort(packet.port()),
                Notice.SECURITY,
                number,
                notice -> {
                    Notice.FIRST_LID.put(notice, packet.slid());
                    Notice.SECOND_LID.put(notice, packet.dlid());
                    Notice.KEY.put(notice, key);
                    Notice.SERVICE_LEVEL.put(notice, packet.serviceLevel());
                    Notice.FIRST_QPN.put(notice, packet.sourceQpn());
                    Notice.SECOND_QPN.put(notice, packet.destinationQpn());
                },
                nowNanos);
    }

    /// Reports to the subnet manager (trap 259) that a switch has dropped a packet because of its P_Key.
    ///
    /// @param packet LIDs, service level, P_Key and queue pair of the packet, and the port that has dropped it
    public void onBadPkeyAtSwitch(MadRoute packet, long nowNanos) {
        this.nowNanos = nowNanos;
        NodePort port = endPort(0);
        traps.raise(
                port,
                Notice.SECURITY,
                Notice.BAD_P_KEY_AT_SWITCH,
                notice -> {
                    Notice.DATA_VALID.put(notice, Notice.ALL_BUT_THE_SENDER);
                    Notice.FIRST_LID.put(notice, packet.slid());
                    Notice.SECOND_LID.put(notice, packet.dlid());
                    Notice.P_KEY.put(notice, packet.pkey());
                    Notice.P_KEY_SERVICE_LEVEL.put(notice, packet.serviceLevel());
                    Notice.P_KEY_SECOND_QPN.put(notice, packet.destinationQpn());
                    Notice.P_KEY_SWITCH_LID.put(notice, port.lid());
                    Notice.P_KEY_PORT.put(notice, packet.port());
                },
                nowNanos);
    }

    /// Sets whether a subnet manager is at this port.
    public void setManager(int number, boolean present, long nowNanos) {
        NodePort port = endPort(number);
        this.nowNanos = nowNanos;
        long mask = port.get(PortInfo.CAPABILITY_MASK);
        long changed = present ? mask | PortInfo.IS_SM : mask & ~PortInfo.IS_SM;
        if (changed != mask) {
            port.put(PortInfo.CAPABILITY_MASK, changed);
            traps.raise(
                    port,
                    Notice.INFORMATIONAL,
                    Notice.CAPABILITY_CHANGE,
                    notice -> {
                        Notice.SUBJECT_LID.put(notice, port.lid());
                        Notice.NEW_CAPABILITY_MASK.put(notice, changed);
                    },
                    nowNanos);
        }
    }

    /// Handles a management datagram that has arrived at queue pair 0 or 1.
    ///
    /// @param mad memory that is used only until the method returns, and may be changed
    public MadFate onMad(MemorySegment mad, MadRoute route, long nowNanos) {
        this.nowNanos = nowNanos;
        return counted(judge(mad, route));
    }

    /// Sends a subnet management packet of the manager at this node. An answer has the route by which its request
    /// has come; for any other packet the route's port is the manager's.
    public MadFate send(Datagram datagram, long nowNanos) {
        this.nowNanos = nowNanos;
        MemorySegment mad = datagram.mad();
        MadRoute route = datagram.route();
        if (Mad.method(mad) == Mad.METHOD_GET_RESPONSE) {
            return counted(answer(mad, route, Smp.status(mad)));
        }
        boolean beginsByLid = Smp.DIRECTED_SLID.getInt(mad) != Smp.PERMISSIVE_LID; // IBTA 14.2.2.1
        if (Smp.isDirected(mad) && !Smp.DIRECTION.getBoolean(mad) && !beginsByLid) {
            int next = DirectedRoute.begin(mad);
            if (next != DirectedRoute.HERE) {
                return counted(forward(mad, route, next));
            }
            return counted(local(mad, route));
        }
        if (!Smp.isDirected(mad) && endPort(route.port()).hasLid(route.dlid())) {
            return counted(local(mad, route));
        }
        return counted(offer(departures, new Datagram(route, mad), MadFate.FORWARDED));
    }

    private MadFate counted(MadFate fate) {
        fates[fate.ordinal()]++;
        return fate;
    }

    private MadFate judge(MemorySegment mad, MadRoute route) {
        if (mad.byteSize() < Mad.BYTES
                || Mad.baseVersion(mad) != Mad.BASE_VERSION_1
                || parts.portOrNull(route.port()) == null) {
            return MadFate.MALFORMED;
        }
        int managementClass = Mad.managementClass(mad);
        boolean subnet = managementClass == Mad.CLASS_SUBNET_LID || managementClass == Mad.CLASS_SUBNET_DIRECTED;
        if (subnet != (route.destinationQpn() == Smp.QPN)) {
            return MadFate.MALFORMED;
        }
        if (managementClass == Mad.CLASS_SUBNET_DIRECTED) {
            int next = DirectedRoute.forward(mad, route.port(), isSwitch());
            return next == DirectedRoute.HERE ? local(mad, route) : forward(mad, route, next);
        }
        if (subnet) {
            return local(mad, route);
        }
        if (managementClass == Mad.CLASS_PERFORMANCE && (Mad.method(mad) & Mad.RESPONSE) == 0) {
            return performance(mad, route);
        }
        return MadFate.FOR_OTHERS;
    }

    private MadFate forward(MemorySegment mad, MadRoute route, int next) {
        if (next == DirectedRoute.BY_LID) {
            boolean back = Smp.DIRECTION.getBoolean(mad);
            int dlid = back ? Smp.DIRECTED_SLID.getInt(mad) : Smp.DIRECTED_DLID.getInt(mad);
            return depart(mad, MadRoute.subnet(0, endPort(route.port()).lid(), dlid, route.serviceLevel()));
        }
        if (next <= 0 || next > ports()) {
            return MadFate.BAD_ROUTE;
        }
        // A port without link is not there, but a packet that has just come from it is answered.
        if (parts.port(next).state() == PortInfo.DOWN) {
            return MadFate.BAD_ROUTE;
        }
        return depart(mad, MadRoute.subnet(next, Smp.PERMISSIVE_LID, Smp.PERMISSIVE_LID, route.serviceLevel()));
    }

    private MadFate depart(MemorySegment mad, MadRoute route) {
        return offer(departures, new Datagram(route, Mad.copyOf(mad)), MadFate.FORWARDED);
    }

    private static MadFate offer(Queue<Datagram> queue, Datagram datagram, MadFate fate) {
        if (queue.size() >= QUEUE_MAX) {
            return MadFate.NO_ROOM;
        }
        queue.add(datagram);
        return fate;
    }

    /// Handles a subnet management packet that has reached its target.
    private MadFate local(MemorySegment mad, MadRoute route) {
        int method = Mad.method(mad);
        boolean request = method == Mad.METHOD_GET || method == Mad.METHOD_SET;
        if (Mad.attributeId(mad) == SmInfo.ATTRIBUTE
                || method == Mad.METHOD_TRAP
                || method == Mad.METHOD_GET_RESPONSE) {
            return offer(forManager, new Datagram(route, Mad.copyOf(mad)), MadFate.FOR_MANAGER);
        }
        if (!request && method != Mad.METHOD_TRAP_REPRESS) {
            return MadFate.BAD_METHOD;
        }
        NodePort port = endPort(route.port());
        boolean keyFits = port.get(PortInfo.M_KEY) == 0 || port.get(PortInfo.M_KEY) == Smp.M_KEY.get(mad);
        int protection = port.getInt(PortInfo.M_KEY_PROTECT_BITS);
        if (!keyFits && (method != Mad.METHOD_GET || protection >= 2)) {
            onBadManagementKey(port, mad, route);
            return MadFate.BAD_M_KEY;
        }
        if (keyFits && leased == port) {
            leaseEndNanos = Long.MAX_VALUE;
            leased = null;
        }
        if (!request) {
            traps.repress(Mad.transactionId(mad));
            return MadFate.REPRESSED;
        }
        int status = Mad.STATUS_BAD_VERSION;
        if (Mad.classVersion(mad) == Mad.VERSION_1) {
            int attribute = Mad.attributeId(mad);
            int modifier = Mad.attributeModifier(mad);
            MemorySegment data = Smp.data(mad);
            status = method == Mad.METHOD_GET
                    ? agent.get(attribute, modifier, data, route.port())
                    : agent.set(attribute, modifier, data, route.port());
            if (attribute == PortInfo.ATTRIBUTE && !keyFits && protection == 1) {
                PortInfo.M_KEY.put(data, 0);
            }
        }
        return answer(mad, route, status);
    }

    private MadFate answer(MemorySegment mad, MadRoute route, int status) {
        Smp.answer(mad, Mad.METHOD_GET_RESPONSE, status);
        int next;
        if (Smp.isDirected(mad)) {
            next = DirectedRoute.answer(mad);
        } else {
            NodePort port = endPort(route.port());
            next = port.hasLid(route.slid()) ? DirectedRoute.HERE : DirectedRoute.BY_LID;
        }
        MadFate fate;
        if (next == DirectedRoute.HERE) {
            fate = offer(forManager, new Datagram(route, Mad.copyOf(mad)), MadFate.FOR_MANAGER);
        } else if (next != DirectedRoute.BY_LID) {
            fate = forward(mad, route, next);
        } else if (Smp.isDirected(mad)) {
            int dlid = Smp.HOP_POINTER.getInt(mad) == 0 ? Smp.DIRECTED_SLID.getInt(mad) : route.slid();
            fate = depart(
                    mad,
                    MadRoute.subnet(
                            isSwitch() ? 0 : route.port(), endPort(route.port()).lid(), dlid, route.serviceLevel()));
        } else {
            fate = depart(mad, backFrom(route));
        }
        return fate.isDrop() ? fate : MadFate.ANSWERED;
    }

    private MadRoute backFrom(MadRoute route) {
        return route.back(isSwitch() ? 0 : route.port(), route.dlid());
    }

    private MadFate performance(MemorySegment mad, MadRoute route) {
        int method = Mad.method(mad);
        int status;
        if (Mad.classVersion(mad) != Mad.VERSION_1) {
            status = Mad.STATUS_BAD_VERSION;
        } else if (method != Mad.METHOD_GET && method != Mad.METHOD_SET) {
            status = Mad.STATUS_BAD_METHOD;
        } else {
            status = performance.access(method == Mad.METHOD_SET, Mad.attributeId(mad), PortCounters.data(mad));
        }
        Mad.answer(mad, Mad.METHOD_GET_RESPONSE, status);
        MadFate fate = depart(mad, backFrom(route));
        return fate.isDrop() ? fate : MadFate.ANSWERED;
    }

    private void onBadManagementKey(NodePort port, MemorySegment mad, MadRoute route) {
        port.countViolation(PortInfo.M_KEY_VIOLATIONS);
        long seconds = port.get(PortInfo.M_KEY_LEASE_PERIOD);
        if (seconds != 0 && leased == null) {
            leased = port;
            leaseEndNanos = nowNanos + seconds * SECOND;
        }
        traps.raise(
                port,
                Notice.SECURITY,
                Notice.BAD_M_KEY,
                notice -> {
                    Notice.SUBJECT_LID.put(notice, route.slid());
                    Notice.M_KEY_METHOD.put(notice, Mad.method(mad));
                    Notice.M_KEY_ATTRIBUTE.put(notice, Mad.attributeId(mad));
                    Notice.M_KEY_MODIFIER.put(notice, Mad.attributeModifier(mad));
                    Notice.M_KEY.put(notice, Smp.M_KEY.get(mad));
                    Notice.M_KEY_DIRECTED_SLID.put(notice, Smp.isDirected(mad) ? Smp.DIRECTED_SLID.getInt(mad) : 0);
                },
                nowNanos);
    }

    // What a port has to do

    private void changeState(NodePort port, int state) {
        if (port.state() == state) {
            return;
        }
        port.put(PortInfo.PORT_STATE, state);
        port.refresh();
        if (isSwitch() && state <= PortInfo.INIT) { // Arming and activating is what managers do themselves.
            SwitchInfo.PORT_STATE_CHANGE.put(tables().info, true);
            traps.raise(
                    parts.port(0),
                    Notice.URGENT,
                    Notice.LINK_STATE_CHANGE,
                    notice -> Notice.SWITCH_LID.put(notice, parts.port(0).lid()),
                    nowNanos);
        }
    }

    /// Notes that a manager takes the link down: the owner is to do so, and to look for a peer again or not. The
    /// answer to the manager may have to leave by that very port, so its state is as before until then.
    private void reset(NodePort port, int physicalState) {
        resets.removeIf(one -> one.port == port);
        resets.add(new Reset(port, physicalState));
    }

    private void sendTrap(NodePort port, MemorySegment mad) {
        var route = MadRoute.subnet(port.number(), port.lid(), port.masterSmLid(), port.masterSmServiceLevel());
        counted(
                port.hasLid(port.masterSmLid())
                        ? offer(forManager, new Datagram(route, Mad.copyOf(mad)), MadFate.FOR_MANAGER)
                        : depart(mad, route));
    }

    private NodePort external(int number) {
        if (number < 1 || number > ports()) {
            throw new IllegalArgumentException("number: no external port " + number + " at " + spec().description());
        }
        return parts.port(number);
    }

    // What there is to do

    /// Takes the next datagram that leaves, or null.
    public @Nullable Datagram poll() {
        return departures.poll();
    }

    /// Takes the next datagram for the subnet manager at this node, or null. Without a manager the owner drops it.
    public @Nullable Datagram pollForManager() {
        return forManager.poll();
    }

    /// Takes the next port whose link a manager takes down, or -1. The port is down from now on. Its
    /// [NodePort#physicalState] decides whether the owner looks for a peer again ([PortInfo#PHYSICAL_POLLING]) or
    /// leaves the port alone. The owner has to report the loss of the link to the peer.
    public int pollReset() {
        Reset reset = resets.poll();
        if (reset == null) {
            return -1;
        }
        reset.port.put(PortInfo.PHYSICAL_STATE, reset.physicalState);
        changeState(reset.port, PortInfo.DOWN);
        return reset.port.number();
    }

    /// Returns the port of the next [#pollReset], or -1. Packets that wait to leave by it should leave first.
    public int nextReset() {
        Reset reset = resets.peek();
        return reset == null ? -1 : reset.port.number();
    }

    /// Returns the time at which to call [#onDeadline]; [Long#MAX_VALUE]: never.
    public long deadlineNanos() {
        return Math.min(leaseEndNanos, traps.deadlineNanos());
    }

    /// Performs the work whose time has come, if any.
    public void onDeadline(long nowNanos) {
        this.nowNanos = nowNanos;
        if (leased != null && nowNanos >= leaseEndNanos) {
            // IBTA 14.2.4: the manager that has the key is gone.
            leased.put(PortInfo.M_KEY_PROTECT_BITS, 0);
            leased = null;
            leaseEndNanos = Long.MAX_VALUE;
        }
        traps.onDeadline(nowNanos);
    }
}
