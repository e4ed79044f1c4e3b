package verbena.subnet.fabric;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.agent.MadAgents;
import verbena.subnet.link.LinkPort;
import verbena.subnet.link.PacketStore;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.node.MadFate;
import verbena.subnet.node.Node;
import verbena.subnet.node.NodePort;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Lrh;
import verbena.wire.mad.Mad;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.Smp;

/// A switch or a channel adapter: a [Node] with its agents, the ends of its links, and perhaps a subnet manager.
/// Tables, states and counters are the node's. For one thread.
public abstract sealed class FabricNode permits Switch, ChannelAdapter {
    /// The part of a fabric that its nodes need.
    interface Surroundings {
        PacketStore store();

        ManagementPackets packets();

        long nowNanos();

        void onTime(long now);

        /// Reports the time at which a node has work to do.
        void isDue(long nanos);

        /// Reports that a manager has taken the link of a port down (PortInfo); it comes up again where both
        /// ends look for a peer.
        void onReset(FabricNode node, int port);
    }

    private final Surroundings fabric;
    private final Node node;
    final PacketStore store;
    private final LinkPort[] ports;
    private final MadAgents agents;
    private @Nullable SubnetManager manager;
    private boolean isManagedByProgram;
    private boolean isAttending;

    FabricNode(Surroundings fabric, Node node, int bufferBlocks) {
        this.fabric = fabric;
        this.node = node;
        this.store = fabric.store();
        this.agents = new MadAgents(node.endPort(1));
        this.ports = new LinkPort[node.ports()];
        for (int i = 0; i < ports.length; i++) {
            ports[i] = new LinkPort(node, i + 1, store, bufferBlocks);
        }
    }

    public String name() {
        return node.spec().description();
    }

    public long guid() {
        return node.spec().guid();
    }

    public int ports() {
        return ports.length;
    }

    /// Returns the node's agents, tables, states and counters, to look at.
    public Node node() {
        return node;
    }

    /// Returns the end of a link.
    ///
    /// @param number from 1
    public LinkPort port(int number) {
        return ports[number - 1];
    }

    /// Returns the first of the LIDs of the node, or of the adapter's port; 0 before it has a LID.
    public int lid() {
        return node.endPort(1).lid();
    }

    /// Returns the subnet manager at this node; null when there is none.
    public @Nullable SubnetManager manager() {
        return manager;
    }

    /// Returns the agents of programs at this node's port.
    public MadAgents agents() {
        return agents;
    }

    /// Runs the agents of programs, which may have work to do.
    public void onPrograms(long now) {
        fabric.onTime(now);
        attend();
    }

    // ---- packets

    /// Handles a packet that port `in` has taken, and that this node holds from now on.
    abstract void onPacket(int packet, int in);

    final int destinationLid(int packet) {
        return Lrh.destinationLid(store.memory(packet), store.offset(packet));
    }

    final boolean isOnLane15(int packet) {
        return Lrh.virtualLane(store.memory(packet), store.offset(packet)) == LinkPort.MANAGEMENT_LANE;
    }

    /// Returns the P_Key of a packet that has a BTH; 0, which no port has, for any other packet.
    final int pkey(int packet) {
        long bth = ManagementPackets.bth(store, packet);
        return bth < 0 ? 0 : Bth.pkey(store.memory(packet), bth);
    }

    /// Returns LIDs, service level, P_Key and target of a packet that a port has dropped; null when it has no BTH.
    final @Nullable MadRoute dropped(int packet, int port) {
        MemorySegment memory = store.memory(packet);
        long at = store.offset(packet);
        long bth = ManagementPackets.bth(store, packet);
        return bth < 0
                ? null
                : new MadRoute(
                        port,
                        Lrh.sourceLid(memory, at),
                        Lrh.destinationLid(memory, at),
                        Lrh.serviceLevel(memory, at),
                        0,
                        Bth.destinationQp(memory, bth),
                        Bth.pkey(memory, bth));
    }

    /// Sends a packet on the lane of its service level, or drops it.
    ///
    /// @param in the port of its arrival; 0 when it is the node's own
    final void leave(int packet, int in, int out) {
        NodePort by = node.port(out);
        int lane = isOnLane15(packet)
                ? LinkPort.MANAGEMENT_LANE
                : by.lane(in, Lrh.serviceLevel(store.memory(packet), store.offset(packet)));
        if (lane == LinkPort.MANAGEMENT_LANE && !isOnLane15(packet)) { // SLtoVL says: drop (IBTA 7.6.6)
            by.count(PortCounter.TRANSMIT_DISCARDS, 1);
            store.release(packet);
            return;
        }
        port(out).send(packet, lane);
    }

