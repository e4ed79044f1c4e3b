package verbena.nic.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import verbena.nic.kind.DeviceLimits;
import verbena.provider.Arguments;
import verbena.transport.memory.Region;
import verbena.verbs.Context;
import verbena.verbs.DeviceMemory;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.spi.OwnedObject;

/// Memory of a software device: memory of the process to which the program has no address.
final class SoftDeviceMemory extends OwnedObject implements DeviceMemory {
    private static final int ALIGNMENT = 4096;

    private final DeviceCore core;
    private final AtomicLong inUse;
    private final MemorySegment memory;

    /// @param inUse the bytes that all of the device have
    SoftDeviceMemory(DeviceCore core, long bytes, AtomicLong inUse) {
        super("device memory of " + bytes + " bytes");
        this.core = core;
        this.inUse = inUse;
        if (bytes < 1) {
            throw new IllegalArgumentException("allocateDeviceMemory: bytes: at least 1, got " + bytes);
        }
        take(inUse, bytes);
        boolean made = false;
        try {
            memory = Arena.ofAuto().allocate(bytes, ALIGNMENT);
            madeFrom(core.root);
            made = true;
        } finally {
            if (!made) {
                inUse.addAndGet(-bytes);
            }
        }
    }

    private static void take(AtomicLong inUse, long bytes) {
        long max = DeviceLimits.DEVICE_MEMORY_BYTES_MAX;
        long before = inUse.getAndUpdate(used -> bytes > max - used ? used : used + bytes);
        if (bytes > max - before) {
            throw new ResourceLimitException(
                    "allocateDeviceMemory", "maxDeviceMemoryBytes", max, before + " are in use, asked for " + bytes);
        }
    }

    /// Returns a region of a part of it, as the engines know it.
    Region region(int domain, long offset, long length, int access) {
        return Region.ofLastingMemory(domain, memory.asSlice(offset, length), 0, access);
    }

    @Override
    public Context context() {
        return core.context;
    }

    @Override
    public long length() {
        return memory.byteSize();
    }

    @Override
    public void write(long offset, MemorySegment from) {
        checkOpen("write");
        Arguments.checkDeviceCopy("write", this, offset, from.byteSize());
        MemorySegment.copy(from, 0, memory, offset, from.byteSize());
    }

    @Override
    public void read(long offset, MemorySegment into) {
        checkOpen("read");
        Arguments.checkDeviceCopy("read", this, offset, into.byteSize());
        MemorySegment.copy(memory, offset, into, 0, into.byteSize());
    }

    @Override
    protected void release() {
        inUse.addAndGet(-memory.byteSize());
    }
}
