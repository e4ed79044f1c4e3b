package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Finds the packet that a packet of IP carries: IP in IP, GRE (RFC 2784, RFC 2890), VXLAN (RFC 7348) and Geneve
/// (RFC 8926).
final class Tunnels {
    /// What [#find] answers when it carries none.
    static final long NONE = Long.MIN_VALUE;

    private static final int IPV4 = 4;
    private static final int UDP = 17;
    private static final int IPV6 = 41;
    private static final int GRE = 47;
    private static final int UDP_BYTES = 8;
    private static final int PORT_VXLAN = 4789;
    private static final int PORT_GENEVE = 6081;
    private static final int TUNNEL_BYTES = 8;

    private Tunnels() {}

    /// As [LinkHeaders#find], for what is behind the headers of IP.
    static long find(int protocol, MemorySegment bytes, long at) {
        return switch (protocol) {
            case IPV4 -> found(LinkHeaders.TYPE_IPV4, at);
            case IPV6 -> found(LinkHeaders.TYPE_IPV6, at);
            case GRE -> gre(bytes, at);
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
        return found(BigEndian.u16(bytes, at + 2), at + 4 + options);
    }

    private static long udp(MemorySegment bytes, long at) {
        long inner = at + UDP_BYTES;
        if (inner + TUNNEL_BYTES > bytes.byteSize()) {
            return NONE;
        }
        return switch (BigEndian.u16(bytes, at + 2)) {
            case PORT_VXLAN -> found(LinkHeaders.TYPE_BRIDGED, inner + TUNNEL_BYTES);
            case PORT_GENEVE -> {
                int options = 4 * (BigEndian.u8(bytes, inner) & 0x3F);
                yield found(BigEndian.u16(bytes, inner + 2), inner + TUNNEL_BYTES + options);
            }
            default -> NONE;
        };
    }

    private static long found(int type, long at) {
        return (long) type << 32 | at;
    }
}
