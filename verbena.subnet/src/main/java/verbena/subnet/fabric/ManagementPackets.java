package verbena.subnet.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.agent.MadAgents;
import verbena.subnet.link.LinkPort;
import verbena.subnet.link.PacketStore;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Grh;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.NativePacket;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Rmpp;
import verbena.wire.mad.Smp;

/// The packets of management datagrams, made and read (IBTA 13.5): a UD SEND ONLY, on lane 15 between queue pairs 0,
/// else on a data lane between queue pairs 1. For one thread.
final class ManagementPackets {
    private static final int LENGTH = Bth.BYTES + Deth.BYTES + Mad.BYTES + Packet.ICRC_BYTES;
    private static final int HOP_LIMIT = 64;
    private static final int BYTES_MAX = Lrh.BYTES + Grh.BYTES + LENGTH + Vcrc.BYTES;

    private final PacketStore store;
    private final NativePacket packets = new NativePacket();
    private final Frame departure = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, Long.BYTES))[0];
    private final Frame arrival = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, Long.BYTES))[0];
    private final MemorySegment copy = Arena.ofAuto().allocate(BYTES_MAX, Long.BYTES);
    private final ByteBuffer buffer = NativePacket.buffer(copy);

    ManagementPackets(PacketStore store) {
        this.store = store;
    }

    /// Puts a datagram into the store, as a packet whose only holder is the caller.
    int add(Datagram datagram) {
        MadRoute route = datagram.route();
        boolean isSubnet = route.destinationQpn() == Smp.QPN;
        MemorySegment slot = departure.slot;
        int at = departure.start;
        Bth.write(slot, at, Opcode.UD_SEND_ONLY, false, 0, route.pkey(), route.destinationQpn(), false, 0);
        Deth.write(slot, at + Bth.BYTES, isSubnet ? 0 : Mad.QKEY, route.sourceQpn());
        MemorySegment.copy(datagram.mad(), 0, slot, at + Bth.BYTES + Deth.BYTES, Mad.BYTES);
        departure.length = LENGTH;
        MadRoute.Gids gids = route.gids();
        departure.sourceHigh = gids == null ? 0 : gids.sourceHigh();
        departure.sourceLow = gids == null ? route.slid() : gids.sourceLow();
        departure.destinationHigh = gids == null ? 0 : gids.destinationHigh();
        departure.destinationLow = gids == null ? route.dlid() : gids.destinationLow();
        departure.hopLimit = HOP_LIMIT;
        departure.local.destinationLid = route.dlid();
        departure.local.sourceLid = route.slid();
        departure.serviceLevel = route.serviceLevel();
        packets.write(departure, isSubnet ? LinkPort.MANAGEMENT_LANE : 0);
        int before = NativePacket.headerBytes(departure);
        return store.add(slot, at - before, before + LENGTH + Vcrc.BYTES, null, 0);
    }

    /// Returns the datagram of a packet that arrived at a port; null when it is none, or its ICRC, Q_Key or lane is
    /// wrong.
    @Nullable
    Datagram read(int packet, int in) {
        int bytes = store.length(packet);
        if (bytes > BYTES_MAX) {
            return null;
        }
        MemorySegment.copy(store.memory(packet), store.offset(packet), copy, 0, bytes);
        int at = NativePacket.read(copy, 0, bytes, arrival);
        if (at < 0 || arrival.length != LENGTH || Bth.opcode(copy, at) != Opcode.UD_SEND_ONLY.code()) {
            return null;
        }
        int qpn = Bth.destinationQp(copy, at);
        boolean isOnLane15 = Lrh.virtualLane(copy, 0) == LinkPort.MANAGEMENT_LANE;
        boolean isRight = qpn == Smp.QPN
                ? isOnLane15
                : qpn == Mad.QPN && !isOnLane15 && Deth.qkey(copy, at + Bth.BYTES) == Mad.QKEY;
        if (!isRight || !packets.verify(copy, buffer, 0, bytes)) {
            return null;
        }
        var route = new MadRoute(
                in,
                arrival.local.sourceLid,
                arrival.local.destinationLid,
                arrival.serviceLevel,
                Deth.sourceQp(copy, at + Bth.BYTES),
                qpn,
                Bth.pkey(copy, at),
                at == Lrh.BYTES
                        ? null
                        : new MadRoute.Gids(
                                arrival.sourceHigh,
                                arrival.sourceLow,
                                arrival.destinationHigh,
                                arrival.destinationLow));
        return new Datagram(route, Mad.copyOf(copy.asSlice(at + Bth.BYTES + Deth.BYTES)));
    }

    /// Returns the offset of a packet's BTH in its memory; negative when it is raw, or too short for its headers.
    static long bth(PacketStore store, int packet) {
        MemorySegment memory = store.memory(packet);
        long at = store.offset(packet);
        int before = switch (Lrh.nextHeader(memory, at)) {
            case Lrh.NEXT_BTH -> Lrh.BYTES;
            case Lrh.NEXT_GRH -> Lrh.BYTES + Grh.BYTES;
            default -> -1;
        };
        return before < 0 || before + Bth.BYTES > store.length(packet) ? -1 : at + before;
    }

    /// Returns whether a packet of a data lane is for the agents of an adapter and not for its host. It is a packet
    /// for queue pair 0, a request to the performance agent or to a subnet administration that is here, or a packet
    /// for a program's agent.
    static boolean isForAgents(PacketStore store, int packet, boolean hasManager, MadAgents agents) {
        long bth = bth(store, packet);
        MemorySegment memory = store.memory(packet);
        if (bth < 0 || Bth.destinationQp(memory, bth) != Mad.QPN) {
            return bth >= 0 && Bth.destinationQp(memory, bth) == Smp.QPN;
        }
        if (bth - store.offset(packet) + LENGTH + Vcrc.BYTES != store.length(packet)) {
            return false;
        }
        MemorySegment mad = memory.asSlice(bth + Bth.BYTES + Deth.BYTES, Mad.BYTES);
        int method = Mad.method(mad);
        boolean isForNode = switch (Mad.managementClass(mad)) {
            case Mad.CLASS_PERFORMANCE -> (method & Mad.RESPONSE) == 0;
            case Mad.CLASS_SUBNET_ADMINISTRATION -> hasManager && isForAdministration(mad, method);
            default -> false;
        };
        return isForNode
                || agents.isFor(
                        Lrh.sourceLid(memory, store.offset(packet)), Deth.sourceQp(memory, bth + Bth.BYTES), mad);
    }

    /// Returns whether a datagram is a request, the answer to a report, or a receiver's reply to segments of a long
    /// answer.
    private static boolean isForAdministration(MemorySegment mad, int method) {
        boolean isAnswer = (method & Mad.RESPONSE) != 0 && method != (Mad.METHOD_REPORT | Mad.RESPONSE);
        boolean isSaidOfSegments = Rmpp.ACTIVE.getBoolean(mad) && Rmpp.TYPE.getInt(mad) >= Rmpp.ACK;
        return isSaidOfSegments || (!isAnswer && method != Mad.METHOD_REPORT);
    }
}
