package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The headers of links: finds the network header behind them, with its EtherType and its offset. A table of
/// [LinkType] in code.
final class LinkHeaders {
    /// The result of [#find] when the bytes end before the headers do.
    static final long TRUNCATED = -1;
    /// The result of [#find] for headers that it does not know.
    static final long UNKNOWN = -2;
    /// A value in place of an EtherType: a local route header of InfiniBand begins there.
    static final int INFINIBAND = 0x1_0000;
    // Others, of what is not taken off; the lower 16 bits of the last two are the protocol and the family.
    static final int LLC = 0x2_0000;
    static final int TAGS = 0x3_0000;
    static final int NO_IP = 0x4_0000;
    static final int PPP = 0x5_0000;
    static final int FAMILY = 0x6_0000;

    static final int TYPE_IPV4 = 0x0800;
    static final int TYPE_IPV6 = 0x86DD;
    /// Ethernet in a tunnel.
    static final int TYPE_BRIDGED = 0x6558;
    static final int TYPE_MPLS = 0x8847;
    static final int TYPE_MPLS_MULTICAST = 0x8848;
    static final int TYPE_NSH = 0x894F;

    private static final int MAC_BYTES = 6;
    private static final int TAG_BYTES = 4;
    private static final int TAGS_MAX = 8;
    private static final int TYPE_MIN = 0x600;
    /// Behind a length: LLC and SNAP of an unnumbered frame, and then an EtherType.
    private static final int LLC_SNAP = 0xAAAA;

    private static final int SNAP_BYTES = 6;
    private static final int PPP_IPV4 = 0x21;
    private static final int PPP_IPV6 = 0x57;
    private static final int PPP_MPLS = 0x281;
    private static final int PPP_MPLS_MULTICAST = 0x283;
    private static final int PPP_ADDRESS = 0xFF03;
    private static final int PPPOE_BYTES = 6;
    private static final int PBB_BYTES = 4;
    private static final int TRILL_BYTES = 6;
    private static final int NSH_BYTES = 8;
    // Types of records of ERF.
    private static final int ERF_HDLC_POS = 1;
    private static final int ERF_ETHERNET = 2;
    private static final int ERF_COLOR_HDLC_POS = 10;
    private static final int ERF_COLOR_ETHERNET = 11;
    private static final int ERF_DSM_COLOR_HDLC_POS = 15;
    private static final int ERF_DSM_COLOR_ETHERNET = 16;
    private static final int ERF_COLOR_HASH_POS = 19;
    private static final int ERF_COLOR_HASH_ETHERNET = 20;
    private static final int ERF_INFINIBAND = 21;
    private static final int ERF_IPV4 = 22;
    private static final int ERF_IPV6 = 23;
    private static final int ERF_EXTENSION_BYTES = 8;
    private static final int ERF_PAD_BYTES = 2;

    private LinkHeaders() {}

    /// Returns the EtherType of the network header in the upper 32 bits and its place in the lower 32, or a
    /// negative result.
    static long find(int linkType, MemorySegment bytes) {
        return switch (linkType) {
            case LinkType.ETHERNET -> ethernet(bytes, 0);
            case LinkType.RAW_IP, LinkType.IPV4, LinkType.IPV6, LinkType.RAW_IP_BSD, LinkType.RAW_IP_OPENBSD ->
                ip(bytes, 0);
            case LinkType.LINUX_COOKED -> typed(bytes, 14, 16);
            case LinkType.LINUX_COOKED_2 -> typed(bytes, 0, 20);
            case LinkType.NULL, LinkType.LOOP -> loopback(bytes);
            case LinkType.PPP, LinkType.PPP_HDLC -> ppp(bytes, 0);
            case LinkType.PPP_ETHERNET -> ppp(bytes, PPPOE_BYTES);
            case LinkType.CISCO_HDLC -> hdlc(bytes, 0);
            case LinkType.INFINIBAND -> found(INFINIBAND, 0);
            case LinkType.ERF -> erf(bytes);
            default -> UNKNOWN;
        };
    }

    /// Finds the network header behind Ethernet's headers, with their tags.
    static long ethernet(MemorySegment bytes, long at) {
        return typed(bytes, at + 2 * MAC_BYTES, at + 2 * MAC_BYTES + 2);
    }

