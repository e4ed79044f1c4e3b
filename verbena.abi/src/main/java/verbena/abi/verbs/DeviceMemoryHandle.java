package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.DM;

import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Operations;
import verbena.foreign.Memory;
import verbena.verbs.DeviceMemory;

/// Memory of a device and its `struct ibv_dm`; or another name for one, which the program has imported.
final class DeviceMemoryHandle extends Handle {
    final DeviceMemory memory;
    private final boolean isImported;

    private DeviceMemoryHandle(DeviceMemory memory, long context, boolean isImported) {
        super(Native.allocate(DM.size()), context);
        this.memory = memory;
        this.isImported = isImported;
        Memory.putLong(pointer + DM.at("context"), context);
        Memory.putLong(pointer + DM.at("memcpy_to_dm"), Operations.address("memcpy_to_dm"));
        Memory.putLong(pointer + DM.at("memcpy_from_dm"), Operations.address("memcpy_from_dm"));
    }

    static DeviceMemoryHandle of(DeviceMemory memory, long context) {
        return Handles.put(new DeviceMemoryHandle(memory, context, false));
    }

    DeviceMemoryHandle imported(long context) {
        return Handles.putOther(new DeviceMemoryHandle(memory, context, true));
    }

    @Override
    protected long numberAt() {
        return DM.at("handle");
    }

    @Override
    public DeviceMemory object() {
        return memory;
    }

    @Override
    public boolean isImported() {
        return isImported;
    }
}
