package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.InternetChecksum;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Grh;
import verbena.wire.ib.NativePacket;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;
import verbena.wire.pcap.Unwrapped.Reason;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.RoceV1;
import verbena.wire.roce.RoceV2;

/// A converter that takes RoCE packets, and segments of TCP, out of the network headers that a capture shows, and
/// puts RoCE packets back in. For captures and tests: it allocates. One owner.
public final class Encapsulation {
    /// The most bytes that [#wrap] writes before the packet, besides the envelope's link header.
    public static final int OVERHEAD_MAX = RoceV2.IPV6_OVERHEAD;

    private static final int TUNNELS_MAX = 4;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final long MADE_UP_MAC = 0x0200_0000_0000L;
    private static final int PROTOCOL_TCP = 6;
    private static final int TCP_BYTES = 20;
    private static final int HOP_LIMIT_DEFAULT = 64;

    private final RoceV2 roceV2 = new RoceV2();
    private final RoceV1 roceV1 = new RoceV1();
    private final NativePacket nativePackets = new NativePacket();

    /// Makes an encapsulation for one owner.
    public Encapsulation() {}

    /// Takes the packet out of `bytes`, whose first byte is that of `linkType`, and fills `frame` with it. Any
    /// bytes lead to an answer.
    public Unwrapped unwrap(int linkType, MemorySegment bytes, Frame frame) {
        return found(LinkHeaders.find(linkType, bytes), linkType, bytes, 0, frame);
    }

    /// @param found as [LinkHeaders#find] answers
    /// @param tunnels that have been left
    private Unwrapped found(long found, int linkType, MemorySegment bytes, int tunnels, Frame frame) {
        if (found < 0) {
            return other(found == LinkHeaders.TRUNCATED ? Reason.TRUNCATED : Reason.UNKNOWN_LINK_TYPE);
        }
        int at = (int) found;
        int type = (int) (found >>> 32);
        return switch (type) {
            case LinkHeaders.INFINIBAND -> infiniBand(bytes.asSlice(at), frame);
            case LinkHeaders.TYPE_IPV4 -> ipv4(linkType, bytes, at, tunnels, frame);
            case LinkHeaders.TYPE_IPV6 -> ipv6(linkType, bytes, at, tunnels, frame);
            case LinkHeaders.TYPE_BRIDGED ->
                tunnelled(LinkHeaders.ethernet(bytes, at), linkType, bytes, tunnels, frame);
            case RoceV1.ETHER_TYPE -> grh(linkType, bytes, at, frame);
            default -> other(Reason.OTHER_PROTOCOL, Wrappings.ofType(type));
        };
    }

    /// @param inner as [LinkHeaders#find] answers for what the tunnel carries
    private Unwrapped tunnelled(long inner, int linkType, MemorySegment bytes, int tunnels, Frame frame) {
        return tunnels == TUNNELS_MAX
                ? other(Reason.OTHER_PROTOCOL, Wrappings.TUNNELS)
                : found(inner, linkType, bytes, tunnels + 1, frame);
    }

    private Unwrapped infiniBand(MemorySegment captured, Frame frame) {
        MemorySegment bytes = MemorySegment.ofArray(captured.toArray(ValueLayout.JAVA_BYTE));
        int length = Math.toIntExact(bytes.byteSize());
        int start = NativePacket.read(bytes, 0, length, frame);
        if (start < 0) {
            return start == NativePacket.FOREIGN
                    ? other(Reason.OTHER_PROTOCOL, Wrappings.FOREIGN)
                    : other(Reason.BAD_LENGTH);
        }
        MemorySegment.copy(bytes, start, frame.slot, frame.start, frame.length);
        frame.icrcValid = nativePackets.verify(bytes, NativePacket.buffer(bytes), 0, length);
        return new Unwrapped.Roce(new Envelope(LinkType.INFINIBAND, linkHeader(bytes, start), false, 0, 0, 0, 0));
    }

