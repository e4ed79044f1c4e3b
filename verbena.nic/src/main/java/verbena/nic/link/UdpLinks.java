package verbena.nic.link;

import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.GidEntry;

/// Opens UDP links: the Linux one where it works, else the portable one.
public final class UdpLinks {
    /// The implementations of a UDP link.
    public enum Kind {
        /// The Linux one where it works, else the portable one.
        AUTO,
        /// [LinuxUdpLink], or an error. Without granted native access, the JVM warns or refuses, as its options say.
        LINUX,
        /// [DatagramChannelLink].
        PORTABLE;

        /// `auto`, `linux` or `portable`, as in the setting `link=`.
        public static Kind parse(String text) {
            return switch (text) {
                case "auto" -> AUTO;
                case "linux" -> LINUX;
                case "portable" -> PORTABLE;
                default -> throw new IllegalArgumentException("link: auto, linux or portable, got \"" + text + "\"");
            };
        }
    }

    /// The options of a link.
    ///
    /// @param kind the implementation
    /// @param receiveBufferBytes the receive buffer to ask the system for, per address; the system may give less
    ///     ([UdpLink#receiveBufferBytes()])
    /// @param sendBufferBytes the send buffer to ask the system for; it may give less
    /// @param shared whether other processes of the same user may open a link at the same addresses, with the same
    ///     option; [DatagramChannelLink] ignores it
    public record Options(Kind kind, int receiveBufferBytes, int sendBufferBytes, boolean shared) {
        /// [Kind#AUTO], not shared; 16 MiB of receive buffer and 4 MiB of send buffer. The system counts a full
        /// packet with up to twice its size, so some 2,000 of them may wait.
        public static final Options DEFAULT = new Options(Kind.AUTO, 16 << 20, 4 << 20, false);

        public Options {
            if (receiveBufferBytes < 1 || sendBufferBytes < 1) {
                throw new IllegalArgumentException(
                        "buffers: at least 1 byte, got " + receiveBufferBytes + " and " + sendBufferBytes);
            }
        }

        /// These options with another kind.
        public Options with(Kind other) {
            return new Options(other, receiveBufferBytes, sendBufferBytes, shared);
        }

        /// These options, for a link that shares its addresses with other links.
        public Options share() {
            return new Options(kind, receiveBufferBytes, sendBufferBytes, true);
        }
    }

    private UdpLinks() {}

    /// Opens a link with one socket for each of `addresses`, in this order.
    ///
    /// @param port the UDP port of both ends; always 4791 except in tests
    /// @throws LinkException when an address cannot be had, or the requested implementation does not work here
    public static UdpLink open(List<GidEntry> addresses, int port, Options options) {
        return switch (options.kind()) {
            case PORTABLE -> new DatagramChannelLink(addresses, port, options);
            case LINUX -> openLinux(addresses, port, options);
            case AUTO ->
                whyPortable() == null
                        ? new LinuxUdpLink(addresses, port, options)
                        : new DatagramChannelLink(addresses, port, options);
        };
    }

    /// Opens a link with a loopback address that no other has. Where only 127.0.0.1 is local, the links of Linux share
    /// that one, and a portable link has a UDP port of its own there ([StandIn]).
    ///
    /// @param loopback the interface
    /// @throws LinkException as [#open(List, int, Options)]
    public static UdpLink openOnLoopback(HostInterface loopback, int port, Options options) {
        if (LoopbackAddress.isWhole()) {
            return LoopbackAddress.claim(
                    address -> open(loopback.withOnly(address).gids(), port, options));
        }
        boolean isPortable = options.kind() == Kind.PORTABLE || (options.kind() == Kind.AUTO && whyPortable() != null);
        return isPortable
                ? LoopbackAddress.claim(
                        address -> open(loopback.withOnly(address).gids(), port, options), StandIn::candidate)
                : open(loopback.withOnly(InetAddress.ofLiteral("127.0.0.1")).gids(), port, options.share());
    }

    private static UdpLink openLinux(List<GidEntry> addresses, int port, Options options) {
        String wrongPlatform = wrongPlatform();
        if (wrongPlatform != null) {
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "link=linux: " + wrongPlatform);
        }
        try {
            return new LinuxUdpLink(addresses, port, options);
        } catch (LinkageError e) {
            // The JVM refuses native access, or the C library lacks a function.
            String reason = isNativeAccessGranted() ? String.valueOf(e.getMessage()) : nativeAccessHint();
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "link=linux: " + reason, e);
        }
    }

    /// Why [Kind#AUTO] chooses the portable link in this JVM; null when it chooses the Linux one.
    public static @Nullable String whyPortable() {
        String wrongPlatform = wrongPlatform();
        if (wrongPlatform != null) {
            return wrongPlatform;
        }
        return isNativeAccessGranted() ? null : nativeAccessHint();
    }

    // Checked here and not in LinuxSockets. That class cannot be loaded where the answer is no, and by loading it
    // the JVM would grant native access, with a warning.
    private static boolean isNativeAccessGranted() {
        return LinuxAbi.class.getModule().isNativeAccessEnabled();
    }

    private static @Nullable String wrongPlatform() {
        String os = System.getProperty("os.name", "");
        String architecture = System.getProperty("os.arch", "");
        if (!os.equals("Linux")) {
            return "this is " + os + ", not Linux";
        }
        if (!architecture.equals("amd64") && !architecture.equals("aarch64")) {
            return "the layouts are those of x86-64 and aarch64, this is " + architecture;
        }
        return null;
    }

    private static String nativeAccessHint() {
        Module module = LinuxAbi.class.getModule();
        return "native access is not granted: start java with --enable-native-access="
                + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
    }
}
