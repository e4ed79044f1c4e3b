package verbena.ibverbs;

import static verbena.foreign.rdma.VerbsStructs.DEVICE;

import java.util.List;
import verbena.foreign.Memory;
import verbena.foreign.rdma.VerbsConstants;
import verbena.ibverbs.lib.VerbsLibrary;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.TransportType;

/// A device of the system's.
///
/// @param name the kernel's, for example `mlx5_0`
/// @param node its file, for example `/dev/infiniband/uverbs0`
record IbvDevice(VerbsLibrary library, String name, TransportType transportType, long nodeGuid, String node)
        implements Device {
    /// @param address of a `struct ibv_device`
    static IbvDevice at(VerbsLibrary library, long address) {
        boolean isIwarp = Memory.getInt(address + DEVICE.at("transport_type")) == VerbsConstants.IBV_TRANSPORT_IWARP;
        return new IbvDevice(
                library,
                Memory.getString(address + DEVICE.at("name")),
                isIwarp ? TransportType.IWARP : TransportType.INFINIBAND,
                Memory.swap(library.getDeviceGuid.call(address).value()),
                "/dev/infiniband/" + Memory.getString(address + DEVICE.at("dev_name")));
    }

    /// Returns the GIDs, which are known only when it is open, so it is opened for that.
    @Override
    public List<GidEntry> gids() {
        try (Context context = open()) {
            return context.gids(1);
        } catch (DeviceException e) {
            return List.of();
        }
    }

    @Override
    public Context open() {
        return IbvContext.open(this);
    }

    @Override
    public String toString() {
        return name;
    }
}
