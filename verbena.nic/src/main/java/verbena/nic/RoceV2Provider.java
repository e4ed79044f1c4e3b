package verbena.nic;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.spi.Provider;

/// Provides `rocev2` devices: one on loopback, one for each network interface with an address, and one for any
/// local address by name. [Device] tells the names; the options are
///
/// | option | value |
/// |---|---|
/// | `engines` | how many share the work, a thread each: 1 to 64; else one for four processors |
/// | `icrc` | `always` (default); `optional`: on loopback, not between two ends that both say so |
/// | `link` | `auto` (default), `linux` for system calls, `portable` for the JDK's channels |
/// | `mtu` | path MTU not to exceed: 256, 512, 1024, 2048 or 4096 |
/// | `faults` | what to do to packets, for tests: `loss:5%,seed:7`, see [verbena.nic.link.Faults] |
public final class RoceV2Provider implements Provider {
    private static final String KIND = "rocev2";

    /// For the service loader.
    public RoceV2Provider() {}

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<Device> devices() {
        var devices = new ArrayList<Device>();
        try {
            for (HostInterface host : Interfaces.all()) {
                if (host.loopback()) {
                    devices.addFirst(loopback(host, KIND + "_" + host.name(), DeviceOptions.NONE));
                } else if (host.up() && !host.gids().isEmpty()) {
                    devices.add(new RoceV2Device(KIND + "_" + host.name(), host, DeviceOptions.NONE));
                }
            }
        } catch (LinkException e) {
            return List.copyOf(devices); // a provider that cannot work here is silent
        }
        return List.copyOf(devices);
    }

    @Override
    public Optional<Device> device(String name) {
        if (!name.startsWith(KIND)) {
            return Optional.empty();
        }
        int comma = name.indexOf(',');
        String which = name.substring(KIND.length(), comma < 0 ? name.length() : comma);
        if (!which.isEmpty() && which.charAt(0) != '@' && which.charAt(0) != '_') {
            return Optional.empty();
        }
        DeviceOptions options = DeviceOptions.parse(name);
        try {
            if (which.isEmpty()) {
                return Optional.of(loopback(Interfaces.loopback(), name, options));
            }
            return which.charAt(0) == '@'
                    ? Optional.of(onAddress(which.substring(1), name, options))
                    : onInterface(which.substring(1), name, options);
        } catch (LinkException e) {
            throw new DeviceException("device " + name + ": " + e.getMessage(), e);
        }
    }

    private static Device loopback(HostInterface host, String name, DeviceOptions options) {
        var nothingYet = new HostInterface(
                host.name(), host.index(), host.mtu(), host.mac(), host.up(), true, host.bitsPerSecond(), List.of());
        return new RoceV2Device(name, nothingYet, options);
    }

    private static Optional<Device> onInterface(String interfaceName, String name, DeviceOptions options) {
        for (HostInterface host : Interfaces.all()) {
            if (host.name().equals(interfaceName)) {
                if (host.loopback()) {
                    return Optional.of(loopback(host, name, options));
                }
                if (host.gids().isEmpty()) {
                    throw new DeviceException(
                            "device " + name + ": interface " + interfaceName + " has no IP address; give it one");
                }
                return Optional.of(new RoceV2Device(name, host, options));
            }
        }
        return Optional.empty();
    }

    private static Device onAddress(String address, String name, DeviceOptions options) {
        InetAddress wanted;
        try {
            wanted = Gid.parse(address).address();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "device " + name + ": \"" + address + "\" is no IPv4 or IPv6 address", e);
        }
        Gid gid = Gid.of(wanted);
        var known = new ArrayList<String>();
        for (HostInterface host : Interfaces.all()) {
            for (GidEntry entry : host.gids()) {
                known.add(entry.gid().toString());
                if (entry.gid().equals(gid)) {
                    return new RoceV2Device(name, host.withOnly(wanted), options);
                }
            }
            if (host.loopback() && wanted.isLoopbackAddress()) {
                return new RoceV2Device(name, host.withOnly(wanted), options);
            }
        }
        throw new DeviceException("device " + name + ": " + address + " is no address of this host; it has " + known
                + " and 127.0.0.0/8");
    }
}
