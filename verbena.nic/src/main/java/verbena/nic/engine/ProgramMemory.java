package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import verbena.foreign.GuardedAccess;
import verbena.transport.memory.UserMemory;

/// Memory of a program in C, which may unmap or protect it at any moment. It lies in the global arena.
final class ProgramMemory implements UserMemory {
    private final GuardedAccess access;
    private final MemorySegment found = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

    ProgramMemory(GuardedAccess access) {
        this.access = access;
    }

    @Override
    public boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        return access.copy(GuardedAccess.at(to, toOffset, bytes), GuardedAccess.at(from, fromOffset, bytes), bytes);
    }

    @Override
    public boolean atomic(Atomic which, MemorySegment memory, long offset, long value, long expected) {
        long at = GuardedAccess.at(memory, offset, Long.BYTES);
        return access.atomic(which.ordinal(), at, value, expected, found.address());
    }

    @Override
    public long original() {
        return found.get(ValueLayout.JAVA_LONG, 0);
    }

    @Override
    public UserMemory forAnotherEngine() {
        return new ProgramMemory(access);
    }
}
