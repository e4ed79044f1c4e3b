package verbena.tools;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.HexFormat;
import verbena.verbs.Gid;

/// Addresses as the programs of rdma-core write them.
final class Addresses {
    private Addresses() {}

    /// A GID as inet_ntop(3) writes it: the shortest form of RFC 5952, and `::ffff:10.0.0.1` for an IPv4 address.
    static String gid(Gid gid) {
        return gid.isIpv4() ? "::ffff:" + gid.address().getHostAddress() : ipv6(gid);
    }

    /// An IP address in its shortest form, with the zone where it has one.
    static String ip(InetAddress address) {
        if (address instanceof Inet6Address six) {
            String zone = six.getScopedInterface() != null
                    ? "%" + six.getScopedInterface().getName()
                    : six.getScopeId() != 0 ? "%" + six.getScopeId() : "";
            return ipv6(Gid.of(address)) + zone;
        }
        return address.getHostAddress();
    }

    /// A GID as the address that it is: plain IPv4 or IPv6.
    static String plain(Gid gid) {
        return gid.isIpv4() ? gid.address().getHostAddress() : ipv6(gid);
    }

    /// A GUID in four groups, as `ibv_devinfo` writes it.
    static String guid(long guid) {
        String hex = HexFormat.of().toHexDigits(guid);
        return String.join(":", hex.substring(0, 4), hex.substring(4, 8), hex.substring(8, 12), hex.substring(12));
    }

    // RFC 5952, 4.2: the longest run of two or more zero groups becomes "::", the first of equals.
    private static String ipv6(Gid gid) {
        String[] groups = gid.groups().split(":", -1);
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
