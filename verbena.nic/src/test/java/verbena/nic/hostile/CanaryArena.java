package verbena.nic.hostile;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// An arena of 64 MiB for regions, and a copy of it. Every byte that must not change has its highest bit set
/// unless a peer may read it, so that leaks are seen too.
final class CanaryArena {
    static final long BYTES = 64L << 20;

    /// A byte has changed that must not change.
    @SuppressWarnings("serial") // never sent anywhere
    static final class Died extends AssertionError {
        final long offset;

        Died(long offset, byte was, byte is) {
            super("the byte at offset " + offset + " of the arena changed from " + was + " to " + is);
            this.offset = offset;
        }
    }

    private record Range(long from, long to) {}

    private final MemorySegment memory;
    private final MemorySegment copy;
    private final List<Range> open = new ArrayList<>();
    private final List<Range> watched = new ArrayList<>();

    CanaryArena(Arena arena) {
        memory = arena.allocate(BYTES, 4_096);
        copy = arena.allocate(BYTES, 4_096);
        for (long at = 0; at < BYTES; at += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, at, at * 0x9E37_79B9_7F4A_7C15L | 0x8080_8080_8080_8080L);
        }
    }

    MemorySegment slice(long offset, long bytes) {
        return memory.asSlice(offset, bytes);
    }

    /// Opens these bytes, which may change. Ranges are opened in ascending order.
    MemorySegment open(long offset, long bytes) {
        open.add(new Range(offset, offset + bytes));
        return slice(offset, bytes);
    }

    /// From now on, no other byte may change.
    void seal() {
        copy.copyFrom(memory);
        long at = 0;
        for (Range range : open) {
            watched.add(new Range(at, range.from));
            at = range.to;
        }
        watched.add(new Range(at, BYTES));
    }

    /// Compares all bytes that must not change.
    void check() {
        for (Range range : watched) {
            long at = MemorySegment.mismatch(memory, range.from, range.to, copy, range.from, range.to);
            if (at >= 0) {
                check(range.from + at);
            }
        }
    }

    /// Compares one byte.
    void check(long offset) {
        byte was = copy.get(ValueLayout.JAVA_BYTE, offset);
        byte is = memory.get(ValueLayout.JAVA_BYTE, offset);
        if (was != is) {
            throw new Died(offset, was, is);
        }
    }
}
