package verbena.nio;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.TransportType;

/// The device that the system property `verbena.nio.device` names, as [Device#named] has it: `rocev2@10.0.0.3` or
/// `rocev2@127.0.0.1,faults=loss:1%`. It is opened once, for all connections of the process. Connections of other
/// addresses than its own go by TCP. Without the property each connection has the nearest device.
final class ChosenDevice {
    private static final String NAME = System.getProperty("verbena.nio.device", "");

    private static @Nullable Device found;
    private static @Nullable Context opened;

    private ChosenDevice() {}

    /// Returns whether a device is named.
    static boolean isNamed() {
        return !NAME.isEmpty();
    }

    /// Returns these options with the device, if the program has named a device.
    ///
    /// @throws verbena.verbs.VerbsException when it cannot be opened
    /// @throws IllegalArgumentException when its name has a mistake in it
    static StreamOptions choose(StreamOptions options) {
        return NAME.isEmpty() ? options : options.withDevice(open());
    }

    /// Throws at once when the name has a mistake.
    ///
    /// @throws RuntimeException as [#choose]
    static void check() {
        if (!NAME.isEmpty()) {
            Device _ = device();
        }
    }

    /// Returns the reason why no listener can be at this address of the host; empty when a listener can, or no
    /// device is named.
    static Optional<String> whyNotAt(InetAddress at) {
        if (NAME.isEmpty()) {
            return Optional.empty();
        }
        return addressesAt(at).isEmpty() ? Optional.of("it is no address of " + NAME) : Optional.empty();
    }

    /// Returns the addresses of the device at which a listener of this address is.
    static List<InetAddress> addressesAt(InetAddress at) {
        return open().gids(1).stream()
                .map(entry -> entry.gid())
                .filter(gid -> at.isAnyLocalAddress() ? !gid.isLinkLocal() : gid.equals(Gid.of(at)))
                .map(Gid::address)
                .distinct()
                .toList();
    }

    /// Returns whether it takes its ports from the kernel's TCP.
    static boolean hasPortsOfTcp() {
        return !NAME.isEmpty() && device().transportType() == TransportType.IWARP;
    }

    private static synchronized Device device() {
        Device named = found;
        if (named == null) {
            named = Device.named(NAME);
            found = named;
        }
        return named;
    }

    private static synchronized Context open() {
        Context device = opened;
        if (device == null) {
            device = device().open();
            opened = device;
        }
        return device;
    }
}
