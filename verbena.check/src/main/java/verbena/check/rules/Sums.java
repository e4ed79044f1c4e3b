package verbena.check.rules;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// The sum of bytes, which shows that they have changed.
final class Sums {
    private static final long PRIME = 0x9E37_79B9_7F4A_7C15L;

    private Sums() {}

    /// Returns a sum of the bytes of a memory; that of nothing when they cannot be read.
    ///
    /// @param whole the number of bytes that are all looked at; of a longer memory, as many at each end
    /// @param before the sum of what is in front
    static long of(MemorySegment memory, long whole, long before) {
        if (!memory.scope().isAlive()) {
            return before;
        }
        long bytes = memory.byteSize();
        long sum = sum(memory, 0, Math.min(bytes, whole), before);
        return bytes > whole ? sum(memory, Math.max(whole, bytes - whole), bytes, sum) : sum;
    }

    private static long sum(MemorySegment memory, long from, long to, long before) {
        long sum = before + to;
        long at = from;
        try {
            for (; at <= to - Long.BYTES; at += Long.BYTES) {
                sum = (sum ^ memory.get(JAVA_LONG_UNALIGNED, at)) * PRIME;
            }
            for (; at < to; at++) {
                sum = (sum ^ memory.get(JAVA_BYTE, at)) * PRIME;
            }
        } catch (IllegalStateException e) {
            return 0; // its arena was closed meanwhile, which another rule tells
        }
        return sum;
    }
}
