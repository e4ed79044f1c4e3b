package verbena.verbs.spi;

import java.util.List;
import java.util.Optional;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.Preview;

/// A family of devices, which [java.util.ServiceLoader] finds. Any thread may call it, and it lives as long as the
/// process.
///
/// A provider that cannot work on this host stays silent: it lists no device and throws nothing.
///
/// @since 0.1
@Preview
public interface Provider {
    /// Returns the short name of the family, for example `rocev2`. Where the family can make devices, it also names
    /// one with a loopback address of its own.
    String kind();

    /// Returns the devices that exist now.
    List<Device> devices();

    /// Returns the device of this name, listed or to be made; empty when the name is not of this provider's form.
    ///
    /// @throws IllegalArgumentException when the name is of this provider's form but has a mistake in it
    Optional<Device> device(String name);

    /// Returns whether the provider's devices are the system's own, not made by this process. Such a device is the
    /// first choice for connections of an address that it has: a user with a card means the card.
    default boolean isOfSystem() {
        return false;
    }

    /// Returns whether the provider's devices reach processes of this host only ([Device#isOfHost()]). Where both
    /// ends have such a device, it is the first choice for a connection within the host
    /// ([verbena.verbs.cm.DeviceChoice#nearest()]).
    default boolean isOfHost() {
        return false;
    }

    /// Knowledge of a provider about a service at an address of this host.
    @Preview
    enum Served {
        /// A process within reach of the provider's devices has it.
        YES,
        /// The provider knows every process that has the address, and none of them has the service.
        NO,
        /// The provider does not know.
        UNKNOWN
    }

    /// Returns whether a process of this host has a service at an address. Opens no device.
    ///
    /// @param serviceId a port of a port space, as the communication manager names it (IBTA annex A11)
    default Served served(long serviceId, Gid address) {
        return Served.UNKNOWN;
    }
}
