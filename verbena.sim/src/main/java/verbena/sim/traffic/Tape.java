package verbena.sim.traffic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/// Random bytes that all ends know; messages are cut from them. A message is a place on the tape and a length, so
/// its bytes need not be stored to recognize it.
final class Tape {
    static final int BYTES = 1 << 16;
    /// A byte that fills memory to which no request may write.
    static final byte CANARY = (byte) 0xC5;

    /// Native, so that it can be sent from and read by peers.
    final MemorySegment bytes = Arena.ofAuto().allocate(BYTES, 4_096);

    Tape(SplittableRandom random) {
        for (int i = 0; i < BYTES; i += Long.BYTES) {
            bytes.set(ValueLayout.JAVA_LONG, i, random.nextLong());
        }
    }

    /// Returns the number of equal bytes of `memory` from `at` on and of the tape from `place` on, at most
    /// `length`.
    int common(MemorySegment memory, long at, int place, int length) {
        long mismatch = MemorySegment.mismatch(memory, at, at + length, bytes, place, (long) place + length);
        return mismatch < 0 ? length : (int) mismatch;
    }

    /// Returns whether `length` bytes of `memory` from `at` on are as filled with [#CANARY].
    static boolean isCanary(MemorySegment memory, long at, long length) {
        long done = 0;
        while (done < length) {
            long n = Math.min(length - done, CANARIES.byteSize());
            if (MemorySegment.mismatch(memory, at + done, at + done + n, CANARIES, 0, n) >= 0) {
                return false;
            }
            done += n;
        }
        return true;
    }

    private static final MemorySegment CANARIES =
            Arena.ofAuto().allocate(16 << 10).fill(CANARY);
}
