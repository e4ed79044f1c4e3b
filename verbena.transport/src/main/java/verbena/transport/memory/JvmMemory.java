package verbena.transport.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/// Memory of programs in Java. The virtual machine reports a closed arena by IllegalStateException, and a mapped
/// file that was cut short by InternalError.
public final class JvmMemory implements UserMemory {
    private static final VarHandle ATOMIC = ValueLayout.JAVA_LONG.varHandle();
    private static final ValueLayout.OfLong UNALIGNED = ValueLayout.JAVA_LONG_UNALIGNED;

    private long original;

    @Override
    public boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        try {
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            return true;
        } catch (IllegalStateException | InternalError | IndexOutOfBoundsException | IllegalArgumentException _) {
            return false;
        }
    }

    @Override
    public boolean atomic(Atomic which, MemorySegment memory, long offset, long value, long expected) {
        try {
            if ((memory.address() + offset & 7) == 0) {
                switch (which) {
                    case ADD -> original = (long) ATOMIC.getAndAdd(memory, offset, value);
                    case COMPARE_AND_SWAP ->
                        original = (long) ATOMIC.compareAndExchange(memory, offset, expected, value);
                    case STORE -> ATOMIC.setVolatile(memory, offset, value);
                }
            } else {
                original = memory.get(UNALIGNED, offset);
                if (which != Atomic.COMPARE_AND_SWAP || original == expected) {
                    memory.set(UNALIGNED, offset, which == Atomic.ADD ? original + value : value);
                }
            }
            return true;
        } catch (IllegalStateException | InternalError | IndexOutOfBoundsException | UnsupportedOperationException _) {
            return false;
        }
    }

    @Override
    public long original() {
        return original;
    }

    @Override
    public UserMemory forAnotherEngine() {
        return new JvmMemory();
    }
}