    /// Finds the network header for an EtherType and the bytes that follow at `from`. Continues behind tags, and
    /// wrappings that end with another EtherType. What wraps a whole frame of Ethernet becomes [#TYPE_BRIDGED].
    static long typed(MemorySegment bytes, long type, long from) {
        long place = type;
        long at = from;
        for (int tags = 0; tags <= TAGS_MAX; tags++) {
            if (place + 2 > bytes.byteSize()) {
                return TRUNCATED;
            }
            int value = BigEndian.u16(bytes, place);
            int tag = tagBytes(value, bytes, at);
            if (tag == 0) {
                return untagged(value, bytes, at);
            }
            place = at + tag - 2;
            at += tag;
        }
        return found(TAGS, at);
    }

    /// Returns the bytes of a tag through the EtherType at its end; 0 for what is no tag.
    private static int tagBytes(int value, MemorySegment bytes, long at) {
        return switch (value) {
            case 0x8100, 0x88A8, 0x9100, 0x9200, 0x9300 -> TAG_BYTES;
            case 0x8926, 0x892F, 0xF1C1 -> TAG_BYTES + 2; // VNTAG, HSR, 802.1CB
            case 0x893F, 0x8909 -> TAG_BYTES + 4; // 802.1BR, Cisco's metadata
            case 0x88E5 -> { // MACsec: whether it is encrypted, and whether it has the name of its channel
                int flags = at < bytes.byteSize() ? BigEndian.u8(bytes, at) : 0;
                yield (flags & 0x0C) != 0 ? 0 : (flags & 0x20) != 0 ? 16 : 8;
            }
            default -> 0;
        };
    }

    private static long untagged(int value, MemorySegment bytes, long at) {
        return switch (value) {
            case TYPE_MPLS, TYPE_MPLS_MULTICAST -> mpls(bytes, at);
            case 0x8864 -> ppp(bytes, at + PPPOE_BYTES);
            case 0x88E7 -> found(TYPE_BRIDGED, at + PBB_BYTES);
            case 0x22F3 ->
                at + TRILL_BYTES > bytes.byteSize()
                        ? TRUNCATED
                        : found(TYPE_BRIDGED, at + TRILL_BYTES + 4L * (BigEndian.u16(bytes, at) >>> 6 & 0x1F));
            case TYPE_NSH -> nsh(bytes, at);
            case 0x4305 -> batman(bytes, at);
            default -> value < TYPE_MIN ? snap(bytes, at) : found(value, at);
        };
    }

    private static long snap(MemorySegment bytes, long at) {
        return at + SNAP_BYTES + 2 > bytes.byteSize() || BigEndian.u16(bytes, at) != LLC_SNAP
                ? found(LLC, at)
                : behindType(bytes, at + SNAP_BYTES, at + SNAP_BYTES + 2);
    }

    /// Finds the network header behind a service header (RFC 8300).
    static long nsh(MemorySegment bytes, long at) {
        if (at + NSH_BYTES > bytes.byteSize()) {
            return TRUNCATED;
        }
        long behind = at + 4L * (BigEndian.u8(bytes, at + 1) & 0x3F);
        return switch (BigEndian.u8(bytes, at + 3)) {
            case 1 -> found(TYPE_IPV4, behind);
            case 2 -> found(TYPE_IPV6, behind);
            case 3 -> found(TYPE_BRIDGED, behind);
            case 5 -> mpls(bytes, behind);
            default -> found(TYPE_NSH, at);
        };
    }

    /// Finds the frame of Ethernet in a packet of batman-adv to one node or to all; its fragments have none.
    private static long batman(MemorySegment bytes, long at) {
        return at >= bytes.byteSize()
                ? TRUNCATED
                : switch (BigEndian.u8(bytes, at)) {
                    case 0x01 -> found(TYPE_BRIDGED, at + 14);
                    case 0x40 -> found(TYPE_BRIDGED, at + 10);
                    case 0x42 -> found(TYPE_BRIDGED, at + 18);
                    default -> found(0x4305, at);
                };
    }

