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
import org.jspecify.annotations.Nullable;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// Which connections go by RDMA, and how long a peer may take to show that it speaks it. The rules are system
/// properties, read when the class is loaded:
///
/// - `verbena.nio.rdma`: peers that are tried by RDMA, as an [AddressRules]. The default is `local`.
/// - `verbena.nio.tcp`: peers and own ports that are not. The default is empty; it comes before the other.
/// - `verbena.nio.wait`: milliseconds for a peer on another host to answer, 1000 by default. One that does not answer
///   is not asked again for a minute.
///
/// Within this host a connection goes through its memory where a process has the port there, which is known without
/// asking it; and by TCP otherwise, unless `verbena.nio.device` names a device. A peer on this host is given ten
/// seconds to answer. A listener of another host that refuses RDMA and takes TCP is not asked for RDMA again for ten
/// seconds.
final class Routes {
    private static final System.Logger LOG = System.getLogger("verbena.nio");

    private static final AddressRules RDMA = new AddressRules(System.getProperty("verbena.nio.rdma", "local"));
    private static final AddressRules TCP = new AddressRules(System.getProperty("verbena.nio.tcp", ""));
    private static final Duration WAIT = Duration.ofMillis(Math.max(1, Long.getLong("verbena.nio.wait", 1_000)));
    private static final Duration WAIT_WITHIN = Duration.ofSeconds(10);
    private static final long SILENT_NANOS = Duration.ofMinutes(1).toNanos();
    private static final long REFUSED_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int REMEMBERED_MAX = 4_096;

    /// Until when a host that did not answer is left alone.
    private static final Map<InetAddress, Long> SILENT = new ConcurrentHashMap<>();

    /// Until when a listener that took TCP only, or did not say its port, is not asked for RDMA.
    private static final Map<InetSocketAddress, Long> TCP_ONLY = new ConcurrentHashMap<>();

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

    /// Whether a connection to this peer is tried by RDMA.
    static boolean triesRdma(InetSocketAddress peer) {
        if (TCP.match(peer) || !RDMA.match(peer)) {
            return false;
        }
        if (!ChosenDevice.isNamed() && isWithin(peer.getAddress())) {
            return isServedWithin(peer);
        }
        return isOver(SILENT.get(peer.getAddress())) && isOver(TCP_ONLY.get(peer));
    }

    private static boolean isServedWithin(InetSocketAddress peer) {
        try {
            return EventChannel.isServedWithin(PortSpace.TCP, peer);
        } catch (VerbsException | LinkageError e) {
            fellBack(peer, e);
            return false;
        }
    }

    private static boolean isOver(@Nullable Long until) {
        return until == null || until - System.nanoTime() < 0;
    }

    /// Whether a listener here listens for RDMA too.
    static boolean listensForRdma(InetSocketAddress at) {
        return !TCP.match(at);
    }

    /// How long a peer may take to say at which port its device listens ([MappedPort]).
    static Duration waitForPort() {
        return WAIT;
    }

    static Duration wait(InetSocketAddress peer) {
        return isWithin(peer.getAddress()) ? WAIT_WITHIN : WAIT;
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

    /// The peer did not answer in time: its host has no RDMA. Where each listener is asked for its port, this says
    /// nothing of the others.
    static void silent(InetSocketAddress peer) {
        if (ChosenDevice.hasPortsOfTcp()) {
            remember(TCP_ONLY, peer, SILENT_NANOS);
        } else {
            remember(SILENT, peer.getAddress(), SILENT_NANOS);
        }
    }

    /// The peer has refused RDMA and taken TCP.
    static void takesTcpOnly(InetSocketAddress peer) {
        if (isOver(TCP_ONLY.get(peer))) {
            remember(TCP_ONLY, peer, REFUSED_NANOS);
        }
    }

    /// This process listens for RDMA at a port where another listener may have been before.
    static void listensForBoth(int port) {
        TCP_ONLY.keySet().removeIf(each -> each.getPort() == port);
    }

    private static <K> void remember(Map<K, Long> until, K what, long nanos) {
        if (until.size() >= REMEMBERED_MAX) {
            until.clear();
        }
        until.put(what, System.nanoTime() + nanos);
    }

    /// A connection is made by TCP instead. Said once for each address.
    static void fellBack(InetSocketAddress peer, Throwable why) {
        if (TOLD.size() >= REMEMBERED_MAX) {
            TOLD.clear();
        }
        if (TOLD.putIfAbsent(peer, true) == null) {
            LOG.log(System.Logger.Level.INFO, "{0} by TCP, not by RDMA: {1}", peer, why.getMessage());
        }
    }

    static void listensByTcpOnly(InetSocketAddress at, Throwable why) {
        LOG.log(System.Logger.Level.WARNING, "{0} listens for TCP only: {1}", at, why.getMessage());
    }

    /// Loopback, link-local and private addresses: RFC 1122 3.2.1.3, RFC 3927, RFC 1918, RFC 4193.
    static boolean isLocal(InetAddress address) {
        return address.isLoopbackAddress()
                || address.isAnyLocalAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || (address instanceof Inet6Address && (address.getAddress()[0] & 0xFE) == 0xFC)
                || isWithin(address);
    }
}
