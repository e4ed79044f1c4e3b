package verbena.nic.link;

import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.verbs.GidEntry;

/// Opens UDP links: the Linux one where it works, else the portable one.
public final class UdpLinks {
    /// Which implementation.
    public enum Kind {
        /// The Linux one where it works, else the portable one.
        AUTO,
        /// [LinuxUdpLink], or an error. Without granted native access the JVM warns or refuses, as it is told to.
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

    /// How to open.
    ///
    /// @param kind which implementation
    /// @param receiveBufferBytes what to ask the system for, per address; it may give less
    ///     ([UdpLink#receiveBufferBytes()])
    /// @param sendBufferBytes likewise
    /// @param shared whether other processes of the same user may open a link at the same addresses, and must then
    ///     say so too; [DatagramChannelLink] cannot and does not
    /// @param stamped whether packets may come with a stamp in place of the ICRC ([Link#stamp()]), where all
    ///     addresses are loopback's
    public record Options(Kind kind, int receiveBufferBytes, int sendBufferBytes, boolean shared, boolean stamped) {
        /// [Kind#AUTO], not shared; 16 MiB of receive buffer (a full packet is accounted with up to twice its
        /// size: some 2,000 of them may wait) and 4 MiB of send buffer.
        public static final Options DEFAULT = new Options(Kind.AUTO, 16 << 20, 4 << 20, false, false);

        public Options {
            if (receiveBufferBytes < 1 || sendBufferBytes < 1) {
                throw new IllegalArgumentException(
                        "buffers: at least 1 byte, got " + receiveBufferBytes + " and " + sendBufferBytes);
            }
        }

        /// These, with another kind.
        public Options with(Kind other) {
            return new Options(other, receiveBufferBytes, sendBufferBytes, shared, stamped);
        }

        /// These, for a link at addresses that other links have too.
        public Options share() {
            return new Options(kind, receiveBufferBytes, sendBufferBytes, true, stamped);
        }

        /// These, for a link that takes stamps on loopback.
        public Options stamp() {
            return new Options(kind, receiveBufferBytes, sendBufferBytes, shared, true);
        }
    }

    private UdpLinks() {}

    /// A link with one socket for each of `addresses`, in this order.
    ///
    /// @param port UDP port of both ends; 4791 but in tests
    /// @throws LinkException when an address cannot be had, or the implementation asked for does not work here
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

    /// Why [Kind#AUTO] takes the portable link in this JVM; null when it takes the Linux one.
    public static @Nullable String whyPortable() {
        String wrongPlatform = wrongPlatform();
        if (wrongPlatform != null) {
            return wrongPlatform;
        }
        return isNativeAccessGranted() ? null : nativeAccessHint();
    }

    // Asked here and not in LinuxSockets: that one cannot even be loaded where the answer is no, and by loading it
    // the JVM would grant, with a warning, what was not granted.
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
