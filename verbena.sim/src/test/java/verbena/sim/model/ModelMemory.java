package verbena.sim.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.BitSet;

/// Memory of the application: what regions are made from. Several regions may show the same of it.
public final class ModelMemory {
    private final byte[] bytes;
    /// What a failed request may have left anything in.
    private final BitSet undefined = new BitSet();

    /// @param initial what is in it
    public ModelMemory(byte[] initial) {
        bytes = initial.clone();
    }

    public int length() {
        return bytes.length;
    }

    byte[] read(int from, int length) {
        return Arrays.copyOfRange(bytes, from, from + length);
    }

    /// Also for the application itself, which may change its memory at any time.
    public void write(int from, byte[] data) {
        System.arraycopy(data, 0, bytes, from, data.length);
        undefined.clear(from, from + data.length);
    }

    /// Anything may be here now: the standard says nothing about it.
    void leaveUndefined(int from, int length) {
        undefined.set(from, from + length);
    }

    public boolean hasUndefined() {
        return !undefined.isEmpty();
    }

    /// Where a device's memory differs, -1 when it does not. What is undefined is taken over from there.
    public int mismatch(MemorySegment actual) {
        for (int from = undefined.nextSetBit(0); from >= 0; from = undefined.nextSetBit(from)) {
            int to = undefined.nextClearBit(from);
            MemorySegment.copy(actual, ValueLayout.JAVA_BYTE, from, bytes, from, to - from);
            from = to;
        }
        undefined.clear();
        return (int) MemorySegment.ofArray(bytes).mismatch(actual);
    }
}
