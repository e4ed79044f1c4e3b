package verbena.tools.kit;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import verbena.verbs.Gid;
import verbena.verbs.cm.ConnectionId;

/// Addresses as the programs of rdma-core write them.
public final class Addresses {
    private Addresses() {}

    /// Returns a GID as inet_ntop(3) writes it: the shortest form of RFC 5952, and `::ffff:10.0.0.1` for an IPv4
    /// address.
    public static String gid(Gid gid) {
        return gid.isIpv4() ? "::ffff:" + gid : gid.toString();
    }

    /// Returns an IP address in its shortest form, with the zone where it has one.
    public static String ip(InetAddress address) {
        if (address instanceof Inet6Address six) {
            String zone = six.getScopedInterface() != null
                    ? "%" + six.getScopedInterface().getName()
                    : six.getScopeId() != 0 ? "%" + six.getScopeId() : "";
            return Gid.of(address) + zone;
        }
        return address.getHostAddress();
    }

    /// Returns an IP address and a port, for messages.
    public static String port(InetSocketAddress at) {
        return ip(at.getAddress()) + " port " + at.getPort();
    }

    /// Returns the other end of a connection, for messages.
    public static String peer(ConnectionId id) {
        return id.peerAddress().map(Addresses::port).orElse("no peer");
    }

    /// Returns the line that a server prints on standard error: where it listens, and the command to call there.
    ///
    /// @param command with `%s` for the address and `%d` for the port
    public static String waits(InetSocketAddress at, String command) {
        boolean isEvery = at.getAddress().isAnyLocalAddress();
        String where = isEvery ? "every address" : ip(at.getAddress());
        return "waits for a client on " + where + " port " + at.getPort() + "; there: verbena "
                + command.formatted(isEvery ? "ADDRESS" : where, at.getPort());
    }

    /// Returns a GUID in four groups, as `ibv_devinfo` writes it.
    public static String guid(long guid) {
        String hex = HexFormat.of().toHexDigits(guid);
        return String.join(":", hex.substring(0, 4), hex.substring(4, 8), hex.substring(8, 12), hex.substring(12));
    }
}
