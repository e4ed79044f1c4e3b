package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The body of an atomic request, behind its DDP header (RFC 7306 5.2.1).
public final class AtomicRequest {
    /// Size, in bytes.
    public static final int BYTES = 52;
    /// Operation: adds, within the fields that the mask marks the ends of.
    public static final int FETCH_ADD = 0;
    /// Operation: replaces the bits that the swap mask selects, if the bits that the compare mask selects are
    /// equal.
    public static final int COMPARE_SWAP = 2;

    private static final int OPERATION = 0; // reserved 28, operation 4 bits
    private static final int IDENTIFIER = 4; // 32 bits
    private static final int STAG = 8; // 32 bits
    private static final int TAGGED_OFFSET = 12; // 64 bits
    private static final int ADD_OR_SWAP = 20; // 64 bits
    private static final int ADD_OR_SWAP_MASK = 28; // 64 bits
    private static final int COMPARE = 36; // 64 bits
    private static final int COMPARE_MASK = 44; // 64 bits

    private AtomicRequest() {}

    /// Returns the operation: [#FETCH_ADD], [#COMPARE_SWAP], or a number without a meaning.
    public static int operation(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + OPERATION) & 0xF;
    }

    /// Returns the identifier, which the response is to repeat.
    public static int identifier(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + IDENTIFIER);
    }

    /// Returns the key of the memory.
    public static int stag(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + STAG);
    }

    /// Returns the offset in that memory; a multiple of 8 in a legal request.
    public static long taggedOffset(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + TAGGED_OFFSET);
    }

    /// Returns the value to add, or to store.
    public static long addOrSwap(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + ADD_OR_SWAP);
    }

    /// Returns the mask of the value. For FETCH_ADD it has the highest bit of each field that is added by itself,
    /// for COMPARE_SWAP the bits to replace.
    public static long addOrSwapMask(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + ADD_OR_SWAP_MASK);
    }

    public static long compare(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + COMPARE);
    }

    /// Returns the bits to compare.
    public static long compareMask(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + COMPARE_MASK);
    }

    /// Writes all 52 bytes.
    public static void write(
            MemorySegment segment,
            long offset,
            int operation,
            int identifier,
            int stag,
            long taggedOffset,
            long addOrSwap,
            long addOrSwapMask,
            long compare,
            long compareMask) {
        BigEndian.put32(segment, offset + OPERATION, operation);
        BigEndian.put32(segment, offset + IDENTIFIER, identifier);
        BigEndian.put32(segment, offset + STAG, stag);
        BigEndian.put64(segment, offset + TAGGED_OFFSET, taggedOffset);
        BigEndian.put64(segment, offset + ADD_OR_SWAP, addOrSwap);
        BigEndian.put64(segment, offset + ADD_OR_SWAP_MASK, addOrSwapMask);
        BigEndian.put64(segment, offset + COMPARE, compare);
        BigEndian.put64(segment, offset + COMPARE_MASK, compareMask);
    }
}
