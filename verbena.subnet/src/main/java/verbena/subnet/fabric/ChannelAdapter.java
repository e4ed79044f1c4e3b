package verbena.subnet.fabric;

import java.lang.foreign.MemorySegment;
import verbena.subnet.MadRoute;
import verbena.subnet.link.IntQueue;
import verbena.subnet.link.LinkPort;
import verbena.subnet.node.Node;
import verbena.subnet.node.NodePort;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.NativePacket;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PortCounter;

/// A host channel adapter: packets of its host leave by its one port, and packets for its LID wait for the host. A
/// host that does not take them holds up who sends to it, and loses none. Subnet management, performance management,
/// and the subnet administration where the manager is here, are not the host's.
public final class ChannelAdapter extends FabricNode {
    /// The most packets of the host that may wait for credits: few, because packets that wait here are late.
    public static final int DEPARTURES_MAX = 32;

    private static final int PORT = 1;

    private final IntQueue arrivals = new IntQueue();

    ChannelAdapter(Surroundings fabric, Node node, int bufferBlocks) {
        super(fabric, node, bufferBlocks);
    }

    /// Returns the only port.
    public LinkPort port() {
        return port(PORT);
    }

    /// Returns the state, the tables and the counters of the port.
    public NodePort info() {
        return node().port(PORT);
    }

    // ---- departures

    /// Returns whether [#send] would take a packet now.
    public boolean hasRoom() {
        int departures = 0;
        for (int lane = 0; lane < port().lanes(); lane++) {
            departures += port().waiting(lane);
        }
        return departures < DEPARTURES_MAX && arrivals.size() < DEPARTURES_MAX;
    }

    /// Sends a packet of the host: LRH through VCRC, which was found right. A packet that does not come from this
    /// port's LID, or for another reason must not leave, is dropped and counted.
    public void send(MemorySegment memory, long at, int bytes) {
        if (!info().hasLid(Lrh.sourceLid(memory, at))
                || Lrh.virtualLane(memory, at) == LinkPort.MANAGEMENT_LANE
                || !port().isOpen()) {
            info().count(PortCounter.TRANSMIT_DISCARDS, 1);
            return;
        }
        int packet = store.add(memory, at, bytes, null, 0);
        if (!info().ownsPkey(pkey(packet))) { // no host is in a partition by saying so
            info().count(PortCounter.TRANSMIT_CONSTRAINT_ERRORS, 1);
            store.release(packet);
            return;
        }
        if (info().hasLid(destinationLid(packet))) {
            deliver(packet); // loopback does not reach the link
        } else {
            boolean isMulticast = NativePacket.isMulticast(destinationLid(packet));
            leave(packet, 0, PORT);
            if (isMulticast) { // no switch sends it back, and queue pairs here may be members (IBTA 10.5.2)
                deliver(store.add(memory, at, bytes, null, 0));
            }
        }
    }

    // ---- arrivals

    @Override
    void onPacket(int packet, int in) {
        int to = destinationLid(packet);
        boolean isOwn = info().hasLid(to);
        if (isOnLane15(packet) && (isOwn || to == NativePacket.LID_PERMISSIVE)) {
            toAgents(packet, in);
        } else if (isOnLane15(packet) || !(isOwn || NativePacket.isMulticast(to))) {
            info().count(PortCounter.RECEIVE_ERRORS, 1);
            store.release(packet);
        } else {
            deliver(packet);
        }
    }

    private void deliver(int packet) {
        if (!info().hasPkey(pkey(packet))) {
            info().count(PortCounter.RECEIVE_CONSTRAINT_ERRORS, 1);
            onBadPkey(packet);
            store.release(packet);
            attend();
        } else if (ManagementPackets.isForAgents(store, packet, manager() != null, agents())) {
            toAgents(packet, PORT);
        } else {
            arrivals.add(packet);
        }
    }

    /// Reports a packet of another partition to the subnet manager (IBTA 10.9.3); a packet without a P_Key is only
    /// counted.
    private void onBadPkey(int packet) {
        MadRoute route = dropped(packet, PORT);
        if (route != null) {
            node().onBadKey(Notice.BAD_P_KEY, route, route.pkey(), nowNanos());
        }
    }

    /// Returns the number of packets that wait for the host.
    public int arrivals() {
        return arrivals.size();
    }

    /// Returns the oldest packet that waits for the host; it stays where it is until [#taken()].
    public int arrival() {
        return arrivals.peek();
    }

    /// Frees the room of the oldest packet, which the host has taken.
    public void taken() {
        store.release(arrivals.remove());
    }
}
