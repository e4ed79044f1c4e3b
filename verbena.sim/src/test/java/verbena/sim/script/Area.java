package verbena.sim.script;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import verbena.transport.memory.Region;

/// A region of one end, in an arena of its own, filled with a pattern that no other region has.
final class Area {
    final String name;
    final Region region;
    private final Arena arena;
    private final MemorySegment memory;
    private final byte[] initial;

    Area(String name, int domain, long bytes, long iova, int access) {
        this.name = name;
        this.arena = Arena.ofConfined();
        this.memory = arena.allocate(bytes, 64);
        int seed = name.hashCode();
        for (int i = 0; i < bytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + (i >>> 8) * 13 + seed));
        }
        this.initial = memory.toArray(ValueLayout.JAVA_BYTE);
        this.region = new Region(domain, memory, iova, access);
    }

    void close() {
        arena.close();
    }

    boolean isClosed() {
        return !arena.scope().isAlive();
    }

    byte[] bytes(long offset, int length) {
        return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    void fill(long offset, long length, byte value) {
        memory.asSlice(offset, length).fill(value);
    }

    long word(long offset) {
        return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    void setWord(long offset, long value) {
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
    }

    /// Where the memory first differs from the pattern it had, outside a range; -1 when nowhere.
    long firstChangeOutside(long from, long length) {
        byte[] now = memory.toArray(ValueLayout.JAVA_BYTE);
        int before = Arrays.mismatch(now, 0, (int) from, initial, 0, (int) from);
        if (before >= 0) {
            return before;
        }
        int end = (int) (from + length);
        int after = Arrays.mismatch(now, end, now.length, initial, end, initial.length);
        return after < 0 ? -1 : end + after;
    }

    /// The pattern that it had, for packets of the scripted peer.
    byte[] pattern() {
        return initial;
    }
}
