package verbena.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.Preview;

/// The checks that every device makes of memory to be registered (ibv_reg_mr(3), IBTA 10.6.3.1). A mistake throws
/// [IllegalArgumentException], whose message names the verb and its argument. It has no state, and any thread may use
/// it.
///
/// @since 0.1
@Preview
public final class Registration {
    /// A thread that nothing is confined to.
    private static final Thread NOBODY = Thread.ofPlatform().unstarted(() -> {});

    private Registration() {}

    /// Checks that a region which lets peers write or do atomics allows local writing too.
    public static void checkAccess(String verb, Set<Access> access) {
        if (!access.contains(Access.LOCAL_WRITE)
                && (access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC))) {
            throw new IllegalArgumentException(
                    verb + ": access: REMOTE_WRITE and REMOTE_ATOMIC ask for LOCAL_WRITE too, got " + access);
        }
    }

    /// Checks that memory is native and alive, and accessible to all threads. When `access` has `LOCAL_WRITE`, it
    /// must be writable too.
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

    /// Checks that memory is writable when `access` has `LOCAL_WRITE`.
    public static void checkWritable(String verb, MemorySegment segment, Set<Access> access) {
        if (segment.isReadOnly() && access.contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException(
                    verb + ": segment: is read-only, and access asks for writing: " + access);
        }
    }

    /// Checks the address by which peers name the first byte: 0 when it is zero-based, and no wrap-around within
    /// `bytes`.
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