    // ---- management

    final long nowNanos() {
        return fabric.nowNanos();
    }

    /// Puts a subnet manager at this node.
    final SubnetManager manage(ManagerOptions options, long firstTransactionId) {
        var made = new SubnetManager(node, node.isSwitch() ? 0 : 1, options, firstTransactionId);
        manager = made;
        made.start(nowNanos());
        attend();
        return made;
    }

    /// Hands a packet for queue pair 0 or 1 to this node's agents, and releases it.
    final void toAgents(int packet, int in) {
        Datagram datagram = fabric.packets().read(packet, in);
        store.release(packet);
        if (datagram == null) {
            node.port(in).count(PortCounter.RECEIVE_ERRORS, 1);
            return;
        }
        MadFate fate = node.onMad(datagram.mad(), datagram.route(), nowNanos());
        if (fate == MadFate.FOR_OTHERS) {
            toPrograms(datagram);
        }
        attend();
    }

    /// Hands on a datagram that is not for the node itself: to the program whose request it answers, else to the
    /// manager, else to a program.
    private void toPrograms(Datagram datagram) {
        MadRoute route = datagram.route();
        MemorySegment mad = datagram.mad();
        boolean isAnswer = (Mad.method(mad) & Mad.RESPONSE) != 0;
        if ((isAnswer || manager == null) && agents.isFor(route.slid(), route.sourceQpn(), mad)) {
            agents.onMad(datagram, nowNanos());
        } else if (manager != null) {
            manager.onMad(datagram, nowNanos());
        }
    }

    /// Announces a program's subnet manager to other nodes, as the fabric's own is announced.
    private void noteManager(long now) {
        boolean isManaged = agents.hasManager();
        if (manager == null && isManaged != isManagedByProgram) {
            isManagedByProgram = isManaged;
            node.setManager(1, isManaged, now);
        }
    }

    /// Runs agents and manager until they have nothing to do now, and sends their datagrams.
    final void attend() {
        if (isAttending) {
            return; // what has come meanwhile is seen to below
        }
        isAttending = true;
        long now = nowNanos();
        do {
            node.onDeadline(now);
            agents.onDeadline(now);
            noteManager(now);
            if (manager != null && manager.deadlineNanos() <= now) {
                manager.onDeadline(now);
            }
        } while (moveDatagrams(now));
        isAttending = false;
        long due = Math.min(node.deadlineNanos(), agents.deadlineNanos());
        fabric.isDue(manager == null ? due : Math.min(due, manager.deadlineNanos()));
    }

    private boolean moveDatagrams(long now) {
        boolean isBusy = false;
        for (Datagram next = node.pollForManager(); next != null; next = node.pollForManager()) {
            isBusy = true;
            toPrograms(next);
        }
        for (Datagram next = pollManager(); next != null; next = pollManager()) {
            isBusy = true;
            leave(next, now);
        }
        for (Datagram next = agents.poll(); next != null; next = agents.poll()) {
            isBusy = true;
            leave(next, now);
        }
        for (Datagram next = node.poll(); next != null; next = node.poll()) {
            isBusy = true;
            depart(next);
        }
        while (mayReset(node.nextReset())) {
            isBusy = true;
            fabric.onReset(this, node.pollReset());
        }
        if (node.nextReset() >= 0) {
            fabric.isDue(now); // when the answer to the manager has left
        }
        return isBusy;
    }

    private boolean mayReset(int port) {
        return port == 0 || (port > 0 && port(port).waiting(LinkPort.MANAGEMENT_LANE) == 0);
    }

    private void leave(Datagram datagram, long now) {
        if (datagram.route().destinationQpn() == Smp.QPN) {
            node.send(datagram, now);
        } else {
            depart(datagram);
        }
    }

    private @Nullable Datagram pollManager() {
        return manager == null ? null : manager.poll();
    }

    private void depart(Datagram datagram) {
        MadRoute route = datagram.route();
        int packet = fabric.packets().add(datagram);
        if (route.dlid() != Smp.PERMISSIVE_LID && node.endPort(1).hasLid(route.dlid())) {
            onPacket(packet, node.isSwitch() ? 0 : 1);
            return;
        }
        int out = route.port() == 0 ? node.tables().port(route.dlid()) : route.port();
        if (out < 1 || out > ports()) {
            store.release(packet);
        } else {
            leave(packet, 0, out);
        }
    }

    @Override
    public String toString() {
        return name();
    }
}