    private Unwrapped ipv4(int linkType, MemorySegment bytes, long at, int tunnels, Frame frame) {
        if (bytes.byteSize() < at + IPV4_BYTES) {
            return other(Reason.TRUNCATED);
        }
        int versionAndLength = BigEndian.u8(bytes, at);
        if (versionAndLength >>> 4 != 4) {
            return other(Reason.OTHER_PROTOCOL, Wrappings.NO_IP);
        }
        int flagsFragment = BigEndian.u16(bytes, at + 6);
        int protocol = BigEndian.u8(bytes, at + 9);
        if (protocol == PROTOCOL_TCP && (flagsFragment & RoceV2.FRAGMENT_BITS) == 0) {
            long end = at + BigEndian.u16(bytes, at + 2);
            return tcp(
                    bytes,
                    at + 4L * (versionAndLength & 0xF),
                    end,
                    0,
                    RoceV2.MAPPED_IPV4 | BigEndian.u32(bytes, at + 12),
                    0,
                    RoceV2.MAPPED_IPV4 | BigEndian.u32(bytes, at + 16));
        }
        long inner = (flagsFragment & RoceV2.FRAGMENT_BITS) == 0
                ? Tunnels.find(protocol, bytes, at + 4L * (versionAndLength & 0xF))
                : Tunnels.NONE;
        if (inner != Tunnels.NONE) {
            return tunnelled(inner, linkType, bytes, tunnels, frame);
        }
        if (protocol != RoceV2.PROTOCOL_UDP) {
            return other(Reason.OTHER_PORT, Wrappings.ofProtocol(protocol));
        }
        if ((flagsFragment & RoceV2.FRAGMENT_BITS) != 0) {
            return other(Reason.FRAGMENT);
        }
        if ((versionAndLength & 0xF) != IPV4_BYTES / 4) {
            return other(Reason.IPV4_OPTIONS);
        }
        long udp = at + IPV4_BYTES;
        Unwrapped wrong = udpTrouble(bytes, udp, BigEndian.u16(bytes, at + 2) - IPV4_BYTES);
        if (wrong != null) {
            return wrong;
        }
        frame.sourceHigh = 0;
        frame.sourceLow = RoceV2.MAPPED_IPV4 | BigEndian.u32(bytes, at + 12);
        frame.destinationHigh = 0;
        frame.destinationLow = RoceV2.MAPPED_IPV4 | BigEndian.u32(bytes, at + 16);
        frame.trafficClass = BigEndian.u8(bytes, at + 1);
        frame.hopLimit = BigEndian.u8(bytes, at + 8);
        boolean isWhole = fillFromUdp(bytes, udp, frame);
        int identification = BigEndian.u16(bytes, at + 4);
        frame.icrcValid = !isWhole || roceV2.verify(frame, identification, flagsFragment);
        int udpChecksum = BigEndian.u16(bytes, udp + 6);
        return roce(
                isWhole,
                new Envelope(linkType, linkHeader(bytes, at), false, identification, flagsFragment, 0, udpChecksum));
    }

