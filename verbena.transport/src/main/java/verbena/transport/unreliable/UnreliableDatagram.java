package verbena.transport.unreliable;

import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairCore;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.CompletionAccess;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Grh;
import verbena.wire.ib.NativePacket;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Transport;
import verbena.wire.roce.RoceV2;

/// Unreliable datagrams (IBTA 9.8.3): one packet is one message, from any peer that knows the Q_Key, to any peer.
/// Engine-confined.
///
/// A receive begins with 40 bytes of address, the GRH area, and goes on with the data. A datagram that finds no
/// receive, or one that is too small, is lost.
public final class UnreliableDatagram extends Unreliable {
    public UnreliableDatagram(ProtocolParts parts) {
        var core = new QueuePairCore(parts);
        super(
                core,
                new UnreliableSender(
                        core,
                        Transport.UD,
                        new DatagramWriter(core),
                        parts.sends(),
                        parts.sendCompletions(),
                        parts.signalAll()),
                new Receiving(core, parts));
    }

    @Override
    void startReceiving() {}

    @Override
    void stopReceiving() {}

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        // IBTA 9.6.1.2: a datagram to a group names the group's queue pair, and no other datagram does.
        if (RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)
                && Bth.destinationQp(frame.slot, frame.start) == p.qpn) {
            return PacketFate.DROPPED_UNKNOWN_QP;
        }
        if (!core.pkeyMatches(frame)) {
            return PacketFate.DROPPED_PKEY;
        }
        if (!isReceiving()) {
            return PacketFate.DROPPED_STATE;
        }
        int deth = frame.start + opcode.dethOffset();
        if (Deth.qkey(frame.slot, deth) != p.qkey) {
            return PacketFate.DROPPED_QKEY;
        }
        int bytes = Packet.payloadBytes(frame, opcode);
        if (!opcode.payload().allows(bytes, p.pathMtu) || !receive.open()) {
            return PacketFate.DROPPED_MESSAGE;
        }
        if (Grh.BYTES + bytes > receive.scatter().bytes) {
            if (receive.isShared()) { // otherwise it is for the next datagram
                receive.fail(
                        WcStatus.LOC_LEN_ERR,
                        "the datagram of " + bytes + " bytes and its 40 of address are longer than the receive of "
                                + receive.scatter().bytes + " bytes");
            }
            return PacketFate.DROPPED_MESSAGE;
        }
        int sourceQpn = Deth.sourceQp(frame.slot, deth);
        // The headroom has been read: the link computed the ICRC there.
        writeGrhArea(frame);
        MemoryVerdict verdict = core.memory.scatter(receive.scatter(), p.receiveDomain(), 0, frame.slot, 0, Grh.BYTES);
        if (verdict == MemoryVerdict.OK) {
            verdict = core.memory.scatter(
                    receive.scatter(),
                    p.receiveDomain(),
                    Grh.BYTES,
                    frame.slot,
                    Packet.payloadOffset(frame, opcode),
                    bytes);
        }
        if (verdict != MemoryVerdict.OK) {
            String cause = "the receive's " + core.memory.explain(receive.scatter(), p.receiveDomain(), true, verdict);
            receive.fail(WcStatus.LOC_PROT_ERR, cause);
            fail(cause);
            return PacketFate.DROPPED_MESSAGE;
        }
        receive.complete(
                frame, opcode, WcOpcode.RECV, (long) Grh.BYTES + bytes, sender(frame, sourceQpn), flags(frame));
        return PacketFate.ACCEPTED;
    }

    /// Returns the sender for the completion (IBTA 11.4.2.1). On wires without LIDs it is only the sender's queue
    /// pair.
    private static long sender(Frame frame, int sourceQpn) {
        return frame.local.sourceLid == 0
                ? sourceQpn
                : CompletionAccess.sender(sourceQpn, frame.local.sourceLid, frame.serviceLevel, frame.local.pathBits);
    }

    private static int flags(Frame frame) {
        if (isInIpv4(frame)) {
            return CompletionAccess.GRH | CompletionAccess.IPV4;
        }
        return frame.local.sourceLid != 0 && NativePacket.isByLid(frame.sourceHigh, frame.sourceLow)
                ? 0
                : CompletionAccess.GRH;
    }

    /// Writes the network header of the datagram, as far as it is known (IBTA A17.4.5.1).
    private static void writeGrhArea(Frame frame) {
        if (isInIpv4(frame)) {
            Grh.writeIpv4Area(
                    frame.slot,
                    0,
                    frame.trafficClass,
                    RoceV2.IPV4_OVERHEAD + frame.length,
                    frame.hopLimit,
                    frame.sourceLow,
                    frame.destinationLow);
        } else {
            Grh.write(
                    frame.slot,
                    0,
                    frame.trafficClass,
                    0,
                    frame.local.isRoceV1 ? frame.length : RoceV2.UDP_BYTES + frame.length,
                    frame.local.isRoceV1 ? Grh.NEXT_HEADER_BTH : RoceV2.PROTOCOL_UDP,
                    frame.hopLimit,
                    frame.sourceHigh,
                    frame.sourceLow,
                    frame.destinationHigh,
                    frame.destinationLow);
        }
    }

    private static boolean isInIpv4(Frame frame) {
        return !frame.local.isRoceV1 && RoceV2.isIpv4(frame.sourceHigh, frame.sourceLow);
    }
}
