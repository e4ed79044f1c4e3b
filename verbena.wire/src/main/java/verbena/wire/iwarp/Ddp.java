package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The header of a DDP segment, tagged or untagged, with the bits in it that belong to RDMAP (RFC 5041 4, RFC 5040
/// 4). A view: `offset` is where the ULPDU starts in `segment`.
///
/// The classes of this package cannot tell a legal header from another: the receiver checks versions and opcode.
public final class Ddp {
    /// The header of a tagged segment, in bytes.
    public static final int TAGGED_BYTES = 14;
    /// The header of an untagged segment, in bytes.
    public static final int UNTAGGED_BYTES = 18;
    /// The only version of DDP.
    public static final int VERSION = 1;
    /// The only version of RDMAP.
    public static final int RDMAP_VERSION = 1;

    /// Queue of SENDs and immediate data.
    public static final int QUEUE_SEND = 0;
    /// Queue of READ requests and atomic requests.
    public static final int QUEUE_REQUEST = 1;
    /// Queue of the TERMINATE.
    public static final int QUEUE_TERMINATE = 2;
    /// Queue of atomic responses (RFC 7306 5.3).
    public static final int QUEUE_ATOMIC_RESPONSE = 3;

    private static final int CONTROL = 0; // T 1, L 1, reserved 4, DV 2 bits
    private static final int RDMAP_CONTROL = 1; // RV 2, reserved 2, opcode 4 bits
    // tagged
    private static final int STAG = 2; // 32 bits
    private static final int TAGGED_OFFSET = 6; // 64 bits
    // untagged
    private static final int INVALIDATE_STAG = 2; // 32 bits
    private static final int QUEUE = 6; // 32 bits
    private static final int MSN = 10; // 32 bits
    private static final int MESSAGE_OFFSET = 14; // 32 bits

    private static final int TAGGED_BIT = 0x80;
    private static final int LAST_BIT = 0x40;
    private static final int VERSION_MASK = 0x3;
    private static final int RDMAP_VERSION_SHIFT = 6;
    private static final int OPCODE_MASK = 0xF;

    private Ddp() {}

    public static boolean isTagged(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + CONTROL) & TAGGED_BIT) != 0;
    }

    /// Returns whether the segment is the last of its message.
    public static boolean isLast(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + CONTROL) & LAST_BIT) != 0;
    }

    /// Returns the version of DDP.
    public static int version(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + CONTROL) & VERSION_MASK;
    }

    public static int rdmapVersion(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + RDMAP_CONTROL) >>> RDMAP_VERSION_SHIFT;
    }

    /// Returns the opcode's number, defined or not; see [RdmapOpcode#of].
    public static int opcode(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + RDMAP_CONTROL) & OPCODE_MASK;
    }

    /// Returns the key of the memory that a tagged segment goes to.
    public static int stag(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + STAG);
    }

    /// Returns the offset in that memory at which a tagged segment goes.
    public static long taggedOffset(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + TAGGED_OFFSET);
    }

    /// Returns the key that an untagged segment invalidates, 0 when there is none.
    public static int invalidateStag(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + INVALIDATE_STAG);
    }

    /// Returns the number of the queue of an untagged segment.
    public static int queue(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + QUEUE);
    }

    /// Returns the number of an untagged segment's message in the queue, from 1 on.
    public static int msn(MemorySegment segment, long offset) {
        return BigEndian.i32(segment, offset + MSN);
    }

    /// Returns the offset in the message at which an untagged segment begins.
    public static long messageOffset(MemorySegment segment, long offset) {
        return BigEndian.u32(segment, offset + MESSAGE_OFFSET);
    }

    /// Writes all 14 bytes of a tagged segment's header.
    public static void writeTagged(
            MemorySegment segment, long offset, RdmapOpcode opcode, boolean last, int stag, long taggedOffset) {
        writeControl(segment, offset, opcode, TAGGED_BIT, last);
        BigEndian.put32(segment, offset + STAG, stag);
        BigEndian.put64(segment, offset + TAGGED_OFFSET, taggedOffset);
    }

    /// Writes all 18 bytes of an untagged segment's header.
    public static void writeUntagged(
            MemorySegment segment,
            long offset,
            RdmapOpcode opcode,
            boolean last,
            int invalidateStag,
            int msn,
            long messageOffset) {
        writeControl(segment, offset, opcode, 0, last);
        BigEndian.put32(segment, offset + INVALIDATE_STAG, invalidateStag);
        BigEndian.put32(segment, offset + QUEUE, opcode.queue());
        BigEndian.put32(segment, offset + MSN, msn);
        BigEndian.put32(segment, offset + MESSAGE_OFFSET, (int) messageOffset);
    }

    private static void writeControl(MemorySegment segment, long offset, RdmapOpcode opcode, int tagged, boolean last) {
        BigEndian.put8(segment, offset + CONTROL, tagged | (last ? LAST_BIT : 0) | VERSION);
        BigEndian.put8(segment, offset + RDMAP_CONTROL, RDMAP_VERSION << RDMAP_VERSION_SHIFT | opcode.code());
    }
}