    private Unwrapped ipv6(int linkType, MemorySegment bytes, long at, int tunnels, Frame frame) {
        if (bytes.byteSize() < at + IPV6_BYTES) {
            return other(Reason.TRUNCATED);
        }
        if (Grh.version(bytes, at) != 6) {
            return other(Reason.OTHER_PROTOCOL, Wrappings.NO_IP);
        }
        if (Grh.nextHeader(bytes, at) == PROTOCOL_TCP) {
            long tcp = at + IPV6_BYTES;
            return tcp(
                    bytes,
                    tcp,
                    tcp + Grh.payloadLength(bytes, at),
                    Grh.sourceHigh(bytes, at),
                    Grh.sourceLow(bytes, at),
                    Grh.destinationHigh(bytes, at),
                    Grh.destinationLow(bytes, at));
        }
        long inner = Tunnels.find(Grh.nextHeader(bytes, at), bytes, at + IPV6_BYTES);
        if (inner != Tunnels.NONE) {
            return tunnelled(inner, linkType, bytes, tunnels, frame);
        }
        if (Grh.nextHeader(bytes, at) != RoceV2.PROTOCOL_UDP) {
            return other(Reason.OTHER_PORT, Wrappings.ofProtocol(Grh.nextHeader(bytes, at)));
        }
        long udp = at + IPV6_BYTES;
        Unwrapped wrong = udpTrouble(bytes, udp, Grh.payloadLength(bytes, at));
        if (wrong != null) {
            return wrong;
        }
        fillFromGrh(bytes, at, frame);
        boolean isWhole = fillFromUdp(bytes, udp, frame);
        frame.icrcValid = !isWhole || roceV2.verify(frame, 0, 0);
        int udpChecksum = BigEndian.u16(bytes, udp + 6);
        return roce(
                isWhole,
                new Envelope(linkType, linkHeader(bytes, at), false, 0, 0, Grh.flowLabel(bytes, at), udpChecksum));
    }

    /// @param end its end by the lengths
    private static Unwrapped tcp(
            MemorySegment bytes,
            long tcp,
            long end,
            long sourceHigh,
            long sourceLow,
            long destinationHigh,
            long destinationLow) {
        if (bytes.byteSize() < tcp + TCP_BYTES) {
            return other(Reason.OTHER_PORT, Wrappings.TCP); // too little to tell whose it is
        }
        long payload = tcp + 4L * (BigEndian.u8(bytes, tcp + 12) >>> 4);
        if (payload < tcp + TCP_BYTES || payload > end) {
            return other(Reason.OTHER_PORT, Wrappings.TCP);
        }
        long until = Math.min(end, bytes.byteSize());
        return new Unwrapped.Tcp(
                sourceHigh,
                sourceLow,
                BigEndian.u16(bytes, tcp),
                destinationHigh,
                destinationLow,
                BigEndian.u16(bytes, tcp + 2),
                BigEndian.i32(bytes, tcp + 4),
                BigEndian.i32(bytes, tcp + 8),
                BigEndian.u8(bytes, tcp + 13),
                (int) (end - payload),
                payload >= until ? MemorySegment.NULL : bytes.asSlice(payload, until - payload));
    }

    private Unwrapped grh(int linkType, MemorySegment bytes, long at, Frame frame) {
        if (bytes.byteSize() < at + Grh.BYTES) {
            return other(Reason.TRUNCATED);
        }
        if (Grh.version(bytes, at) != 6 || Grh.nextHeader(bytes, at) != Grh.NEXT_HEADER_BTH) {
            return other(Reason.OTHER_PROTOCOL, Wrappings.FOREIGN);
        }
        int packetBytes = Grh.payloadLength(bytes, at);
        Reason wrong = sizeTrouble(bytes, at + Grh.BYTES, packetBytes);
        if (wrong != null) {
            return other(wrong);
        }
        fillFromGrh(bytes, at, frame);
        frame.sourcePort = 0;
        boolean isWhole = fillPacket(bytes, at + Grh.BYTES, packetBytes, frame);
        frame.local.isRoceV1 = true;
        frame.icrcValid = !isWhole || roceV1.verify(frame);
        return roce(isWhole, new Envelope(linkType, linkHeader(bytes, at), true, 0, 0, Grh.flowLabel(bytes, at), 0));
    }

    // What is wrong with the UDP header and the sizes, if anything.
    private static @Nullable Unwrapped udpTrouble(MemorySegment bytes, long udp, int ipPayloadBytes) {
        if (bytes.byteSize() < udp + RoceV2.UDP_BYTES) {
            return other(Reason.TRUNCATED);
        }
        int port = BigEndian.u16(bytes, udp + 2);
        if (port != RoceV2.UDP_PORT) {
            return other(Reason.OTHER_PORT, Wrappings.ofPort(port));
        }
        if (BigEndian.u16(bytes, udp + 4) != ipPayloadBytes) {
            return other(Reason.BAD_LENGTH);
        }
        Reason wrong = sizeTrouble(bytes, udp + RoceV2.UDP_BYTES, ipPayloadBytes - RoceV2.UDP_BYTES);
        return wrong == null ? null : other(wrong);
    }

