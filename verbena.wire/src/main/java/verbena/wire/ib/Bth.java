package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// Base transport header: the first 12 bytes of every packet (IBTA 9.2). A view: `offset` is where it starts in
/// `segment`.
public final class Bth {
    /// Size, in bytes.
    public static final int BYTES = 12;
    /// Destination QP number of a multicast.
    public static final int MULTICAST_QP = 0xFF_FFFF;
    /// The default partition key, as a full member.
    public static final int PKEY_DEFAULT = 0xFFFF;

    private static final int OPCODE = 0;
    private static final int FLAGS = 1; // SE 1, M 1, PadCnt 2, TVer 4 bits
    private static final int PKEY = 2; // 16 bits
    static final int CONGESTION = 4; // FECN 1, BECN 1, reserved 6 bits; the ICRC takes it as ones
    private static final int DESTINATION_QP = 5; // 24 bits
    private static final int ACK_REQUEST = 8; // A 1, reserved 7 bits
    private static final int PSN = 9; // 24 bits

    private static final int SOLICITED_BIT = 0x80;
    private static final int MIGRATED_BIT = 0x40;
    private static final int PAD_SHIFT = 4;
    private static final int PAD_MASK = 0x3;
    private static final int VERSION_MASK = 0xF;
    private static final int FECN_BIT = 0x80;
    private static final int BECN_BIT = 0x40;
    private static final int ACK_REQUEST_BIT = 0x80;

    private Bth() {}

    /// Returns the opcode's number, defined or not; see [Opcode#of(int)].
    public static int opcode(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + OPCODE);
    }

    /// Returns whether the receiver is to raise a solicited event.
    public static boolean solicited(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + FLAGS) & SOLICITED_BIT) != 0;
    }

    /// Returns the MigReq bit. Hardware sets it on connected queue pairs, soft-RoCE never; receivers ignore it.
    public static boolean migrated(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + FLAGS) & MIGRATED_BIT) != 0;
    }

    /// Returns the number of bytes of padding between payload and ICRC, `0..3`.
    public static int padCount(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + FLAGS) >>> PAD_SHIFT) & PAD_MASK;
    }

    /// Returns the transport header version, 0 in all that exists.
    public static int version(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + FLAGS) & VERSION_MASK;
    }

    /// Returns the partition key: 15 bits of key, and the high bit for full membership.
    public static int pkey(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + PKEY);
    }

    /// Returns the bit of forward explicit congestion notification.
    public static boolean fecn(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + CONGESTION) & FECN_BIT) != 0;
    }

    /// Returns the bit of backward explicit congestion notification.
    public static boolean becn(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + CONGESTION) & BECN_BIT) != 0;
    }

    /// Returns the number of the destination queue pair, 24 bits.
    public static int destinationQp(MemorySegment segment, long offset) {
        return BigEndian.u24(segment, offset + DESTINATION_QP);
    }

    /// Returns whether the responder is to acknowledge this packet.
    public static boolean ackRequest(MemorySegment segment, long offset) {
        return (BigEndian.u8(segment, offset + ACK_REQUEST) & ACK_REQUEST_BIT) != 0;
    }

    /// Returns the packet sequence number; see [Psn].
    public static int psn(MemorySegment segment, long offset) {
        return BigEndian.u24(segment, offset + PSN);
    }

    /// Writes all 12 bytes. Version, M, FECN, BECN and the reserved bits become 0; the other setters are for what
    /// differs from that.
    public static void write(
            MemorySegment segment,
            long offset,
            Opcode opcode,
            boolean solicited,
            int padCount,
            int pkey,
            int destinationQp,
            boolean ackRequest,
            int psn) {
        BigEndian.put8(segment, offset + OPCODE, opcode.code());
        BigEndian.put8(segment, offset + FLAGS, (solicited ? SOLICITED_BIT : 0) | ((padCount & PAD_MASK) << PAD_SHIFT));
        BigEndian.put16(segment, offset + PKEY, pkey);
        BigEndian.put32(segment, offset + CONGESTION, destinationQp & 0xFF_FFFF);
        BigEndian.put32(segment, offset + ACK_REQUEST, (ackRequest ? ACK_REQUEST_BIT << 24 : 0) | (psn & Psn.MASK));
    }

    /// Writes the opcode's number, defined or not.
    public static void setOpcode(MemorySegment segment, long offset, int code) {
        BigEndian.put8(segment, offset + OPCODE, code);
    }

    public static void setSolicited(MemorySegment segment, long offset, boolean solicited) {
        setBit(segment, offset + FLAGS, SOLICITED_BIT, solicited);
    }

    public static void setMigrated(MemorySegment segment, long offset, boolean migrated) {
        setBit(segment, offset + FLAGS, MIGRATED_BIT, migrated);
    }

    /// Writes the number of bytes of padding, `0..3`.
    public static void setPadCount(MemorySegment segment, long offset, int padCount) {
        int others = BigEndian.u8(segment, offset + FLAGS) & ~(PAD_MASK << PAD_SHIFT);
        BigEndian.put8(segment, offset + FLAGS, others | ((padCount & PAD_MASK) << PAD_SHIFT));
    }

    /// Writes the transport header version, `0..15`; all but 0 are illegal.
    public static void setVersion(MemorySegment segment, long offset, int version) {
        int others = BigEndian.u8(segment, offset + FLAGS) & ~VERSION_MASK;
        BigEndian.put8(segment, offset + FLAGS, others | (version & VERSION_MASK));
    }

    public static void setPkey(MemorySegment segment, long offset, int pkey) {
        BigEndian.put16(segment, offset + PKEY, pkey);
    }

    public static void setFecn(MemorySegment segment, long offset, boolean fecn) {
        setBit(segment, offset + CONGESTION, FECN_BIT, fecn);
    }

    public static void setBecn(MemorySegment segment, long offset, boolean becn) {
        setBit(segment, offset + CONGESTION, BECN_BIT, becn);
    }

    public static void setDestinationQp(MemorySegment segment, long offset, int destinationQp) {
        BigEndian.put24(segment, offset + DESTINATION_QP, destinationQp);
    }

    public static void setAckRequest(MemorySegment segment, long offset, boolean ackRequest) {
        setBit(segment, offset + ACK_REQUEST, ACK_REQUEST_BIT, ackRequest);
    }

    public static void setPsn(MemorySegment segment, long offset, int psn) {
        BigEndian.put24(segment, offset + PSN, psn);
    }

    private static void setBit(MemorySegment segment, long at, int bit, boolean on) {
        int others = BigEndian.u8(segment, at) & ~bit;
        BigEndian.put8(segment, at, others | (on ? bit : 0));
    }
}
