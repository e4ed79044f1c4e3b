package verbena.foreign;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Access to memory that a program in C may unmap or protect at any moment. Functions of our C library do it,
/// because a fault of the virtual machine's own code there would end the process ([decision
/// 36](../../../../../../docs/decisions/36-signals-in-c.md)). Any thread.
public final class GuardedAccess {
    private static volatile @Nullable GuardedAccess ofProcess;

    private final SystemFunction copy;
    private final SystemFunction atomic;
    private final SystemFunction isOurs;

    private GuardedAccess(SystemFunction copy, SystemFunction atomic, SystemFunction isOurs) {
        this.copy = copy;
        this.atomic = atomic;
        this.isOurs = isOurs;
    }

    /// Sets the functions of the C library, before a device is opened: memory that is registered from now on is a C
    /// program's.
    ///
    /// @param copy address of its `guarded_copy`
    /// @param atomic address of its `guarded_atomic`
    /// @param isOurs address of its `is_jvms`
    public static void begin(long copy, long atomic, long isOurs) {
        ofProcess = new GuardedAccess(SystemFunction.at(copy), SystemFunction.at(atomic), SystemFunction.at(isOurs));
    }

    /// Returns the access of this process; null in a program that is not C's.
    public static @Nullable GuardedAccess ofProcess() {
        return ofProcess;
    }

    /// Copies memory that may be a program's to memory of ours, as
    /// [MemorySegment#copy(MemorySegment, long, MemorySegment, long, long)]; false when some of it has gone.
    public static boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        GuardedAccess there = ofProcess;
        if (there == null || !from.isNative() || !to.isNative()) { // a program in C has no heap
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            return true;
        }
        return there.copy(at(to, toOffset, bytes), at(from, fromOffset, bytes), bytes);
    }

    /// Returns the address of a part of native memory.
    public static long at(MemorySegment of, long offset, long bytes) {
        assert of.isNative() : "the heap moves";
        return of.address() + Objects.checkFromIndexSize(offset, bytes, of.byteSize());
    }

    /// Returns whether some of these bytes are the virtual machine's heap or its classes, of which the program
    /// knows nothing.
    public boolean isOurs(long address, long bytes) {
        return isOurs.call(address, address + bytes) != 0;
    }

    /// Calls memmove(3); returns false when some of the memory is not there.
    public boolean copy(long to, long from, long bytes) {
        return copy.call(to, from, bytes) == 0;
    }

    /// Does an atomic on 8 bytes; returns false when they are not there.
    ///
    /// @param which 0 adds, 1 stores `value` when `expected` is there, 2 stores
    /// @param original address of the 8 bytes for the value before
    public boolean atomic(int which, long at, long value, long expected, long original) {
        return atomic.call(which, at, value, expected, original, 0) == 0;
    }
}