    private static @Nullable Reason sizeTrouble(MemorySegment bytes, long bth, int packetBytes) {
        if (packetBytes < Packet.BYTES_MIN) {
            return Reason.TOO_SHORT;
        }
        if (packetBytes > Frame.PACKET_MAX) {
            return Reason.TOO_LONG;
        }
        return bytes.byteSize() < bth + packetBytes && !hasHeaders(bytes, bth) ? Reason.TRUNCATED : null;
    }

    private static boolean hasHeaders(MemorySegment bytes, long bth) {
        long there = bytes.byteSize() - bth;
        Opcode opcode = there < Bth.BYTES ? null : Opcode.of(Bth.opcode(bytes, bth));
        return opcode != null && there >= opcode.headerBytes();
    }

    private static Unwrapped roce(boolean isWhole, Envelope envelope) {
        return isWhole ? new Unwrapped.Roce(envelope) : new Unwrapped.Part(envelope);
    }

    private static void fillFromGrh(MemorySegment bytes, long at, Frame frame) {
        frame.sourceHigh = Grh.sourceHigh(bytes, at);
        frame.sourceLow = Grh.sourceLow(bytes, at);
        frame.destinationHigh = Grh.destinationHigh(bytes, at);
        frame.destinationLow = Grh.destinationLow(bytes, at);
        frame.trafficClass = Grh.trafficClass(bytes, at);
        frame.hopLimit = Grh.hopLimit(bytes, at);
    }

    private static boolean fillFromUdp(MemorySegment bytes, long udp, Frame frame) {
        frame.sourcePort = BigEndian.u16(bytes, udp);
        frame.local.isRoceV1 = false;
        return fillPacket(bytes, udp + RoceV2.UDP_BYTES, BigEndian.u16(bytes, udp + 4) - RoceV2.UDP_BYTES, frame);
    }

    // Whether all of it is there.
    private static boolean fillPacket(MemorySegment bytes, long bth, int packetBytes, Frame frame) {
        long there = Math.min(packetBytes, bytes.byteSize() - bth);
        MemorySegment.copy(bytes, bth, frame.slot, frame.start, there);
        frame.length = packetBytes;
        return there == packetBytes;
    }

    private static MemorySegment linkHeader(MemorySegment bytes, long networkHeader) {
        return MemorySegment.ofArray(bytes.asSlice(0, networkHeader).toArray(ValueLayout.JAVA_BYTE));
    }

    private static Unwrapped other(Reason reason) {
        return other(reason, "");
    }

    private static Unwrapped other(Reason reason, String what) {
        return new Unwrapped.Other(reason, what);
    }

