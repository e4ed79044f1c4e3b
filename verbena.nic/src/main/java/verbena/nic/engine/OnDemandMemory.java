package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import verbena.foreign.GuardedAccess;
import verbena.foreign.linux.OwnProcess;
import verbena.transport.memory.UserMemory;

/// Memory of a program in Java that need not be there. The kernel copies, because the virtual machine's own access
/// to an address without memory ends the process. So an atomic is a read and a write: the caller sees to it that no
/// other engine of the device does one meanwhile.
public final class OnDemandMemory implements UserMemory {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final OwnProcess process = new OwnProcess();
    private final MemorySegment word = Arena.ofAuto().allocate(LONG);
    private long original;

    OnDemandMemory() {}

    /// Returns whether there can be such memory in this process.
    public static boolean isThere() {
        return GuardedAccess.ofProcess() != null || OwnProcess.isThere();
    }

    @Override
    public boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        try {
            return process.copy(to, toOffset, from, fromOffset, bytes);
        } catch (IllegalStateException _) {
            return false; // its arena is closed
        }
    }

    @Override
    public boolean atomic(Atomic which, MemorySegment memory, long offset, long value, long expected) {
        if (!copy(memory, offset, word, 0, Long.BYTES)) {
            return false;
        }
        original = word.get(LONG, 0);
        if (which == Atomic.COMPARE_AND_SWAP && original != expected) {
            return true;
        }
        word.set(LONG, 0, which == Atomic.ADD ? original + value : value);
        return copy(word, 0, memory, offset, Long.BYTES);
    }

    @Override
    public long original() {
        return original;
    }

    @Override
    public UserMemory forAnotherEngine() {
        return new OnDemandMemory();
    }
}
