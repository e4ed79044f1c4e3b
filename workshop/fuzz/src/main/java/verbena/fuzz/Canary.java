package verbena.fuzz;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Memory of five parts of which only the second and the fourth may change. Used again for each input.
final class Canary {
    static final int PART = 1_024;

    private final MemorySegment memory = Arena.global().allocate(5L * PART, 8);
    private final MemorySegment copy = Arena.global().allocate(5L * PART, 8);

    Canary() {
        for (int i = 0; i < 5 * PART; i++) {
            copy.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + 7));
        }
    }

    void restore() {
        memory.copyFrom(copy);
    }

    /// Returns a part without its first and last 64 bytes, which no packet may change.
    MemorySegment part(int index) {
        return memory.asSlice((long) index * PART + 64, PART - 128);
    }

    /// Returns a part that no packet may change, whole.
    MemorySegment constant() {
        return memory.asSlice(2 * PART, PART);
    }

    void check() {
        check(0, PART + 64);
        check(2 * PART - 64, 3 * PART + 64);
        check(4 * PART - 64, 5 * PART);
    }

    private void check(int from, int to) {
        long at = MemorySegment.mismatch(memory, from, to, copy, from, to);
        Contract.holds(at < 0, "byte " + (from + at) + " has changed, which no packet may change");
    }
}
