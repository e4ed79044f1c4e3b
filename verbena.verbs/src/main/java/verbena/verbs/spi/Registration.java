package verbena.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.Advice;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Preview;
import verbena.verbs.ProtectionDomain;

/// The checks that every device makes of memory to be registered (ibv_reg_mr(3), IBTA 10.6.3.1). The first parameter
/// of most of them is the name of the verb that the program has called, for the message of the exception. It has no
/// state, and any thread may use it.
///
/// @since 0.1
@Preview
public final class Registration {
    /// A thread that nothing is confined to.
    private static final Thread NOBODY = Thread.ofPlatform().unstarted(() -> {});

    private static final Set<Access> NOT_OF_ADDRESS_SPACE =
            Set.of(Access.ZERO_BASED, Access.MW_BIND, Access.FLUSH_PERSISTENT);

    private Registration() {}

    /// Checks that a region which lets peers write or do atomics allows local writing too.
    ///
    /// @throws IllegalArgumentException when it does not
    public static void checkAccess(String verb, Set<Access> access) {
        if (!access.contains(Access.LOCAL_WRITE)
                && (access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC))) {
            throw new IllegalArgumentException(
                    verb + ": access: REMOTE_WRITE and REMOTE_ATOMIC ask for LOCAL_WRITE too, got " + access);
        }
    }

    /// Checks that memory is native and alive, and accessible to all threads. When `access` has `LOCAL_WRITE`, it
    /// must be writable too.
    ///
    /// @throws IllegalArgumentException when it is not
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
    ///
    /// @throws IllegalArgumentException when it is not
    public static void checkWritable(String verb, MemorySegment segment, Set<Access> access) {
        if (segment.isReadOnly() && access.contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException(
                    verb + ": segment: is read-only, and access asks for writing: " + access);
        }
    }

    /// Checks the rights of a region of the whole address space, and returns them with `ON_DEMAND`.
    ///
    /// @throws IllegalArgumentException when one of them makes no sense for the whole address space
    public static Set<Access> ofAddressSpace(String verb, Set<Access> access) {
        for (Access other : NOT_OF_ADDRESS_SPACE) {
            if (access.contains(other)) {
                throw new IllegalArgumentException(
                        verb + ": access: the whole address space has no " + other + ", got " + access);
            }
        }
        var all = EnumSet.of(Access.ON_DEMAND);
        all.addAll(access);
        return all;
    }

    /// Checks the ranges that an advice of `domain` is about ([ProtectionDomain#advise]).
    ///
    /// @throws IllegalArgumentException when there are none, or one is of another domain or lacks the right
    /// @throws InvalidStateException when the region of a range is closed
    public static void checkAdvice(ProtectionDomain domain, Advice advice, LocalMemory... ranges) {
        if (ranges.length == 0) {
            throw new IllegalArgumentException("advise: ranges: at least one");
        }
        for (LocalMemory range : ranges) {
            MemoryRegion region = range.region();
            if (region.isClosed()) {
                throw new InvalidStateException("advise: " + region + " is closed");
            }
            if (region.protectionDomain() != domain) {
                throw new IllegalArgumentException("advise: ranges: " + region + " is of another protection domain");
            }
            if (!region.access().contains(Access.ON_DEMAND)) {
                throw new IllegalArgumentException("advise: ranges: " + region + " is not ON_DEMAND");
            }
            if (advice == Advice.PREFETCH_WRITE && !region.access().contains(Access.LOCAL_WRITE)) {
                throw new IllegalArgumentException("advise: ranges: " + region + " has no LOCAL_WRITE");
            }
        }
    }

    /// Checks the address by which peers name the first byte of a region.
    ///
    /// @param iova the address
    /// @param bytes length of the region
    /// @throws IllegalArgumentException when the region is zero-based and the address is not 0, or when the region
    ///     goes past the end of the address space
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
