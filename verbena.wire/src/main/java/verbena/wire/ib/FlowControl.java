package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// A flow control packet, 6 bytes (IBTA 7.9.4): how much has been sent on a virtual lane, and how much may be.
/// Counts are of [#BLOCK_BYTES], modulo 4096. It is a link packet: no LRH, and on wires a delimiter of its own.
/// Where packets travel as messages, it is the only one of 6 bytes.
public final class FlowControl {
    /// Size, in bytes, with the LPCRC.
    public static final int BYTES = 6;
    /// The unit of credits, in bytes.
    public static final int BLOCK_BYTES = 64;
    /// The bits of a count.
    public static final int COUNT_MASK = 0xFFF;
    /// The usual operand.
    public static final int NORMAL = 0;
    /// The operand while a link initializes.
    public static final int INIT = 1;

    private static final int SENT = 0; // operand 4, FCTBS 12 bits
    private static final int LIMIT = 2; // VL 4, FCCL 12 bits
    private static final int COVERED = 4; // the LPCRC covers what is before it

    private FlowControl() {}

    /// Returns the operand: [#NORMAL], [#INIT], or a reserved value, which receivers ignore.
    public static int operand(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + SENT) >>> 12;
    }

    /// Returns the flow control total blocks sent, 12 bits: all that the sender of this packet has sent on the
    /// lane.
    public static int totalBlocksSent(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + SENT) & COUNT_MASK;
    }

    public static int virtualLane(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + LIMIT) >>> 12;
    }

    /// Returns the flow control credit limit, 12 bits: the count up to which the receiver of this packet may send
    /// on the lane.
    public static int creditLimit(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + LIMIT) & COUNT_MASK;
    }

    /// Returns whether the LPCRC is right.
    public static boolean verify(MemorySegment segment, long offset) {
        return Vcrc.verify(segment, offset, COVERED);
    }

    /// Writes all 6 bytes.
    public static void write(
            MemorySegment segment, long offset, int operand, int totalBlocksSent, int virtualLane, int creditLimit) {
        BigEndian.put16(segment, offset + SENT, operand << 12 | (totalBlocksSent & COUNT_MASK));
        BigEndian.put16(segment, offset + LIMIT, virtualLane << 12 | (creditLimit & COUNT_MASK));
        Vcrc.seal(segment, offset, COVERED);
    }

    /// Returns the number of blocks of a packet, LRH through VCRC. A part of a block is a block (IBTA 7.9.4.3).
    public static int blocks(int packetBytes) {
        return (packetBytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    }
}
