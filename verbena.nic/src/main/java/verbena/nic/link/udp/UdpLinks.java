package verbena.nic.link.udp;

import java.net.InetAddress;
import java.util.List;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.NativeAccess;
import verbena.verbs.GidEntry;

/// The factory of UDP links: the Linux one where it works, else the portable one.
public final class UdpLinks {
    private UdpLinks() {}

    /// Opens a link with one socket for each of `addresses`, in this order.
    ///
    /// @param port the UDP port of both ends; always 4791 except in tests
    /// @throws LinkException when an address cannot be had, or the requested implementation does not work here
    public static UdpLink open(List<GidEntry> addresses, int port, UdpOptions options) {
        return switch (options.kind()) {
            case PORTABLE -> new DatagramChannelLink(addresses, port, options);
            case LINUX -> openLinux(addresses, port, options);
            case AUTO ->
                NativeAccess.whyPortable() == null
                        ? new LinuxUdpLink(addresses, port, options)
                        : new DatagramChannelLink(addresses, port, options);
        };
    }

    /// Opens a link with a loopback address that no other has. Where only 127.0.0.1 is local, the links of Linux
    /// share that one, and a portable link has a UDP port of its own there ([StandIn]).
    ///
    /// @param loopback the interface
    /// @throws LinkException as [#open(List, int, UdpOptions)]
    public static UdpLink openOnLoopback(HostInterface loopback, int port, UdpOptions options) {
        if (LoopbackAddress.isWhole()) {
            return LoopbackAddress.claim(
                    address -> open(loopback.withOnly(address).gids(), port, options));
        }
        boolean isPortable = options.kind() == LinkKind.PORTABLE
                || (options.kind() == LinkKind.AUTO && NativeAccess.whyPortable() != null);
        return isPortable
                ? LoopbackAddress.claim(
                        address -> open(loopback.withOnly(address).gids(), port, options), StandIn::candidate)
                : open(loopback.withOnly(InetAddress.ofLiteral("127.0.0.1")).gids(), port, options.share());
    }

    private static UdpLink openLinux(List<GidEntry> addresses, int port, UdpOptions options) {
        String wrongPlatform = NativeAccess.wrongPlatform();
        if (wrongPlatform != null) {
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "link=linux: " + wrongPlatform);
        }
        try {
            return new LinuxUdpLink(addresses, port, options);
        } catch (LinkageError e) {
            // The JVM refuses native access, or the C library lacks a function.
            String reason = NativeAccess.isGranted() ? String.valueOf(e.getMessage()) : NativeAccess.hint();
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "link=linux: " + reason, e);
        }
    }
}
