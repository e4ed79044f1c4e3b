package verbena.wire.roce;

import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Transport;

/// RoCE v2: IB transport packets in UDP (IBTA A17). Seals and verifies the ICRC, which covers IP and UDP headers
/// too, and knows how source ports spread flows.
///
/// A packet is IPv4 when its destination GID is `::ffff:a.b.c.d`, else IPv6. Lengths are those of [Frame#length];
/// a verified frame holds at least a BTH and an ICRC, as [verbena.wire.ib.Packet#check(Frame)] has found.
///
/// ### What a socket hides The ICRC covers the IPv4 identification and the fragment field (IBTA A17.3.3 masks
/// neither), but a UDP socket neither sets nor shows them. On transmission Linux uses ID 0 with DF set for an
/// unconnected socket that forbids fragmentation. The segments of one GSO send have 0, 1, 2, …: hence [#seal(Frame,
/// int)] and [#verify(Frame, int)]. On receipt [#verify(Frame)] uses that CRC is linear. A difference between the
/// ICRC found and the one for ID 0 must be explained by the 16 bits of the ID alone. Packets of other transports
/// than RC and UC, which soft-RoCE has been seen to send without DF, may also differ in that bit.
///
/// That leaves 16 bits of strength on RC and UC and 15 elsewhere: bytes at random are accepted with a probability
/// of 2^-16 or 2^-15. On RC and UC one flipped bit is noticed wherever it is, in packets of any size. Elsewhere
/// there are two exceptions: bit 3 of the packet's byte 173 and bit 6 of byte 1834 look like a missing DF with
/// another ID. IPv6 hides nothing that is covered; there the check has its full 32 bits.
///
/// One owner; no allocation.
public final class RoceV2 {
    /// UDP destination port of RoCE v2 (IANA).
    public static final int UDP_PORT = 4791;
    /// Bytes of IPv4 header (without options, as A17 demands) and UDP header.
    public static final int IPV4_OVERHEAD = 28;
    /// Bytes of IPv6 and UDP header.
    public static final int IPV6_OVERHEAD = 48;
    /// The IPv4 flags and fragment offset of a packet that must not be fragmented.
    public static final int DONT_FRAGMENT = 0x4000;
    /// The bits of these that a fragment has: more fragments, and the offset.
    public static final int FRAGMENT_BITS = 0x3FFF;
    /// The lower half of the GID of an IPv4 address, without the address.
    public static final long MAPPED_IPV4 = 0xFFFF_0000_0000L;

    /// Bytes of a UDP header.
    public static final int UDP_BYTES = 8;
    /// The protocol number of UDP, in IPv4 and IPv6.
    public static final int PROTOCOL_UDP = 17;
    // From the IPv4 identification to the BTH.
    private static final int AFTER_IDENTIFICATION = IPV4_OVERHEAD - 4;
    private static final int[] INVERSE_BYTE_POWERS =
            Crc32Algebra.inverseBytePowers(AFTER_IDENTIFICATION + Frame.PACKET_MAX);
    // ID high, ID low and flags byte as they enter a CRC register: the first byte lowest.
    private static final int HIDDEN_CONNECTED = 0x0000_FFFF;
    private static final int HIDDEN_OTHERWISE = 0x0040_FFFF;

    private final Icrc icrc = new Icrc();
    private final Preserved before = new Preserved();
    private int identification;

    /// Makes a checker for one owner.
    public RoceV2() {}

    /// Returns whether a GID is an IPv4 address: `::ffff:a.b.c.d`.
    public static boolean isIpv4(long gidHigh, long gidLow) {
        return gidHigh == 0 && gidLow >>> 32 == 0xFFFF;
    }

    /// Returns whether a GID is a multicast group's: `ff00::/8`, or `224.0.0.0/4` as an IPv4 address.
    public static boolean isMulticast(long gidHigh, long gidLow) {
        return isIpv4(gidHigh, gidLow) ? (gidLow >>> 28 & 0xF) == 0xE : gidHigh >>> 56 == 0xFF;
    }

    /// Returns the flow label of a connection, 20 bits, the same seen from both ends (IBTA A17.4.3 leaves it open;
    /// Linux computes the same, `rdma_calc_flow_label`).
    public static int flowLabel(int localQpn, int remoteQpn) {
        long v = (long) localQpn * remoteQpn;
        v ^= v >>> 20;
        v ^= v >>> 40;
        return (int) (v & 0xF_FFFF);
    }

    /// Returns the UDP source port of a flow label, `0xC000..0xFFFF` (Linux, `rdma_flow_label_to_udp_sport`).
    public static int udpSourcePort(int flowLabel) {
        return 0xC000 | ((flowLabel & 0x3FFF) ^ ((flowLabel & 0xF_C000) >>> 14));
    }

    /// Returns the UDP source port of a connection that was given no flow label.
    public static int udpSourcePort(int localQpn, int remoteQpn) {
        return udpSourcePort(flowLabel(localQpn, remoteQpn));
    }

    /// Writes the ICRC of the packet as a socket will send it: IPv4 with `ipv4Identification` and DF set, or IPv6,
    /// where the argument means nothing.
    public void seal(Frame frame, int ipv4Identification) {
        seal(frame, ipv4Identification, DONT_FRAGMENT);
    }

    /// Writes the ICRC for any IPv4 fragment field.
    public void seal(Frame frame, int ipv4Identification, int flagsFragment) {
        Icrc.store(frame, compute(frame, ipv4Identification, flagsFragment));
    }

