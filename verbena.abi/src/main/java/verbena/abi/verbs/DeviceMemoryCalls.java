package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.ALLOC_DM_ATTR;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.spi.Registration;

/// Memory of devices (ibv_alloc_dm(3)).
final class DeviceMemoryCalls {
    /// The largest alignment: it begins at a page.
    private static final int LOG_ALIGNMENT_MAX = 12;
    /// The rights of regions of it, beside hints.
    private static final Set<Access> RIGHTS = EnumSet.of(
            Access.ZERO_BASED,
            Access.LOCAL_WRITE,
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.RELAXED_ORDERING);

    private DeviceMemoryCalls() {}

    static long allocDm(long context, long attributes) {
        var of = Handles.get(context, ContextHandle.class);
        long bytes = Memory.getLong(Native.some(attributes) + ALLOC_DM_ATTR.at("length"));
        int alignment = Memory.getInt(attributes + ALLOC_DM_ATTR.at("log_align_req"));
        if (Memory.getInt(attributes + ALLOC_DM_ATTR.at("comp_mask")) != 0 // of what there is not yet
                || Integer.compareUnsigned(alignment, LOG_ALIGNMENT_MAX) > 0) {
            return Errno.EINVAL;
        }
        return DeviceMemoryHandle.of(of.context.allocateDeviceMemory(bytes), context).pointer;
    }

    static long freeDm(long dm) {
        Handles.byNumber(dm, DeviceMemoryHandle.class).destroy();
        return 0;
    }

    static long regDmMr(long pd, long dm, long offset, long length, long access) {
        var domain = DomainHandle.get(pd);
        var of = Handles.byNumber(dm, DeviceMemoryHandle.class);
        Set<Access> rights = Access.ofBits((int) access & ~MemoryCalls.OPTIONAL);
        if (!rights.contains(Access.ZERO_BASED) || !RIGHTS.containsAll(rights)) {
            return Errno.EINVAL;
        }
        Registration.checkAccess("register", rights);
        MemoryRegion region = domain.domain.register(of.memory, offset, length, rights);
        return RegionHandle.of(region, domain, 0, length).pointer;
    }

    static long copyDm(long dm, long offset, long host, long length, long isWrite) {
        var of = Handles.get(dm, DeviceMemoryHandle.class);
        if (length < 0) {
            return Errno.EINVAL;
        }
        MemorySegment memory = Native.at(host, length);
        if (isWrite != 0) {
            of.memory.write(offset, memory);
        } else {
            of.memory.read(offset, memory);
        }
        return 0;
    }
}
