package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The tunnels in which a packet of IP carries another packet. Directly behind IP: another IP, GRE (RFC 2784,
/// RFC 2890), ERSPAN as switches mirror with it, Ethernet (RFC 3378, RFC 8986), MPLS (RFC 4023). Behind UDP: VXLAN
/// (RFC 7348) and its extension, Geneve (RFC 8926), MPLS (RFC 7510), LISP (RFC 9300), GTP-U of mobile networks.
final class Tunnels {
    /// The result of [#find] for a packet that carries no other packet.
    static final long NONE = Long.MIN_VALUE;

    private static final int IPV4 = 4;
    private static final int UDP = 17;
    private static final int IPV6 = 41;
    private static final int GRE = 47;
    private static final int ETHERNET_IN_IP = 97;
    private static final int MPLS_IN_IP = 137;
    private static final int ETHERNET = 143;
    // Headers before the one that counts. Linux puts the second kind of options before what an IPv6 tunnel carries.
    private static final int HOP_BY_HOP = 0;
    private static final int ROUTING = 43;
    private static final int AUTHENTICATION = 51;
    private static final int DESTINATION_OPTIONS = 60;

    private static final int ERSPAN = 0x88BE;
    private static final int ERSPAN_3 = 0x22EB;
    private static final int UDP_BYTES = 8;
    private static final int PORT_GTP = 2152;
    private static final int PORT_LISP = 4341;
    private static final int PORT_VXLAN = 4789;
    private static final int PORT_VXLAN_GPE = 4790;
    private static final int PORT_GENEVE = 6081;
    private static final int PORT_MPLS = 6635;
    private static final int TUNNEL_BYTES = 8;
    private static final int GTP_VERSION_1 = 0x30;
    private static final int GTP_DATA = 0xFF;

    private Tunnels() {}

    /// Finds the network header of the packet behind the headers of IP; results as of [LinkHeaders#find].
    static long find(int first, MemorySegment bytes, long from) {
        int protocol = first;
        long at = from;
        while (protocol == HOP_BY_HOP
                || protocol == ROUTING
                || protocol == DESTINATION_OPTIONS
                || protocol == AUTHENTICATION) {
            if (at + 2 > bytes.byteSize()) {
                return LinkHeaders.TRUNCATED;
            }
            int length = BigEndian.u8(bytes, at + 1);
            int next = BigEndian.u8(bytes, at);
            at += protocol == AUTHENTICATION ? 4L * (length + 2) : 8L * (length + 1);
            protocol = next;
        }
        return switch (protocol) {
            case IPV4 -> LinkHeaders.found(LinkHeaders.TYPE_IPV4, at);
            case IPV6 -> LinkHeaders.found(LinkHeaders.TYPE_IPV6, at);
            case GRE -> gre(bytes, at);
            case ETHERNET_IN_IP -> LinkHeaders.found(LinkHeaders.TYPE_BRIDGED, at + 2);
            case MPLS_IN_IP -> LinkHeaders.mpls(bytes, at);
            case ETHERNET -> LinkHeaders.found(LinkHeaders.TYPE_BRIDGED, at);
            case UDP -> udp(bytes, at);
            default -> NONE;
        };
    }

    private static long gre(MemorySegment bytes, long at) {
        if (at + 4 > bytes.byteSize()) {
            return LinkHeaders.TRUNCATED;
        }
        int flags = BigEndian.u16(bytes, at);
        if ((flags & 7) != 0) { // another version: PPTP
            return NONE;
        }
        boolean hasChecksum = (flags & 0xC000) != 0; // or routing, which has its place
        int options = (hasChecksum ? 4 : 0) + ((flags & 0x2000) != 0 ? 4 : 0) + ((flags & 0x1000) != 0 ? 4 : 0);
        long inner = at + 4 + options;
        return switch (BigEndian.u16(bytes, at + 2)) {
            // The first version has no header and no number.
            case ERSPAN -> LinkHeaders.ethernet(bytes, inner + ((flags & 0x1000) != 0 ? 8 : 0));
            case ERSPAN_3 ->
                inner + 12 > bytes.byteSize()
                        ? LinkHeaders.TRUNCATED
                        : LinkHeaders.ethernet(bytes, inner + ((BigEndian.u8(bytes, inner + 11) & 1) != 0 ? 20 : 12));
            default -> LinkHeaders.typed(bytes, at + 2, inner);
        };
    }

    private static long udp(MemorySegment bytes, long at) {
        long inner = at + UDP_BYTES;
        if (inner + TUNNEL_BYTES > bytes.byteSize()) {
            return NONE;
        }
        long behind = inner + TUNNEL_BYTES;
        return switch (BigEndian.u16(bytes, at + 2)) {
            case PORT_VXLAN -> LinkHeaders.ethernet(bytes, behind);
            case PORT_VXLAN_GPE -> {
                boolean saysWhat = (BigEndian.u8(bytes, inner) & 4) != 0;
                yield switch (saysWhat ? BigEndian.u8(bytes, inner + 3) : 3) {
                    case 1 -> LinkHeaders.found(LinkHeaders.TYPE_IPV4, behind);
                    case 2 -> LinkHeaders.found(LinkHeaders.TYPE_IPV6, behind);
                    case 3 -> LinkHeaders.ethernet(bytes, behind);
                    case 4 -> LinkHeaders.nsh(bytes, behind);
                    case 5 -> LinkHeaders.mpls(bytes, behind);
                    default -> NONE;
                };
            }
            case PORT_GENEVE -> {
                int options = 4 * (BigEndian.u8(bytes, inner) & 0x3F);
                yield LinkHeaders.typed(bytes, inner + 2, behind + options);
            }
            case PORT_MPLS -> LinkHeaders.mpls(bytes, inner);
            case PORT_LISP -> LinkHeaders.ip(bytes, behind);
            case PORT_GTP -> gtp(bytes, inner);
            default -> NONE;
        };
    }

    /// Finds the IP header behind GTP-U's headers (3GPP TS 29.281, 5.1 and 5.2).
    private static long gtp(MemorySegment bytes, long from) {
        int flags = BigEndian.u8(bytes, from);
        if ((flags & 0xF0) != GTP_VERSION_1 || BigEndian.u8(bytes, from + 1) != GTP_DATA) {
            return NONE;
        }
        long at = from + TUNNEL_BYTES;
        if ((flags & 7) == 0) {
            return LinkHeaders.ip(bytes, at);
        }
        at += 4;
        boolean more = (flags & 4) != 0;
        while (at <= bytes.byteSize()) {
            if (!more || BigEndian.u8(bytes, at - 1) == 0) {
                return LinkHeaders.ip(bytes, at);
            }
            int words = at < bytes.byteSize() ? BigEndian.u8(bytes, at) : 1;
            if (words == 0) {
                return NONE;
            }
            at += 4L * words;
        }
        return LinkHeaders.TRUNCATED;
    }
}
