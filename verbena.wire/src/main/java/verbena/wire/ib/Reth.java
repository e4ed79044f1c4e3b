package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// RDMA extended transport header (IBTA 9.3.3): the remote memory of a READ, WRITE, ATOMIC WRITE or FLUSH.
public final class Reth {
    /// Size, in bytes.
    public static final int BYTES = 16;

    private static final int VIRTUAL_ADDRESS = 0; // 64 bits
    private static final int RKEY = 8; // 32 bits
    private static final int DMA_LENGTH = 12; // 32 bits

    private Reth() {}

    /// Returns the address in the remote region, as the region's owner counts.
    public static long virtualAddress(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + VIRTUAL_ADDRESS);
    }

    /// Returns the key that opens the region.
    public static int rkey(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + RKEY);
    }

    /// Returns the number of bytes of the whole message, not of this packet; at most 2^31 in a legal packet.
    public static long dmaLength(MemorySegment segment, long offset) {
        return BigEndian.u32(segment, offset + DMA_LENGTH);
    }

    /// Writes all 16 bytes.
    public static void write(MemorySegment segment, long offset, long virtualAddress, int rkey, long dmaLength) {
        BigEndian.put64(segment, offset + VIRTUAL_ADDRESS, virtualAddress);
        BigEndian.put32(segment, offset + RKEY, rkey);
        BigEndian.put32(segment, offset + DMA_LENGTH, (int) dmaLength);
    }
}
