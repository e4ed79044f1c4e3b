package verbena.nio;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import verbena.nio.KnownPeers.Reach;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// The rules for connections that go by RDMA, and for the time in which a peer has to answer by RDMA. The rules are
/// system properties, read when the class is loaded:
///
/// - `verbena.nio.rdma`: peers that are tried by RDMA, as an [AddressRules]. The default is `local`.
/// - `verbena.nio.tcp`: peers and own ports that are not. The default is empty; it comes before the other.
/// - `verbena.nio.wait`: milliseconds for a peer on another host to answer, 250 by default (RFC 8305 5 has as much
///   for an address). What has been learnt of a peer makes it more, or less ([KnownPeers]).
///
/// Within this host a connection goes through its memory where a process has the port there, which is known without
/// asking it; and by TCP otherwise, unless `verbena.nio.device` names a device.
final class Routes {
    private static final System.Logger LOG = System.getLogger("verbena.nio");

    private static final AddressRules RDMA = new AddressRules(System.getProperty("verbena.nio.rdma", "local"));
    private static final AddressRules TCP = new AddressRules(System.getProperty("verbena.nio.tcp", ""));
    private static final Duration WAIT = Duration.ofMillis(Math.max(1, Long.getLong("verbena.nio.wait", 250)));
    private static final int PATIENCE_WAITS = 4;
    private static final KnownPeers KNOWN = new KnownPeers(WAIT.toNanos());

    private static final Map<InetSocketAddress, Boolean> TOLD = new ConcurrentHashMap<>();

    private Routes() {}

    /// Reads the properties.
    ///
    /// @throws IllegalArgumentException when a list of addresses is none
    static void check() {
        for (String name : List.of("verbena.nio.rdma", "verbena.nio.tcp")) {
            var _ = new AddressRules(System.getProperty(name, ""));
        }
    }

    /// Returns the choice of transport for a connection to this peer.
    ///
    /// @param limitNanos as [Choice] has it; 0 leaves no time for RDMA
    static Choice choose(InetSocketAddress peer, long limitNanos, long now) {
        Reach reach =
                ChosenDevice.hasPortsOfTcp() ? Reach.LISTENER : isWithin(peer.getAddress()) ? Reach.WITHIN : Reach.HOST;
        boolean mayTryRdma = limitNanos > 0 && mayGoByRdma(peer);
        if (mayTryRdma && reach == Reach.WITHIN && !ChosenDevice.isNamed()) {
            mayTryRdma = KNOWN.headStart(peer, reach, limitNanos, now) > 0 && isServedWithin(peer);
        }
        return new Choice(KNOWN, peer, reach, mayTryRdma, limitNanos, now);
    }

    /// Returns whether the rules let connections to this peer go by RDMA.
    static boolean mayGoByRdma(InetSocketAddress peer) {
        return !TCP.match(peer) && RDMA.match(peer);
    }

    private static boolean isServedWithin(InetSocketAddress peer) {
        try {
            return EventChannel.isServedWithin(PortSpace.TCP, peer);
        } catch (RuntimeException | Error e) { // a device that cannot be used is no reason not to connect
            fellBack(peer, e);
            return false;
        }
    }

    /// Returns whether a listener here listens for RDMA too.
    static boolean listensForRdma(InetSocketAddress at) {
        return !TCP.match(at);
    }

    /// Returns the time in which a peer has to answer with the port of its device ([MappedPort]).
    static Duration waitForPort() {
        return WAIT;
    }

    /// Returns the time in which a peer has to accept a stream to which a connection moves.
    static Duration patience() {
        return WAIT.multipliedBy(PATIENCE_WAITS);
    }

    private static boolean isWithin(InetAddress address) {
        if (address.isLoopbackAddress() || address.isAnyLocalAddress()) {
            return true;
        }
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    /// Notes a listener as [KnownPeers#listensForBoth] does.
    static void listensForBoth(int port) {
        KNOWN.listensForBoth(port);
    }

    /// Notes the end of a connection as [KnownPeers#closed] does.
    static void closed(InetSocketAddress peer, long bytes, long setupNanos, long nanos) {
        KNOWN.closed(peer, bytes, setupNanos, nanos, System.nanoTime());
    }

    /// Logs that a connection is made by TCP instead, once for each address.
    static void fellBack(InetSocketAddress peer, Throwable why) {
        if (TOLD.size() >= KnownPeers.REMEMBERED_MAX) {
            TOLD.clear();
        }
        if (TOLD.putIfAbsent(peer, true) == null) {
            say(System.Logger.Level.INFO, "{0} by TCP, not by RDMA: {1}", peer, why);
        }
    }

    static void listensByTcpOnly(InetSocketAddress at, Throwable why) {
        say(System.Logger.Level.WARNING, "{0} listens for TCP only: {1}", at, why);
    }

    /// Logs a message. An exception of the program's logger, for want of descriptors or memory, must not end the
    /// caller.
    private static void say(System.Logger.Level level, String what, InetSocketAddress of, Throwable why) {
        try {
            LOG.log(level, what, of, why.getMessage() == null ? why.toString() : why.getMessage());
        } catch (Throwable e) {
            // nothing is said
        }
    }

    /// Returns whether an address is loopback, link-local or private: RFC 1122 3.2.1.3, RFC 3927, RFC 1918, RFC
    /// 4193.
    static boolean isLocal(InetAddress address) {
        return address.isLoopbackAddress()
                || address.isAnyLocalAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || (address instanceof Inet6Address && (address.getAddress()[0] & 0xFE) == 0xFC)
                || isWithin(address);
    }
}