    /// Writes link, network and UDP header and the packet, ICRC as it is, to the start of `out`; returns how many
    /// bytes. `out` has room for the envelope's link header, [#OVERHEAD_MAX] and [Frame#length]. A hop limit of 0
    /// becomes 64.
    public static int wrap(Frame frame, Envelope envelope, MemorySegment out) {
        long at = envelope.linkHeader().byteSize();
        MemorySegment.copy(envelope.linkHeader(), 0, out, 0, at);
        if (envelope.linkType() == LinkType.INFINIBAND) {
            MemorySegment.copy(frame.slot, frame.start, out, at, frame.length);
            int covered = Math.toIntExact(at + frame.length);
            Vcrc.seal(out, 0, covered);
            return covered + Vcrc.BYTES;
        }
        int hopLimit = frame.hopLimit == 0 ? HOP_LIMIT_DEFAULT : frame.hopLimit;
        boolean isIpv4 = !envelope.roceV1() && RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow);
        if (isIpv4) {
            writeIpv4(frame, envelope, hopLimit, out, at);
        } else {
            Grh.write(
                    out,
                    at,
                    frame.trafficClass,
                    envelope.flowLabel(),
                    frame.length + (envelope.roceV1() ? 0 : RoceV2.UDP_BYTES),
                    envelope.roceV1() ? Grh.NEXT_HEADER_BTH : RoceV2.PROTOCOL_UDP,
                    hopLimit,
                    frame.sourceHigh,
                    frame.sourceLow,
                    frame.destinationHigh,
                    frame.destinationLow);
        }
        at += isIpv4 ? IPV4_BYTES : IPV6_BYTES;
        if (!envelope.roceV1()) {
            BigEndian.put16(out, at, frame.sourcePort);
            BigEndian.put16(out, at + 2, RoceV2.UDP_PORT);
            BigEndian.put16(out, at + 4, RoceV2.UDP_BYTES + frame.length);
            BigEndian.put16(out, at + 6, envelope.udpChecksum());
            at += RoceV2.UDP_BYTES;
        }
        MemorySegment.copy(frame.slot, frame.start, out, at, frame.length);
        return Math.toIntExact(at + frame.length);
    }

    private static void writeIpv4(Frame frame, Envelope envelope, int hopLimit, MemorySegment out, long at) {
        BigEndian.put32(
                out,
                at,
                0x4500_0000 | ((frame.trafficClass & 0xFF) << 16) | (IPV4_BYTES + RoceV2.UDP_BYTES + frame.length));
        BigEndian.put32(out, at + 4, (envelope.ipv4Identification() << 16) | envelope.ipv4FlagsFragment());
        BigEndian.put32(out, at + 8, (hopLimit << 24) | (RoceV2.PROTOCOL_UDP << 16));
        BigEndian.put32(out, at + 12, (int) frame.sourceLow);
        BigEndian.put32(out, at + 16, (int) frame.destinationLow);
        BigEndian.put16(out, at + 10, InternetChecksum.of(out, at, IPV4_BYTES));
    }

    /// Returns the Ethernet envelope of a frame whose headers no capture has shown. Where no link knows the
    /// Ethernet addresses, they are made up from the last four bytes of the GIDs (`02:00:a:b:c:d`). The IPv4
    /// identification is the value that makes the frame's ICRC right, 0 with DF when none does.
    public Envelope envelope(Frame frame) {
        long hidden = isIpv4(frame) ? roceV2.hiddenFields(frame) : 0;
        return madeUp(frame, hidden < 0 ? RoceV2.DONT_FRAGMENT : hidden);
    }

    /// Returns the same for a frame that has not all of its packet's bytes: with the identification 0 and DF.
    public static Envelope envelopeOfPart(Frame frame) {
        return madeUp(frame, isIpv4(frame) ? RoceV2.DONT_FRAGMENT : 0);
    }

    private static boolean isIpv4(Frame frame) {
        return !frame.local.isRoceV1 && RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow);
    }

    private static Envelope madeUp(Frame frame, long hidden) {
        boolean isKnown = frame.local.destinationMac != 0 || frame.local.sourceMac != 0;
        int tag = isKnown ? frame.local.vlanTag : Ethernet.NO_TAG;
        MemorySegment header = MemorySegment.ofArray(new byte[Ethernet.bytes(tag)]);
        Ethernet.write(
                header,
                0,
                isKnown ? frame.local.destinationMac : MADE_UP_MAC | (frame.destinationLow & 0xFFFF_FFFFL),
                isKnown ? frame.local.sourceMac : MADE_UP_MAC | (frame.sourceLow & 0xFFFF_FFFFL),
                tag,
                frame.local.isRoceV1
                        ? RoceV1.ETHER_TYPE
                        : isIpv4(frame) ? LinkHeaders.TYPE_IPV4 : LinkHeaders.TYPE_IPV6);
        return new Envelope(
                LinkType.ETHERNET, header, frame.local.isRoceV1, (int) (hidden >>> 16), (int) hidden & 0xFFFF, 0, 0);
    }
}
