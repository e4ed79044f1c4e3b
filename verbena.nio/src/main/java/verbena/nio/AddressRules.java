package verbena.nio;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A list of addresses and ports, separated by commas. An entry is a host, or a colon and ports, or both:
///
/// - `*` is every host, `local` every loopback, link-local or private address and those of this host;
/// - `10.0.0.7` is one, `10.0.0.0/8` are those with the same first bits; IPv6 stands in brackets: `[fd00::]/8`;
/// - `:9092` is one port, `:9000-9999` are several.
///
/// No name is looked up. Immutable.
final class AddressRules {
    private final List<Rule> rules = new ArrayList<>();

    /// @param network null for the addresses that are local
    private record Rule(boolean isAny, @Nullable InetAddress network, int bits, int firstPort, int lastPort) {
        boolean match(InetSocketAddress peer) {
            return peer.getPort() >= firstPort && peer.getPort() <= lastPort && (isAny || matchHost(peer.getAddress()));
        }

        private boolean matchHost(InetAddress host) {
            if (network == null) {
                return Routes.isLocal(host);
            }
            byte[] address = host.getAddress();
            byte[] wanted = network.getAddress();
            if (address.length != wanted.length) {
                return false;
            }
            for (int i = 0; i < bits; i++) {
                int mask = 0x80 >> (i & 7);
                if (((address[i >> 3] ^ wanted[i >> 3]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /// @throws IllegalArgumentException when the text is no such list
    AddressRules(String text) {
        for (String entry : text.split(",", -1)) {
            if (!entry.isBlank()) {
                rules.add(parse(entry.strip()));
            }
        }
    }

    boolean match(InetSocketAddress peer) {
        for (Rule rule : rules) {
            if (rule.match(peer)) {
                return true;
            }
        }
        return false;
    }

    private static Rule parse(String entry) {
        try {
            int close = entry.indexOf(']');
            int colon = entry.indexOf(':', Math.max(0, close));
            String host = colon < 0 ? entry : entry.substring(0, colon);
            int first = 0;
            int last = 0xFFFF;
            if (colon >= 0) {
                String ports = entry.substring(colon + 1);
                int dash = ports.indexOf('-');
                first = Integer.parseInt(dash < 0 ? ports : ports.substring(0, dash));
                last = dash < 0 ? first : Integer.parseInt(ports.substring(dash + 1));
            }
            if (host.isEmpty() || host.equals("*")) {
                return new Rule(true, null, 0, first, last);
            }
            if (host.equals("local")) {
                return new Rule(false, null, 0, first, last);
            }
            int slash = host.indexOf('/');
            String address = (slash < 0 ? host : host.substring(0, slash))
                    .replace("[", "")
                    .replace("]", "");
            InetAddress network = InetAddress.ofLiteral(address);
            int all = network.getAddress().length * 8;
            int bits = slash < 0 ? all : Integer.parseInt(host.substring(slash + 1));
            if (bits < 0 || bits > all) {
                throw new IllegalArgumentException("bits: 0 to " + all + ", got " + bits);
            }
            return new Rule(false, network, bits, first, last);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "address rule: a host, :port or host:port, got \"" + entry + "\": " + e.getMessage(), e);
        }
    }
}
