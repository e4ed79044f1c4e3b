package verbena.messages.rail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// Memory for long messages that no program has given memory for, used again and again. Fresh memory would have to
/// be cleared, fetched from the system page by page, and registered. Under the lock of the worker.
public final class Buffers {
    /// Bytes that wait to be used again, at most.
    static final long FREE_MAX = 16 << 20;

    private static final int SIZES = 32;
    private static final long ALIGNMENT = 64;

    /// Free memory by the logarithm of its length.
    private final ArrayDeque<MemorySegment>[] free;

    private long freeBytes;

    @SuppressWarnings({"unchecked", "rawtypes"})
    Buffers() {
        free = new ArrayDeque[SIZES];
        for (int i = 0; i < SIZES; i++) {
            free[i] = new ArrayDeque<>();
        }
    }

    /// Takes memory of so many bytes or more, up to twice as many, with any contents.
    public MemorySegment take(long bytes) {
        int size = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, bytes - 1));
        if (size >= SIZES) {
            return Arena.ofAuto().allocate(bytes, ALIGNMENT);
        }
        MemorySegment found = free[size].poll();
        if (found == null) {
            return Arena.ofAuto().allocate(1L << size, ALIGNMENT);
        }
        freeBytes -= found.byteSize();
        return found;
    }

    /// Takes memory of [#take] back, which no thread uses any more.
    public void give(MemorySegment buffer) {
        long bytes = buffer.byteSize();
        if (Long.bitCount(bytes) == 1 && freeBytes + bytes <= FREE_MAX) {
            free[Long.numberOfTrailingZeros(bytes)].push(buffer);
            freeBytes += bytes;
        }
    }

    long freeBytes() {
        return freeBytes;
    }
}
