package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Atomic extended transport header (IBTA 9.3.5.3): 8 bytes of remote memory and the operands.
public final class AtomicEth {
    /// Size, in bytes.
    public static final int BYTES = 28;

    private static final int VIRTUAL_ADDRESS = 0; // 64 bits
    private static final int RKEY = 8; // 32 bits
    private static final int SWAP_OR_ADD = 12; // 64 bits
    private static final int COMPARE = 20; // 64 bits

    private AtomicEth() {}

    /// Returns the address in the remote region; a multiple of 8 in a legal packet.
    public static long virtualAddress(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + VIRTUAL_ADDRESS);
    }

    /// Returns the key that opens the region.
    public static int rkey(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + RKEY);
    }

    /// Returns the value that COMPARE_SWAP stores, or that FETCH_ADD adds.
    public static long swapOrAdd(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + SWAP_OR_ADD);
    }

    /// Returns the value that COMPARE_SWAP compares with; FETCH_ADD does not use it.
    public static long compare(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + COMPARE);
    }

    /// Writes all 28 bytes.
    public static void write(
            MemorySegment segment, long offset, long virtualAddress, int rkey, long swapOrAdd, long compare) {
        BigEndian.put64(segment, offset + VIRTUAL_ADDRESS, virtualAddress);
        BigEndian.put32(segment, offset + RKEY, rkey);
        BigEndian.put64(segment, offset + SWAP_OR_ADD, swapOrAdd);
        BigEndian.put64(segment, offset + COMPARE, compare);
    }
}
