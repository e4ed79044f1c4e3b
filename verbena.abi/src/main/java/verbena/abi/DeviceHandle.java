package verbena.abi;

import static verbena.ibverbs.abi.VerbsStructs.DEVICE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import verbena.ibverbs.abi.VerbsConstants;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.TransportType;

/// A device and its `struct ibv_device`, which lives as long as the process.
record DeviceHandle(long pointer, Device device) {
    private static final Map<String, DeviceHandle> KNOWN = new HashMap<>();
    /// Only that thread looks here.
    private static final Map<String, Context> SHARED = new HashMap<>();

    /// Those of `VERBENA_DEVICES`, names with a blank between; all that there are when it is not set.
    static List<DeviceHandle> list() {
        String names = System.getenv("VERBENA_DEVICES");
        var devices = names == null || names.isBlank()
                ? Device.list()
                : Arrays.stream(names.strip().split(" +")).map(Device::named).toList();
        return devices.stream().map(DeviceHandle::of).toList();
    }

    static DeviceHandle of(Device device) {
        synchronized (KNOWN) {
            return KNOWN.computeIfAbsent(device.name(), name -> create(name, withAddress(device)));
        }
    }

    /// A card has the same addresses whoever opens it. One of ours that would take a new address each time is
    /// taken on 127.0.0.1, which processes share.
    private static Device withAddress(Device device) {
        return device.gids().isEmpty() && device.name().startsWith("rocev2")
                ? Device.named(device.name().replaceFirst("^rocev2(_[^,]*)?", "rocev2@127.0.0.1"))
                : device;
    }

    /// Opened once for all connections, and to the end; by the one thread that makes threads.
    Context shared() {
        return Threads.make(() -> SHARED.computeIfAbsent(device.name(), _ -> device.open()));
    }

    private static DeviceHandle create(String name, Device device) {
        long pointer = Native.allocate(DEVICE.size());
        boolean isIwarp = device.transportType() == TransportType.IWARP;
        Native.putInt(
                pointer + DEVICE.at("node_type"), isIwarp ? VerbsConstants.IBV_NODE_RNIC : VerbsConstants.IBV_NODE_CA);
        Native.putInt(
                pointer + DEVICE.at("transport_type"),
                isIwarp ? VerbsConstants.IBV_TRANSPORT_IWARP : VerbsConstants.IBV_TRANSPORT_IB);
        String shown = name.replaceAll(",.*", ""); // options are nobody's business
        putText(pointer, "name", shown);
        putText(pointer, "dev_name", shown);
        var made = new DeviceHandle(pointer, device);
        Handles.put(pointer, made);
        return made;
    }

    private static void putText(long pointer, String field, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long length = Math.min(bytes.length, DEVICE.bytes(field) - 1);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Native.at(pointer + DEVICE.at(field), length), 0, length);
    }
}