    /// Returns whether the ICRC is right as far as it can be known without the IPv4 header: see "What a socket
    /// hides".
    public boolean verify(Frame frame) {
        return verify(frame, 0);
    }

    /// Returns the same, quicker when the IPv4 identification is the guessed value.
    public boolean verify(Frame frame, int likelyIdentification) {
        before.keep(frame);
        long hidden = hiddenFields(frame, likelyIdentification);
        before.restore(frame);
        if (hidden < 0) {
            return false;
        }
        identification = (int) (hidden >>> 16);
        return true;
    }

    /// Returns the IPv4 identification of the last packet that [#verify(Frame, int)] has found right.
    public int identification() {
        return identification;
    }

    /// Returns whether the ICRC is right for this IPv4 identification and fragment field; exact. IPv6 ignores both.
    public boolean verify(Frame frame, int ipv4Identification, int flagsFragment) {
        before.keep(frame);
        boolean right = Icrc.stored(frame) == compute(frame, ipv4Identification, flagsFragment);
        before.restore(frame);
        return right;
    }

    /// Returns the IPv4 identification (bits 16 to 31) and fragment field (low 16 bits: 0x4000 or 0) that make the
    /// ICRC right. There is at most one such pair; -1 when there is none. For a right IPv6 packet the result is
    /// 0x4000, which has no meaning.
    public long hiddenFields(Frame frame) {
        return hiddenFields(frame, 0);
    }

    private long hiddenFields(Frame frame, int likely) {
        int difference = Icrc.stored(frame) ^ compute(frame, likely, DONT_FRAGMENT);
        if (difference == 0) {
            return (long) likely << 16 | DONT_FRAGMENT;
        }
        if (!isIpv4(frame.destinationHigh, frame.destinationLow)) {
            return -1;
        }
        // Back over everything behind the identification: what is left is the difference where it arose.
        int covered = AFTER_IDENTIFICATION + frame.length - Icrc.BYTES;
        int origin = Crc32Algebra.multiply(difference, INVERSE_BYTE_POWERS[covered]);
        int hidden = isConnected(frame) ? HIDDEN_CONNECTED : HIDDEN_OTHERWISE;
        if ((origin & ~hidden) != 0) {
            return -1;
        }
        long identification = likely ^ Short.toUnsignedInt(Short.reverseBytes((short) origin));
        return (identification << 16) | (((origin >>> 8) & DONT_FRAGMENT) ^ DONT_FRAGMENT);
    }

    private static boolean isConnected(Frame frame) {
        int transport = BigEndian.u8(frame.slot, frame.start) & 0xE0;
        return transport == Transport.RC.prefix() || transport == Transport.UC.prefix();
    }

    private int compute(Frame frame, int ipv4Identification, int flagsFragment) {
        return isIpv4(frame.destinationHigh, frame.destinationLow)
                ? computeIpv4(frame, ipv4Identification, flagsFragment)
                : computeIpv6(frame);
    }

    // Ones in place of TOS, time to live and both checksums.
    private int computeIpv4(Frame frame, int identification, int flagsFragment) {
        int at = frame.start - IPV4_OVERHEAD;
        int udpLength = UDP_BYTES + frame.length;
        int totalLength = IPV4_OVERHEAD + frame.length;
        BigEndian.put64(frame.slot, at - Icrc.LRH_BYTES, Icrc.LRH_STAND_IN);
        BigEndian.put32(frame.slot, at, 0x45FF_0000 | totalLength);
        BigEndian.put32(frame.slot, at + 4, (identification << 16) | (flagsFragment & 0xFFFF));
        BigEndian.put32(frame.slot, at + 8, 0xFF00_FFFF | (PROTOCOL_UDP << 16));
        BigEndian.put32(frame.slot, at + 12, (int) frame.sourceLow);
        BigEndian.put32(frame.slot, at + 16, (int) frame.destinationLow);
        putUdp(frame, udpLength);
        return icrc.compute(frame, at - Icrc.LRH_BYTES);
    }

    // Ones in place of traffic class, flow label, hop limit and UDP checksum.
    private int computeIpv6(Frame frame) {
        int at = frame.start - IPV6_OVERHEAD;
        int udpLength = UDP_BYTES + frame.length;
        BigEndian.put64(frame.slot, at - Icrc.LRH_BYTES, Icrc.LRH_STAND_IN);
        BigEndian.put32(frame.slot, at, 0x6FFF_FFFF);
        BigEndian.put32(frame.slot, at + 4, (udpLength << 16) | (PROTOCOL_UDP << 8) | 0xFF);
        BigEndian.put64(frame.slot, at + 8, frame.sourceHigh);
        BigEndian.put64(frame.slot, at + 16, frame.sourceLow);
        BigEndian.put64(frame.slot, at + 24, frame.destinationHigh);
        BigEndian.put64(frame.slot, at + 32, frame.destinationLow);
        putUdp(frame, udpLength);
        return icrc.compute(frame, at - Icrc.LRH_BYTES);
    }

    private static void putUdp(Frame frame, int udpLength) {
        long at = (long) frame.start - UDP_BYTES;
        BigEndian.put32(frame.slot, at, (frame.sourcePort << 16) | UDP_PORT);
        BigEndian.put32(frame.slot, at + 4, (udpLength << 16) | 0xFFFF);
    }
}
