package verbena.nic.link;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.security.SecureRandom;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/// The search for an address in 127.0.0.0/8 for each process that asks, so that many processes on one host can each
/// have UDP port 4791.
///
/// Candidates are drawn at random. They are never 127.0.x.y, where distributions put host names and resolvers, nor
/// 127.255.x.y, and their last byte is neither 0 nor 255.
public final class LoopbackAddress {
    /// The number of addresses that are tried. Among 16 million, with a thousand taken, the first one almost always
    /// fits.
    static final int ATTEMPTS_MAX = 64;

    private static final SecureRandom RANDOM = new SecureRandom();

    private LoopbackAddress() {}

    /// Opens something at an address of its own. Calls `open` with one candidate after the other while it fails
    /// with [LinkException.Kind#PORT_IN_USE], and returns its result. No other process can take the address between
    /// the search and the use.
    ///
    /// @throws LinkException the exception of `open` for the last candidate, or for another reason than the port
    public static <T> T claim(Function<Inet4Address, T> open) {
        return claim(open, LoopbackAddress::candidate);
    }

    /// Claims an address in the same manner, among other candidates.
    public static <T> T claim(Function<Inet4Address, T> open, Function<RandomGenerator, Inet4Address> candidates) {
        for (int i = 0; i < ATTEMPTS_MAX; i++) {
            try {
                return open.apply(candidates.apply(RANDOM));
            } catch (LinkException e) {
                if (e.kind() != LinkException.Kind.PORT_IN_USE) {
                    throw e;
                }
            }
        }
        throw new LinkException(
                LinkException.Kind.PORT_IN_USE,
                "loopback: " + ATTEMPTS_MAX + " random addresses of 127.0.0.0/8 have the UDP port in use; a program is"
                        + " probably bound to all addresses (0.0.0.0), for example the kernel's"
                        + " soft-RoCE (rdma_rxe)");
    }

    /// Returns whether all of 127.0.0.0/8 is local. On macOS, the BSDs and in some containers only 127.0.0.1 is.
    public static boolean isWhole() {
        try (DatagramChannel probe = DatagramChannel.open(StandardProtocolFamily.INET)) {
            probe.bind(new InetSocketAddress(candidate(RANDOM), 0));
            return true;
        } catch (IOException e) {
            return Channels.kindOf(String.valueOf(e.getMessage())) != LinkException.Kind.ADDRESS_NOT_LOCAL;
        }
    }

    /// Returns an address whose UDP `port` is free at this moment, to be shown before it is used. Another process
    /// may take it before the caller does; [#claim(Function)] leaves no such gap.
    ///
    /// @throws LinkException when none is found
    public static Inet4Address find(int port) {
        return claim(address -> {
            try (DatagramChannel probe = DatagramChannel.open(StandardProtocolFamily.INET)) {
                probe.bind(new InetSocketAddress(address, port));
                return address;
            } catch (IOException e) {
                throw Channels.bindFailed(address, port, e);
            }
        });
    }

    static Inet4Address candidate(RandomGenerator random) {
        int second = random.nextInt(1, 255);
        int third = random.nextInt(256);
        int fourth = random.nextInt(1, 255);
        return address(127 << 24 | second << 16 | third << 8 | fourth);
    }

    public static Inet4Address address(int bits) {
        try {
            byte[] bytes = {(byte) (bits >>> 24), (byte) (bits >>> 16), (byte) (bits >>> 8), (byte) bits};
            return (Inet4Address) InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("4 bytes are always an address", e);
        }
    }
}
