package verbena.verbs.cm;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Context;
import verbena.verbs.Gid;

/// The choice of the devices that the connections of an [EventChannel] use: one device, the devices with the right
/// addresses, or the nearest. Immutable.
///
/// @since 0.1
public final class DeviceChoice {
    private static final DeviceChoice BY_ADDRESS =
            new DeviceChoice(null, false, _ -> Optional.empty(), _ -> Optional.empty());
    private static final DeviceChoice NEAREST =
            new DeviceChoice(null, true, _ -> Optional.empty(), _ -> Optional.empty());

    private final @Nullable Context device;
    private final boolean isNearest;
    private final Function<Gid, Optional<Context>> ofAddress;
    private final Function<Gid, Optional<Context>> ofHost;

    private DeviceChoice(
            @Nullable Context device,
            boolean isNearest,
            Function<Gid, Optional<Context>> ofAddress,
            Function<Gid, Optional<Context>> ofHost) {
        this.device = device;
        this.isNearest = isNearest;
        this.ofAddress = ofAddress;
        this.ofHost = ofHost;
    }

    /// Returns the choice of one device for all connections. The program closes the device, after the channel.
    public static DeviceChoice only(Context device) {
        return new DeviceChoice(
                Objects.requireNonNull(device, "device"), false, _ -> Optional.empty(), _ -> Optional.empty());
    }

    /// Returns the choice of the devices with the right addresses. A device is opened when a connection first needs
    /// it, serves the whole process, and is closed after the last of its connections.
    public static DeviceChoice byAddress() {
        return BY_ADDRESS;
    }

    /// Returns the choice of the host's memory (`shm`) for connections within this host where both ends can use
    /// it, and otherwise of the device with the right address. Datagrams always go by address. [Connection] and
    /// [ConnectionListener] choose so.
    ///
    /// The port of the peer decides, so connections to one address may have different devices: take the device
    /// of each from its identifier ([ConnectionId#context()]). A listener is at several devices.
    public static DeviceChoice nearest() {
        return NEAREST;
    }

    /// Returns the choice of [#only] for a device of options, and of [#nearest()] for options without one
    /// ([ConnectionOptions#device()]).
    public static DeviceChoice of(Optional<Context> device) {
        return device.map(DeviceChoice::only).orElse(NEAREST);
    }

    /// Returns this choice with devices that the program has opened. [ConnectionId#bind] and
    /// [ConnectionId#resolveAddress] ask for the device of an own address. The program closes these devices, after
    /// the channel.
    ///
    /// @param ofAddress returns the device of an own address; empty for the one that the process shares. It may
    ///     open the device, and any thread may call it
    /// @throws IllegalArgumentException when this is the choice of one device
    public DeviceChoice withDevices(Function<Gid, Optional<Context>> ofAddress) {
        if (device != null) {
            throw new IllegalArgumentException(
                    "withDevices: all connections use " + device.device().name());
        }
        return new DeviceChoice(null, isNearest, Objects.requireNonNull(ofAddress, "ofAddress"), ofHost);
    }

    /// Returns this choice with devices that the program has opened for connections within this host. The program
    /// closes these devices, after the channel.
    ///
    /// @param ofHost returns such a device for an own address; empty for the one that the process shares. It may
    ///     open the device, and any thread may call it
    /// @throws IllegalArgumentException when this is not the choice of the nearest devices
    public DeviceChoice withDevicesOfHost(Function<Gid, Optional<Context>> ofHost) {
        if (!isNearest) {
            throw new IllegalArgumentException("withDevicesOfHost: only with DeviceChoice.nearest()");
        }
        return new DeviceChoice(null, true, ofAddress, Objects.requireNonNull(ofHost, "ofHost"));
    }

    /// Returns the device of all connections; empty when the addresses decide.
    Optional<Context> device() {
        return Optional.ofNullable(device);
    }

    boolean isNearest() {
        return isNearest;
    }

    /// Returns the program's device of an own address.
    Optional<Context> at(Gid own) {
        return ofAddress.apply(own);
    }

    /// Returns the program's device for connections within this host at an own address.
    Optional<Context> ofHost(Gid own) {
        return ofHost.apply(own);
    }
}
