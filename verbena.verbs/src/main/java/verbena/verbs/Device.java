package verbena.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import verbena.verbs.internal.Providers;
import verbena.verbs.spi.Provider;

/// An RDMA device: a card, a software device of the kernel, or one of Verbena's own (ibv_get_device_list(3)). It is a
/// description, which holds no resource until [#open()]. Any thread may use it, and it needs no closing.
///
/// A program finds a device by name. Every provider lists its devices under stable names (`rocev2_lo`, `mlx5_0`). A
/// software device can also be named by its properties, as `KIND[@ADDRESS][,OPTION=VALUE...]`:
///
/// | name | device |
/// |---|---|
/// | `rocev2` | RoCE v2 on loopback, with an address of 127.0.0.0/8 that no other process has |
/// | `rocev2@10.0.0.3` | RoCE v2 on that address of this host, which others of this user may have opened too |
/// | `rocev2_eth0` | RoCE v2 on all addresses of that network interface |
/// | `rocev2@::1,link=portable` | with an option of the provider |
/// | `shm` | memory that it shares with the `shm` devices of other processes of this user on this host |
/// | `ibverbs@10.0.0.3` | the system's device, a card for instance, that has this address |
///
/// @since 0.1
public interface Device {
    /// Returns the name, for example `rocev2_eth0`. `toString()` returns it too.
    String name();

    /// Returns the family of protocols that the device speaks.
    TransportType transportType();

    /// Returns the GUID of the node, which is stable for a device of the same name on the same host.
    long nodeGuid();

    /// Returns the GIDs that port 1 of an opened device will have; empty when they are known only after opening.
    List<GidEntry> gids();

    /// Returns port 1 as it is now; empty when that is known only after opening.
    default Optional<PortAttributes> port() {
        return Optional.empty();
    }

    /// Returns whether the device reaches processes of this host only.
    default boolean isOfHost() {
        return false;
    }

    /// Opens the device (ibv_open_device(3)). Each call makes an independent context, which the program closes.
    ///
    /// @throws DeviceException when it cannot be opened: an address in use by another process, for example
    Context open();

    /// Returns all devices that exist now, those of the first provider first. Each call asks the system anew.
    static List<Device> list() {
        var devices = new ArrayList<Device>();
        for (Provider provider : Providers.all()) {
            devices.addAll(provider.devices());
        }
        return List.copyOf(devices);
    }

    /// Returns the device of this name.
    ///
    /// @throws DeviceException when no provider knows it; the message lists what there is
    /// @throws IllegalArgumentException when the name is of a provider's form but has a mistake in it
    static Device named(String name) {
        for (Provider provider : Providers.all()) {
            var device = provider.device(name);
            if (device.isPresent()) {
                return device.get();
            }
        }
        throw new DeviceException("device: there is no \"" + name + "\"; there are "
                + list().stream().map(Device::name).collect(Collectors.joining(", ")));
    }
}
