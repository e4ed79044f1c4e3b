package verbena.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.Preview;

/// The checks that every device makes of memory that is registered (ibv_reg_mr(3), IBTA 10.6.3.1). A mistake throws
/// [IllegalArgumentException] and names the verb and its argument.
@Preview
public final class Registration {
    /// A thread that nothing is confined to.
    private static final Thread NOBODY = Thread.ofPlatform().unstarted(() -> {});

    private Registration() {}

    /// Checks that a region which lets peers write allows local writing too.
    public static void checkAccess(String verb, Set<Access> access) {
        if (!access.contains(Access.LOCAL_WRITE)
                && (access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC))) {
            throw new IllegalArgumentException(
                    verb + ": access: REMOTE_WRITE and REMOTE_ATOMIC ask for LOCAL_WRITE too, got " + access);
        }
    }

    /// Checks that memory is native and alive, that any thread may touch, and that can be written when `access`
    /// says so.
    public static void checkSegment(String verb, MemorySegment segment, Set<Access> access) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException(verb + ": segment: is on the heap, where the collector moves it; use"
                    + " native memory (Arena.ofShared().allocate, ProtectionDomain.allocate, a mapped file)");
        }
        if (!segment.scope().isAlive()) {
            throw new IllegalArgumentException(verb + ": segment: its arena is closed");
        }
        if (!segment.isAccessibleBy(NOBODY)) {
            throw new IllegalArgumentException(
                    verb + ": segment: is confined to one thread; use Arena.ofShared() or Arena.ofAuto()");
        }
        checkWritable(verb, segment, access);
    }

    public static void checkWritable(String verb, MemorySegment segment, Set<Access> access) {
        if (segment.isReadOnly() && access.contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException(
                    verb + ": segment: is read-only, and access asks for writing: " + access);
        }
    }

    /// Peers address the memory from `iova` on, 0 when it is zero-based.
    public static void checkIova(String verb, long iova, long bytes, Set<Access> access) {
        if (access.contains(Access.ZERO_BASED) && iova != 0) {
            throw new IllegalArgumentException(verb + ": iova: 0 with ZERO_BASED, got 0x" + Long.toHexString(iova));
        }
        long last = iova + Math.max(1, bytes) - 1;
        if (Long.compareUnsigned(last, iova) < 0) {
            throw new IllegalArgumentException(verb + ": iova: " + bytes + " bytes from 0x" + Long.toHexString(iova)
                    + " on go past the end of the address space");
        }
    }
}
