package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.DEVICE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Threads;
import verbena.foreign.Memory;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.TransportType;

/// A device and its `struct ibv_device`, which lives as long as the process.
///
/// @param name without options
/// @param number place in the list, the same in all processes with the same `VERBENA_DEVICES`
public record DeviceHandle(long pointer, Device device, String name, int number) {
    private static final Map<String, DeviceHandle> KNOWN = new HashMap<>();
    /// Only that thread looks here.
    private static final Map<String, Context> SHARED = new HashMap<>();

    private static final String NAMES =
            Optional.ofNullable(System.getenv("VERBENA_DEVICES")).orElse("").strip();

    /// Lists the devices of `VERBENA_DEVICES`, names with a blank between. When that is not set, it lists all
    /// devices except those that reach processes of this host only. Programs such as UCX judge by addresses which
    /// peers a device reaches, and such a device has the addresses of loopback, as `rocev2_lo` has.
    public static List<DeviceHandle> list() {
        var devices = NAMES.isEmpty()
                ? Device.list().stream().filter(each -> !each.isOfHost()).toList()
                : Arrays.stream(NAMES.split(" +")).map(Device::named).toList();
        return devices.stream().map(DeviceHandle::known).toList();
    }

    /// Returns whether the user has chosen the devices that the program is to see.
    public static boolean isChosen() {
        return !NAMES.isEmpty();
    }

    /// Returns whether the program is to see one device only.
    public static boolean isOnly() {
        return !NAMES.isEmpty() && NAMES.indexOf(' ') < 0;
    }

    /// Returns the device, when the program is to see one only.
    public static Optional<DeviceHandle> only() {
        return isOnly() ? Optional.of(list().getFirst()) : Optional.empty();
    }

    /// Returns the context of the listed device that has a local address, which all connections share; empty when
    /// no listed device has it.
    public static Optional<Context> at(Gid local) {
        return list().stream()
                .filter(each -> !NAMES.isEmpty() || !each.isIwarp())
                .filter(each -> isOnly() || !each.device.isOfHost())
                .filter(each -> each.has(local))
                .findFirst()
                .map(DeviceHandle::shared);
    }

    /// Returns whether the program sees a device of the host, beside others: the user has named both.
    public static boolean seesHost() {
        return !isOnly() && list().stream().anyMatch(each -> each.device.isOfHost());
    }

    /// Returns the context of the listed device for connections within this host that has a local address.
    public static Optional<Context> within(Gid local) {
        return list().stream()
                .filter(each -> each.device.isOfHost() && each.has(local))
                .findFirst()
                .map(DeviceHandle::shared);
    }

    public boolean has(Gid address) {
        return device.gids().stream().anyMatch(entry -> entry.gid().equals(address));
    }

    private boolean isIwarp() {
        return device.transportType() == TransportType.IWARP;
    }

    static DeviceHandle of(Device device) {
        synchronized (KNOWN) {
            if (!KNOWN.containsKey(device.name())) {
                list(); // those in the list have the first numbers
            }
            return known(device);
        }
    }

    private static DeviceHandle known(Device device) {
        synchronized (KNOWN) {
            DeviceHandle known = KNOWN.get(device.name());
            if (known == null) {
                // By their numbers: hash codes of records are linked at the first call, which takes 20 ms at the start.
                long others = KNOWN.values().stream()
                        .mapToInt(DeviceHandle::number)
                        .distinct()
                        .count();
                known = create(device.name(), withAddress(device), (int) others);
                KNOWN.put(device.name(), known);
                KNOWN.putIfAbsent(known.device.name(), known); // as its context calls it
            }
            return known;
        }
    }

    /// Returns the name that the kernel has for the device's file.
    String verbsName() {
        return "uverbs" + number;
    }

    /// Returns the listed device that a connection's context belongs to: the device of its name, or that has its
    /// address, or the first on loopback for an address of loopback. Without any it returns the device itself.
    static DeviceHandle of(Context context) {
        Device opened = context.device();
        synchronized (KNOWN) {
            DeviceHandle known = KNOWN.get(opened.name());
            if (known != null) {
                return known;
            }
        }
        Gid address = context.gids(1).getFirst().gid();
        return list().stream()
                .filter(each -> each.isIwarp() == (opened.transportType() == TransportType.IWARP))
                .filter(each -> each.has(address) || (isLoopback(address) && each.isAtLoopback()))
                .findFirst()
                .orElseGet(() -> of(opened));
    }

    public boolean isAtLoopback() {
        return device.gids().stream().allMatch(entry -> isLoopback(entry.gid()));
    }

    private static boolean isLoopback(Gid address) {
        return address.address().isLoopbackAddress();
    }

    /// Returns a device with an address. A card has the same addresses for every process. A device of this library
    /// that would take a new address each time is opened on 127.0.0.1, which processes share.
    private static Device withAddress(Device device) {
        return device.gids().isEmpty() && device.name().startsWith("rocev2")
                ? Device.named(device.name().replaceFirst("^rocev2(_[^,]*)?", "rocev2@127.0.0.1"))
                : device;
    }

    /// Opens the device once for all connections, and to the end; called by the thread that makes threads.
    public Context shared() {
        return Threads.make(() -> SHARED.computeIfAbsent(device.name(), _ -> device.open()));
    }

    private static DeviceHandle create(String name, Device device, int number) {
        long pointer = Native.allocate(DEVICE.size());
        boolean isIwarp = device.transportType() == TransportType.IWARP;
        Memory.putInt(
                pointer + DEVICE.at("node_type"), isIwarp ? VerbsConstants.IBV_NODE_RNIC : VerbsConstants.IBV_NODE_CA);
        Memory.putInt(
                pointer + DEVICE.at("transport_type"),
                isIwarp ? VerbsConstants.IBV_TRANSPORT_IWARP : VerbsConstants.IBV_TRANSPORT_IB);
        String shown = name.replaceAll(",.*", ""); // without its options
        var made = new DeviceHandle(pointer, device, shown, number);
        putText(pointer, "name", shown);
        putText(pointer, "dev_name", made.verbsName());
        putText(pointer, "dev_path", "/sys/class/infiniband_verbs/" + made.verbsName());
        putText(pointer, "ibdev_path", "/sys/class/infiniband/" + shown);
        Handles.put(pointer, made);
        return made;
    }

    private static void putText(long pointer, String field, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long length = Math.min(bytes.length, DEVICE.bytes(field) - 1);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Native.at(pointer + DEVICE.at(field), length), 0, length);
    }
}
