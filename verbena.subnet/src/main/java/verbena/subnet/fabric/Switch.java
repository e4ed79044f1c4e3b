package verbena.subnet.fabric;

import verbena.subnet.MadRoute;
import verbena.subnet.node.Node;
import verbena.subnet.node.NodePort;
import verbena.wire.ib.NativePacket;
import verbena.wire.mad.PortCounter;

/// A switch: a packet that comes in leaves by the ports that the forwarding tables name for its destination (IBTA
/// 18.2.4). Packets for its own LID, and by directed route, are its agents'.
public final class Switch extends FabricNode {
    Switch(Surroundings fabric, Node node, int bufferBlocks) {
        super(fabric, node, bufferBlocks);
    }

    @Override
    void onPacket(int packet, int in) {
        int to = destinationLid(packet);
        NodePort from = node().port(in);
        if (isOnLane15(packet)) {
            if (to == NativePacket.LID_PERMISSIVE || node().port(0).hasLid(to)) {
                toAgents(packet, in);
            } else {
                forward(packet, from, node().tables().port(to));
            }
            return;
        }
        int pkey = pkey(packet);
        // The port has the table of the adapter behind it, which may be that of a limited member.
        if (from.enforcesInbound() && !from.hasPkey(pkey) && !from.ownsPkey(pkey)) {
            dropForeign(packet, from, PortCounter.RECEIVE_CONSTRAINT_ERRORS);
            store.release(packet);
        } else if (node().port(0).hasLid(to)) {
            if (node().port(0).hasPkey(pkey)) {
                toAgents(packet, in);
            } else {
                dropForeign(packet, from, PortCounter.RECEIVE_CONSTRAINT_ERRORS);
                store.release(packet);
            }
        } else if (NativePacket.isMulticast(to)) {
            forwardToGroup(packet, from, node().tables().members(to), pkey);
        } else {
            int out = node().tables().port(to);
            if (out > 0 && out <= ports() && isKeptBack(packet, out, pkey)) {
                store.release(packet);
            } else {
                forward(packet, from, out);
            }
        }
    }

    private void forwardToGroup(int packet, NodePort from, long members, int pkey) {
        long others = members & ~(1L << from.number()) & ~1L;
        if (others == 0) {
            from.count(PortCounter.RECEIVE_SWITCH_RELAY_ERRORS, 1);
        }
        for (int out = 1; out <= ports(); out++) {
            if ((others & 1L << out) != 0 && !isKeptBack(packet, out, pkey)) {
                store.hold(packet);
                leave(packet, from.number(), out);
            }
        }
        store.release(packet);
    }

    /// Returns whether a packet must not leave by a port, because of its partition; such a packet is dropped.
    private boolean isKeptBack(int packet, int out, int pkey) {
        NodePort to = node().port(out);
        boolean isKeptBack = to.enforcesOutbound() && !to.hasPkey(pkey);
        if (isKeptBack) {
            dropForeign(packet, to, PortCounter.TRANSMIT_CONSTRAINT_ERRORS);
        }
        return isKeptBack;
    }

    /// Counts a packet of another partition, and reports it to the subnet manager.
    private void dropForeign(int packet, NodePort at, PortCounter counter) {
        at.count(counter, 1);
        MadRoute route = dropped(packet, at.number());
        if (route != null) {
            node().onBadPkeyAtSwitch(route, nowNanos());
            attend();
        }
    }

    private void forward(int packet, NodePort from, int out) {
        if (out < 1 || out > ports() || out == from.number()) {
            from.count(PortCounter.RECEIVE_SWITCH_RELAY_ERRORS, 1);
            store.release(packet);
        } else {
            leave(packet, from.number(), out);
        }
    }
}
