package verbena.nic.link.udp;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.random.RandomGenerator;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.Gid;

/// The addresses of a host of whose 127.0.0.0/8 only 127.0.0.1 is local. There a [DatagramChannelLink] cannot have
/// an address of its own, but a UDP port. The address 127.1.x.y stands for port 256x + y of 127.0.0.1; to all above
/// the link it is an address like any other, with port 4791. 127.0.0.1 itself stands for itself.
///
/// Nothing of this leaves the host.
final class StandIn {
    private static final int NETWORK = 127 << 24 | 1 << 16;
    private static final int NETWORK_MASK = 0xFFFF_0000;
    private static final int PORT_MASK = 0xFFFF;
    private static final int PORT_MIN = 1_024;
    /// The ports that a link tries: those that IANA assigns to no service.
    private static final int OWN_MIN = 0xC000;

    private static final int LOOPBACK_BITS = 127 << 24 | 1;
    private static final InetAddress LOOPBACK = LoopbackAddress.address(LOOPBACK_BITS);

    private StandIn() {}

    /// Returns a candidate for an address that one link has alone.
    static Inet4Address candidate(RandomGenerator random) {
        return LoopbackAddress.address(NETWORK | random.nextInt(OWN_MIN, PORT_MASK + 1));
    }

    /// Returns the address and port of the socket that an address stands for.
    ///
    /// @param port of addresses that stand for themselves
    static InetSocketAddress socketOf(InetAddress address, int port) {
        int bits = bits(address);
        int own = bits & PORT_MASK;
        return (bits & NETWORK_MASK) == NETWORK && own >= PORT_MIN
                ? new InetSocketAddress(LOOPBACK, own)
                : new InetSocketAddress(address, port);
    }

    /// Returns the address that stands for a sender.
    ///
    /// @param port of addresses that stand for themselves
    static Gid gidOf(InetSocketAddress sender, int port) {
        boolean isStandIn = sender.getPort() != port && bits(sender.getAddress()) == LOOPBACK_BITS;
        return Gid.of(isStandIn ? LoopbackAddress.address(NETWORK | sender.getPort()) : sender.getAddress());
    }

    /// Returns the bits of an IPv4 address; 0 for an IPv6 address.
    private static int bits(InetAddress address) {
        Gid gid = Gid.of(address);
        return gid.isIpv4() ? (int) gid.low() : 0;
    }
}
