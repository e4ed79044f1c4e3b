package verbena.wire.roce;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.InternetChecksum;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Grh;

/// The IP and UDP headers of RoCE v2 (IBTA A17). IPv4 leaves with identification 0 and "don't fragment" (RFC
/// 6864); UDP has no checksum, because the ICRC covers more.
public final class UdpHeaders implements NetworkHeaders {
    private static final int IPV4_BYTES = RoceV2.IPV4_OVERHEAD - RoceV2.UDP_BYTES;
    private static final int IPV6_BYTES = RoceV2.IPV6_OVERHEAD - RoceV2.UDP_BYTES;
    private static final int WITHOUT_OPTIONS = 0x45;
    private static final int VERSION_6 = 6;
    private static final int GOLDEN_RATIO = 0x9E37_79B1; // spreads consecutive numbers
    private static final int FLOW_LABEL_SHIFT = 12;

    private final RoceV2 roce = new RoceV2();
    private final int secondPort;
    private int identification;
    private int flagsFragment = RoceV2.DONT_FRAGMENT;

    /// Makes a reader and writer of headers, for one owner.
    ///
    /// @param secondPort a port that packets may have besides, 0 for none
    public UdpHeaders(int secondPort) {
        this.secondPort = secondPort;
    }

    private static boolean isIpv4(Frame frame) {
        return RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow);
    }

    @Override
    public int etherType(Frame frame) {
        return isIpv4(frame) ? Ethernet.TYPE_IPV4 : Ethernet.TYPE_IPV6;
    }

    @Override
    public int bytes(Frame frame) {
        return isIpv4(frame) ? RoceV2.IPV4_OVERHEAD : RoceV2.IPV6_OVERHEAD;
    }

    /// Seals the packet, and chooses the source port unless the frame has it. All packets for a queue pair have the
    /// same port, so that they take the same path and keep their order. Switches spread the packets of other queue
    /// pairs over other paths.
    @Override
    public void seal(Frame frame) {
        frame.local.isRoceV1 = false;
        if (frame.sourcePort == 0) {
            int qpn = Bth.destinationQp(frame.slot, frame.start);
            frame.sourcePort = RoceV2.udpSourcePort((qpn * GOLDEN_RATIO) >>> FLOW_LABEL_SHIFT);
        }
        roce.seal(frame, 0);
    }

    @Override
    public void write(Frame frame) {
        int at = frame.start - bytes(frame);
        int udpLength = RoceV2.UDP_BYTES + frame.length;
        if (isIpv4(frame)) {
            MemorySegment slot = frame.slot;
            BigEndian.put32(slot, at, 0x4500_0000 | (frame.trafficClass & 0xFF) << 16 | IPV4_BYTES + udpLength);
            BigEndian.put32(slot, at + 4, RoceV2.DONT_FRAGMENT);
            BigEndian.put32(slot, at + 8, NetworkHeaders.hopLimit(frame) << 24 | RoceV2.PROTOCOL_UDP << 16);
            BigEndian.put32(slot, at + 12, (int) frame.sourceLow);
            BigEndian.put32(slot, at + 16, (int) frame.destinationLow);
            BigEndian.put16(slot, at + 10, InternetChecksum.of(slot, at, IPV4_BYTES));
        } else {
            Grh.write(
                    frame.slot,
                    at,
                    frame.trafficClass,
                    0,
                    udpLength,
                    RoceV2.PROTOCOL_UDP,
                    NetworkHeaders.hopLimit(frame),
                    frame.sourceHigh,
                    frame.sourceLow,
                    frame.destinationHigh,
                    frame.destinationLow);
        }
        long udp = (long) frame.start - RoceV2.UDP_BYTES;
        int port = frame.secondPort == 0 ? RoceV2.UDP_PORT : frame.secondPort;
        BigEndian.put32(frame.slot, udp, frame.sourcePort << 16 | port);
        BigEndian.put32(frame.slot, udp + 4, udpLength << 16);
    }

    @Override
    public int read(int etherType, MemorySegment memory, int at, int end, Frame frame) {
        frame.local.isRoceV1 = false;
        return switch (etherType) {
            case Ethernet.TYPE_IPV4 -> readIpv4(memory, at, end, frame);
            case Ethernet.TYPE_IPV6 -> readIpv6(memory, at, end, frame);
            default -> FOREIGN;
        };
    }

    /// Checks the IPv4 header as the kernel does before a socket gets a packet (RFC 1122, 3.2.1).
    private int readIpv4(MemorySegment memory, int at, int end, Frame frame) {
        int udp = at + IPV4_BYTES;
        if (udp > end || BigEndian.u8(memory, at) != WITHOUT_OPTIONS) { // IBTA A17.3.1
            return MALFORMED;
        }
        if (BigEndian.u8(memory, at + 9) != RoceV2.PROTOCOL_UDP) {
            return FOREIGN;
        }
        int flags = BigEndian.u16(memory, at + 6);
        if ((flags & RoceV2.FRAGMENT_BITS) != 0 || InternetChecksum.of(memory, at, IPV4_BYTES) != 0) {
            return MALFORMED;
        }
        int start = readUdp(memory, udp, BigEndian.u16(memory, at + 2) - IPV4_BYTES, end, frame);
        if (start >= 0) {
            identification = BigEndian.u16(memory, at + 4);
            flagsFragment = flags;
            frame.trafficClass = BigEndian.u8(memory, at + 1);
            frame.hopLimit = BigEndian.u8(memory, at + 8);
            frame.sourceHigh = 0;
            frame.sourceLow = RoceV2.MAPPED_IPV4 | BigEndian.u32(memory, at + 12);
            frame.destinationHigh = 0;
            frame.destinationLow = RoceV2.MAPPED_IPV4 | BigEndian.u32(memory, at + 16);
        }
        return start;
    }

    private int readIpv6(MemorySegment memory, int at, int end, Frame frame) {
        int udp = at + IPV6_BYTES;
        if (udp > end || Grh.version(memory, at) != VERSION_6) {
            return MALFORMED;
        }
        if (Grh.nextHeader(memory, at) != RoceV2.PROTOCOL_UDP) {
            return FOREIGN; // extension headers too: RoCE has none
        }
        int start = readUdp(memory, udp, Grh.payloadLength(memory, at), end, frame);
        if (start >= 0) {
            frame.trafficClass = Grh.trafficClass(memory, at);
            frame.hopLimit = Grh.hopLimit(memory, at);
            frame.sourceHigh = Grh.sourceHigh(memory, at);
            frame.sourceLow = Grh.sourceLow(memory, at);
            frame.destinationHigh = Grh.destinationHigh(memory, at);
            frame.destinationLow = Grh.destinationLow(memory, at);
            if (isIpv4(frame) || RoceV2.isIpv4(frame.sourceHigh, frame.sourceLow)) {
                return MALFORMED; // a GID of this form stands for IPv4, and IPv6 on a wire has none (RFC 4942, 2.2)
            }
        }
        return start;
    }

    /// @param length of UDP header and packet, by the IP header
    private int readUdp(MemorySegment memory, int udp, int length, int end, Frame frame) {
        int start = udp + RoceV2.UDP_BYTES;
        if (start > end) {
            return MALFORMED;
        }
        int port = BigEndian.u16(memory, udp + 2);
        if (port != RoceV2.UDP_PORT && (secondPort == 0 || port != secondPort)) {
            return FOREIGN;
        }
        int packet = length - RoceV2.UDP_BYTES;
        if (BigEndian.u16(memory, udp + 4) != length || !NetworkHeaders.isPossible(packet, end - start)) {
            return MALFORMED;
        }
        frame.length = packet;
        frame.secondPort = port == RoceV2.UDP_PORT ? 0 : port;
        frame.sourcePort = BigEndian.u16(memory, udp);
        return start;
    }

    @Override
    public boolean verify(Frame frame) {
        return roce.verify(frame, identification, flagsFragment);
    }
}
