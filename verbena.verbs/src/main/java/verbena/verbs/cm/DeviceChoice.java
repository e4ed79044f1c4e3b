package verbena.verbs.cm;

import java.util.Optional;
import java.util.function.Function;
import verbena.verbs.Context;
import verbena.verbs.Gid;

/// The choice of the devices that the connections of an [EventChannel] use. Immutable.
///
/// @param only the device of all connections; empty when their addresses decide
/// @param isNearest whether connections within this host go through its memory (`shm`) where both ends can
/// @param at returns the program's device for an own address; empty for whatever device has it
/// @param ofHost returns the program's device for connections within this host at an own address; empty for the one
///     that the process shares
/// @since 0.1
public record DeviceChoice(
        Optional<Context> only,
        boolean isNearest,
        Function<Gid, Optional<Context>> at,
        Function<Gid, Optional<Context>> ofHost) {
    /// Returns the choice of one device for all connections. The program closes the device, after the channel.
    public static DeviceChoice only(Context device) {
        return new DeviceChoice(Optional.of(device), false, DeviceChoice::none, DeviceChoice::none);
    }

    /// Returns the choice of the devices with the right addresses. Devices are opened when they are first
    /// needed, shared in the process, and closed after the last of their connections.
    public static DeviceChoice byAddress() {
        return new DeviceChoice(Optional.empty(), false, DeviceChoice::none, DeviceChoice::none);
    }

    /// Returns the choice of the host's memory (`shm`) for connections within this host where both ends can use
    /// it, and otherwise of the device with the right address; datagrams go by address too. [Connection] and
    /// [ConnectionListener] choose so.
    ///
    /// The port of the peer decides, so connections to one address may have different devices: take the device
    /// of each from its identifier ([ConnectionId#context()]). A listener is at several devices.
    public static DeviceChoice nearest() {
        return new DeviceChoice(Optional.empty(), true, DeviceChoice::none, DeviceChoice::none);
    }

    /// Returns this choice, with devices of the program by their own address.
    ///
    /// @param at [ConnectionId#bind] and [ConnectionId#resolveAddress] call it, and it may open a device
    public DeviceChoice withDevices(Function<Gid, Optional<Context>> at) {
        return new DeviceChoice(only, isNearest, at, ofHost);
    }

    /// Returns this choice, with devices of the program for connections within this host, by their own address.
    public DeviceChoice withDevicesOfHost(Function<Gid, Optional<Context>> ofHost) {
        return new DeviceChoice(only, isNearest, at, ofHost);
    }

    private static Optional<Context> none(Gid local) {
        return Optional.empty();
    }
}