    /// Finds the network header behind a stack of labels of MPLS.
    static long mpls(MemorySegment bytes, long from) {
        for (long at = from; at + 4 <= bytes.byteSize(); at += 4) {
            if ((BigEndian.u8(bytes, at + 2) & 1) != 0) { // the bottom of the stack
                return ip(bytes, at + 4);
            }
        }
        return TRUNCATED;
    }

    private static long ppp(MemorySegment bytes, long from) {
        long at = from;
        if (at + 4 > bytes.byteSize()) {
            return TRUNCATED;
        }
        if (BigEndian.u16(bytes, at) == PPP_ADDRESS) {
            at += 2;
        } else if (BigEndian.u16(bytes, at) >>> 8 == 0x0F || BigEndian.u16(bytes, at) >>> 8 == 0x8F) {
            return hdlc(bytes, at);
        }
        int protocol = BigEndian.u16(bytes, at);
        if ((protocol & 0x100) != 0) { // the protocol is compressed to one byte
            protocol >>>= 8;
            at -= 1;
        }
        return switch (protocol) {
            case PPP_IPV4 -> found(TYPE_IPV4, at + 2);
            case PPP_IPV6 -> found(TYPE_IPV6, at + 2);
            case PPP_MPLS, PPP_MPLS_MULTICAST -> mpls(bytes, at + 2);
            default -> found(PPP | protocol, at + 2);
        };
    }

    private static long hdlc(MemorySegment bytes, long at) {
        long found = behindType(bytes, at + 2, at + 4);
        int type = (int) (found >>> 32);
        return type == TYPE_MPLS || type == TYPE_MPLS_MULTICAST ? mpls(bytes, at + 4) : found;
    }

    /// Finds the IP header behind a family of addresses. The family is in the byte order of the capturing host,
    /// whichever that is; systems number IPv6 differently.
    private static long loopback(MemorySegment bytes) {
        if (bytes.byteSize() < 4) {
            return TRUNCATED;
        }
        int word = BigEndian.i32(bytes, 0);
        int family = (word & 0xFFFF) == 0 ? Integer.reverseBytes(word) : word;
        return switch (family) {
            case 2 -> found(TYPE_IPV4, 4);
            case 10, 23, 24, 28, 30 -> found(TYPE_IPV6, 4);
            default -> found(FAMILY | (family & 0xFFFF), 4);
        };
    }

    private static long erf(MemorySegment bytes) {
        if (bytes.byteSize() <= ErfHeader.BYTES) {
            return TRUNCATED;
        }
        long at = ErfHeader.BYTES;
        int type = BigEndian.u8(bytes, 8);
        for (boolean more = (type & 0x80) != 0; more; at += ERF_EXTENSION_BYTES) {
            if (at + ERF_EXTENSION_BYTES > bytes.byteSize()) {
                return TRUNCATED;
            }
            more = (BigEndian.u8(bytes, at) & 0x80) != 0;
        }
        return switch (type & 0x7F) {
            case ERF_INFINIBAND -> found(INFINIBAND, at);
            case ERF_ETHERNET, ERF_COLOR_ETHERNET, ERF_DSM_COLOR_ETHERNET, ERF_COLOR_HASH_ETHERNET ->
                ethernet(bytes, at + ERF_PAD_BYTES);
            case ERF_HDLC_POS, ERF_COLOR_HDLC_POS, ERF_DSM_COLOR_HDLC_POS, ERF_COLOR_HASH_POS -> ppp(bytes, at);
            case ERF_IPV4 -> found(TYPE_IPV4, at);
            case ERF_IPV6 -> found(TYPE_IPV6, at);
            default -> UNKNOWN;
        };
    }

    /// Returns the place of an IP header, of the version in its first bits.
    static long ip(MemorySegment bytes, long at) {
        if (at >= bytes.byteSize()) {
            return TRUNCATED;
        }
        return switch (BigEndian.u8(bytes, at) >>> 4) {
            case 4 -> found(TYPE_IPV4, at);
            case 6 -> found(TYPE_IPV6, at);
            default -> found(NO_IP, at);
        };
    }

    private static long behindType(MemorySegment bytes, long type, long at) {
        return bytes.byteSize() < at ? TRUNCATED : found(BigEndian.u16(bytes, type), at);
    }

    static long found(int type, long at) {
        return (long) type << 32 | at;
    }
}
