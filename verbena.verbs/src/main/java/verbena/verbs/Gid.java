package verbena.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/// A global identifier: the 128-bit address of a port (IBTA 4.1.1). On RoCE v2 it is an IPv6 address, or an IPv4
/// address in the form `::ffff:a.b.c.d` (IBTA A17.4). Immutable.
///
/// @param high the first eight bytes, as a big-endian number
/// @param low the last eight bytes, as a big-endian number
/// @since 0.1
public record Gid(long high, long low) {
    /// Size on the wire, in bytes.
    public static final int BYTES = 16;

    /// Returns the GID of an IP address.
    public static Gid of(InetAddress address) {
        byte[] a = address.getAddress();
        ByteBuffer b = ByteBuffer.wrap(a);
        return a.length == 4
                ? new Gid(0, 0xFFFF_0000_0000L | Integer.toUnsignedLong(b.getInt()))
                : new Gid(b.getLong(), b.getLong());
    }

    /// Returns the GID written as an IPv6 or IPv4 literal, or as eight groups of four hexadecimal digits as
    /// `ibv_devinfo` prints it. Never asks a name service.
    ///
    /// @throws IllegalArgumentException when `text` is no such literal
    public static Gid parse(String text) {
        try {
            return of(InetAddress.ofLiteral(text));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("gid: \"" + text + "\" is no IPv4 or IPv6 address", e);
        }
    }

    /// Returns whether this is an IPv4 address in GID form.
    public boolean isIpv4() {
        return high == 0 && low >>> 32 == 0xFFFF;
    }

    /// Returns whether this is a link-local IPv6 address (`fe80::/10`).
    public boolean isLinkLocal() {
        return high >>> 54 == 0xFE80 >>> 6;
    }

    /// Returns whether this is the address of a multicast group: `ff00::/8`, or `224.0.0.0/4` in GID form.
    public boolean isMulticast() {
        return isIpv4() ? (low >>> 28 & 0xF) == 0xE : high >>> 56 == 0xFF;
    }

    /// Returns the IP address: an IPv4 address when [#isIpv4()].
    public InetAddress address() {
        try {
            return isIpv4()
                    ? Inet4Address.getByAddress(
                            ByteBuffer.allocate(4).putInt((int) low).array())
                    : InetAddress.getByAddress(bytes());
        } catch (UnknownHostException e) {
            throw new AssertionError("4 and 16 bytes are always an address", e);
        }
    }

    /// Returns the sixteen bytes in network order.
    public byte[] bytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    /// Returns eight groups of four hexadecimal digits, as rdma-core prints a GID.
    public String groups() {
        String hex = HexFormat.of().formatHex(bytes());
        var groups = new StringBuilder(39);
        for (int i = 0; i < hex.length(); i += 4) {
            groups.append(i == 0 ? "" : ":").append(hex, i, i + 4);
        }
        return groups.toString();
    }

    /// Returns the shortest usual form: `10.77.0.1`, or an IPv6 address as RFC 5952 writes it, `fd77::1`.
    @Override
    public String toString() {
        return isIpv4() ? address().getHostAddress() : compressed();
    }

    // RFC 5952, 4.2: the longest run of two or more zero groups becomes "::", the first of equals.
    private String compressed() {
        String[] groups = groups().split(":", -1);
        int runStart = -1;
        int runLength = 1;
        for (int i = 0; i < groups.length; i++) {
            int end = i;
            while (end < groups.length && groups[end].equals("0000")) {
                end++;
            }
            if (end - i > runLength) {
                runStart = i;
                runLength = end - i;
            }
            i = Math.max(i, end - 1);
        }
        var text = new StringBuilder();
        for (int i = 0; i < groups.length; i++) {
            if (i == runStart) {
                text.append("::");
                i += runLength - 1;
            } else {
                boolean first = text.isEmpty() || text.charAt(text.length() - 1) == ':';
                text.append(first ? "" : ":").append(Integer.toHexString(Integer.parseInt(groups[i], 16)));
            }
        }
        return text.toString();
    }
}
