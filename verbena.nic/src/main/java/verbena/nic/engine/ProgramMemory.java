package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import verbena.foreign.GuardedAccess;
import verbena.transport.memory.UserMemory;

/// Memory of a program in C, which may unmap or protect it at any moment. It lies in the global arena.
final class ProgramMemory implements UserMemory {
    private final GuardedAccess access;
    /// Whether it can be any address, also one of the virtual machine's, which counts as not there.
    private final boolean isAny;
    private final MemorySegment found = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

    ProgramMemory(GuardedAccess access, boolean isAny) {
        this.access = access;
        this.isAny = isAny;
    }

    @Override
    public boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        long target = GuardedAccess.at(to, toOffset, bytes);
        long source = GuardedAccess.at(from, fromOffset, bytes);
        return (!isAny || !(access.isOurs(target, bytes) || access.isOurs(source, bytes)))
                && access.copy(target, source, bytes);
    }

    @Override
    public boolean atomic(Atomic which, MemorySegment memory, long offset, long value, long expected) {
        long at = GuardedAccess.at(memory, offset, Long.BYTES);
        return (!isAny || !access.isOurs(at, Long.BYTES))
                && access.atomic(which.ordinal(), at, value, expected, found.address());
    }

    @Override
    public long original() {
        return found.get(ValueLayout.JAVA_LONG, 0);
    }

    @Override
    public UserMemory forAnotherEngine() {
        return new ProgramMemory(access, isAny);
    }
}
