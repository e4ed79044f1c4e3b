package verbena.nic.kind;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.transport.weak.Weakness;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.spi.Provider;

/// A family of devices on the addresses of this host: one on loopback, one for each network interface with an
/// address, and one for any local address by name. [Device] describes the names.
public abstract class HostProvider implements Provider {
    /// Each has a slot at the address. All processes that share the address have 256 slots together.
    private static final int ENGINES_MAX = 64;

    private static final int ENGINES_UNASKED_MAX = 8;
    private static final int PROCESSORS_OF_ENGINE = 4;

    /// Returns the device on the addresses of an interface.
    ///
    /// @param options the text after the first comma of the name
    /// @throws IllegalArgumentException when the options are invalid
    protected abstract Device on(HostInterface host, String name, String options);

    /// Returns the device on loopback, when its name has no address.
    protected abstract Device onLoopback(HostInterface host, String name, String options);

    /// Returns the interfaces of this host, with the addresses that a device of this family has there.
    protected List<HostInterface> interfaces() {
        return Interfaces.all();
    }

    @Override
    public List<Device> devices() {
        var devices = new ArrayList<Device>();
        try {
            for (HostInterface host : interfaces()) {
                if (host.loopback()) {
                    devices.addFirst(onLoopback(host, kind() + "_" + host.name(), ""));
                } else if (host.up() && !host.gids().isEmpty()) {
                    devices.add(on(host, kind() + "_" + host.name(), ""));
                }
            }
        } catch (LinkException e) {
            return List.copyOf(devices); // a provider that cannot work here lists no devices
        }
        return List.copyOf(devices);
    }

    @Override
    public Optional<Device> device(String asked) {
        if (!asked.startsWith(kind())) {
            return Optional.empty();
        }
        String name = withSeed(asked);
        int comma = name.indexOf(',');
        String which = name.substring(kind().length(), comma < 0 ? name.length() : comma);
        if (!which.isEmpty() && which.charAt(0) != '@' && which.charAt(0) != '_') {
            return Optional.empty();
        }
        String options = comma < 0 ? "" : name.substring(comma + 1);
        try {
            if (which.isEmpty()) {
                return Optional.of(onLoopback(Interfaces.loopback(), name, options));
            }
            return which.charAt(0) == '@'
                    ? Optional.of(onAddress(which.substring(1), name, options))
                    : onInterface(which.substring(1), name, options);
        } catch (LinkException e) {
            throw new DeviceException("device " + name + ": " + e.getMessage(), e);
        }
    }

    /// Returns the name of a device with the seed of what is weak about it, which is drawn when it has none.
    private static String withSeed(String name) {
        return name.contains(",weak=") && !name.contains(",seed=")
                ? name + ",seed=" + ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE)
                : name;
    }

    private Optional<Device> onInterface(String interfaceName, String name, String options) {
        for (HostInterface host : interfaces()) {
            if (host.name().equals(interfaceName)) {
                if (host.loopback()) {
                    return Optional.of(onLoopback(host, name, options));
                }
                if (host.gids().isEmpty()) {
                    throw new DeviceException(
                            "device " + name + ": interface " + interfaceName + " has no IP address; give it one");
                }
                return Optional.of(on(host, name, options));
            }
        }
        return Optional.empty();
    }

    /// @param address behind the `%` of a link-local one the name or index of its interface
    private Device onAddress(String address, String name, String options) {
        int percent = address.indexOf('%');
        String zone = percent < 0 ? "" : address.substring(percent + 1);
        InetAddress wanted;
        try {
            wanted = Gid.parse(percent < 0 ? address : address.substring(0, percent))
                    .address();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "device " + name + ": \"" + address + "\" is not an IPv4 or IPv6 address", e);
        }
        Gid gid = Gid.of(wanted);
        var known = new ArrayList<String>();
        for (HostInterface host : interfaces()) {
            for (GidEntry entry : host.gids()) {
                known.add(entry.gid().toString());
                boolean isMeant = zone.isEmpty() || zone.equals(host.name()) || zone.equals("" + host.index());
                if (entry.gid().equals(gid) && isMeant) {
                    return on(host.withOnly(wanted), name, options);
                }
            }
            if (host.loopback() && wanted.isLoopbackAddress()) {
                return on(host.withOnly(wanted), name, options);
            }
        }
        if (known.isEmpty()) {
            throw new DeviceException("device " + name + ": this host has no address at all: set an interface up first"
                    + " (Linux: ip link set lo up)");
        }
        throw new DeviceException("device " + name + ": " + address + " is not an address of this host; it has " + known
                + " and 127.0.0.0/8");
    }

    /// Reads the options of a device, which stand behind the first comma of its name. A part without `=` goes
    /// on with the option before it.
    ///
    /// @param text what stands there; empty for no option
    /// @param none the options of a device that has none
    /// @param with takes one more option, or throws because there is no such option or value
    /// @throws IllegalArgumentException the same, with the name of the device and the option
    public static <T> T options(String name, String text, T none, BiFunction<T, String, T> with) {
        T options = none;
        for (String setting : text.isEmpty() ? List.<String>of() : settings(text)) {
            try {
                options = with.apply(options, setting);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "device " + name + ": option \"" + setting + "\": " + e.getMessage(), e);
            }
        }
        return options;
    }

    /// Returns how many engines a device gets when its options do not say: one for four processors, because the
    /// threads of the application drive too.
    public static int fittingEngines() {
        return Math.clamp(Runtime.getRuntime().availableProcessors() / PROCESSORS_OF_ENGINE, 1, ENGINES_UNASKED_MAX);
    }

    /// Reads the option `engines`.
    ///
    /// @throws IllegalArgumentException when it is no possible number
    public static int parseEngines(String value) {
        int engines = Integer.parseInt(value);
        if (engines < 1 || engines > ENGINES_MAX) {
            throw new IllegalArgumentException("1 to " + ENGINES_MAX + ", got " + engines);
        }
        return engines;
    }

    /// Reads the option `seed`, which stands behind `weak`.
    ///
    /// @throws IllegalArgumentException when it does not, or is no number
    public static Weakness parseSeed(@Nullable Weakness weakness, String value) {
        if (weakness == null) {
            throw new IllegalArgumentException("needs weak before it");
        }
        try {
            return weakness.withSeed(Long.parseLong(value));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("a whole number of 64 bits, got \"" + value + "\"", e);
        }
    }

    private static List<String> settings(String text) {
        var settings = new ArrayList<String>();
        for (String part : text.split(",", -1)) {
            if (settings.isEmpty() || part.contains("=")) {
                settings.add(part);
            } else {
                settings.addLast(settings.removeLast() + "," + part);
            }
        }
        return settings;
    }
}
