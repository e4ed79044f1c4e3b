package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.ALLOC_DM_ATTR;
import static verbena.foreign.rdma.VerbsStructs.DM;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.provider.Arguments;
import verbena.verbs.Context;
import verbena.verbs.DeviceException;
import verbena.verbs.DeviceMemory;
import verbena.verbs.InUseException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.spi.OwnedObject;

/// Memory of a card.
public final class IbvDeviceMemory extends OwnedObject implements DeviceMemory {
    /// A cache line: it fits every atomic.
    private static final int LOG_ALIGNMENT = 6;

    private final OpenContext context;
    private final long bytes;
    private final long address;
    private final NativeFunction write;
    private final NativeFunction read;

    public IbvDeviceMemory(OpenContext context, long bytes) {
        super("device memory of " + bytes + " bytes");
        if (bytes < 1) {
            throw new IllegalArgumentException("allocateDeviceMemory: bytes: at least 1, got " + bytes);
        }
        this.context = context;
        this.bytes = bytes;
        madeFrom(List.of(context));
        NativeFunction.Result made;
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(ALLOC_DM_ATTR.size(), 8).address();
            Memory.putLong(at + ALLOC_DM_ATTR.at("length"), bytes);
            Memory.putInt(at + ALLOC_DM_ATTR.at("log_align_req"), LOG_ALIGNMENT);
            made = operation("ptr alloc_dm(ptr, ptr)").call(context.address(), at);
        }
        if (made.isNull()) {
            abandon();
            throw new ResourceLimitException(
                    "allocateDeviceMemory",
                    "maxDeviceMemoryBytes",
                    context.attributes().memory().maxDeviceMemoryBytes(),
                    "asked for " + bytes + "; the device says " + Errno.text(made.errno()));
        }
        address = made.value();
        context.checkLayout("ibv_dm", Memory.getLong(address + DM.at("context")));
        write = function("u32 memcpy_to_dm(ptr, u64, ptr, u64)");
        read = function("u32 memcpy_from_dm(ptr, ptr, u64, u64)");
        zero();
    }

    /// Zeroes it, because a card may show what another program has left there.
    private void zero() {
        try (Arena arena = Arena.ofConfined()) {
            write(0, arena.allocate(bytes - bytes % COPY_UNIT, COPY_UNIT));
        }
    }

    private NativeFunction operation(String signature) {
        return context.ops().extended(signature).orElseThrow(); // or the device would not have the capability
    }

    /// Returns a function of the struct itself.
    private NativeFunction function(String signature) {
        String name = signature.substring(signature.indexOf(' ') + 1, signature.indexOf('('));
        return NativeFunction.of(MemorySegment.ofAddress(Memory.getLong(address + DM.at(name))), signature);
    }

    NativeFunction.Result register(long pd, long offset, long length, int access) {
        return operation("ptr reg_dm_mr(ptr, ptr, u64, u64, u32)").call(pd, address, offset, length, access);
    }

    @Override
    public Context context() {
        return context;
    }

    @Override
    public long length() {
        return bytes;
    }

    @Override
    public void write(long offset, MemorySegment from) {
        checkOpen("write");
        Arguments.checkDeviceCopy("write", this, offset, from.byteSize());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = from.isNative() ? from : arena.allocate(from.byteSize(), COPY_UNIT);
            if (!from.isNative()) {
                host.copyFrom(from);
            }
            check("write", write.call(address, offset, host, host.byteSize()));
        }
    }

    @Override
    public void read(long offset, MemorySegment into) {
        checkOpen("read");
        Arguments.checkDeviceCopy("read", this, offset, into.byteSize());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = into.isNative() ? into : arena.allocate(into.byteSize(), COPY_UNIT);
            check("read", read.call(host, address, offset, host.byteSize()));
            if (!into.isNative()) {
                into.copyFrom(host);
            }
        }
    }

    private static void check(String verb, NativeFunction.Result copied) {
        if (copied.error() != 0) {
            throw new DeviceException(verb + ": the device says " + Errno.text(copied.error()));
        }
    }

    @Override
    protected synchronized void release() {
        int error = operation("u32 free_dm(ptr)").call(address).error();
        if (Errno.EBUSY.is(error)) {
            throw new InUseException("close", label(), List.of("a region of it"));
        }
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_free_dm says " + Errno.text(error));
        }
    }
}
