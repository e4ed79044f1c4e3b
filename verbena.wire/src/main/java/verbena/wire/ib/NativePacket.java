package verbena.wire.ib;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import verbena.wire.BigEndian;
import verbena.wire.Frame;

/// A packet of a native InfiniBand link (IBTA 5.2, 7.8): LRH, a GRH where it is global, the frame's packet with its
/// ICRC, VCRC. Seals, writes, reads and verifies all of that around a [Frame].
///
/// The frame of a packet without GRH has LIDs for addresses, which are written like the GIDs `::lid`
/// ([#isByLid(long, long)]). One owner; no allocation for a packet.
public final class NativePacket {
    /// The most bytes that are around a packet, BTH through ICRC.
    public static final int AROUND_MAX = Lrh.BYTES + Grh.BYTES + Vcrc.BYTES;
    /// The largest frame in bytes that has room for what stands around it.
    public static final int PACKET_MAX = Frame.PACKET_MAX - 2 * Vcrc.BYTES;
    /// The first multicast LID; those below it and above 0 are of ports (IBTA 4.1.3).
    public static final int LID_MULTICAST_FIRST = 0xC000;
    /// The permissive LID: any port that receives it.
    public static final int LID_PERMISSIVE = 0xFFFF;
    /// The result of [#read] for a packet whose lengths or fields contradict each other.
    public static final int MALFORMED = -1;
    /// The result of [#read] for a raw packet, which has no BTH.
    public static final int FOREIGN = -2;

    private static final long ONES = -1L;
    private static final long MASK_GRH = 0x0FFF_FFFF_0000_00FFL; // traffic class, flow label, hop limit
    private static final int MASK_LANE = 0xF0;
    private static final int RESERVED_8A = 4; // BTH byte with FECN and BECN
    private static final int WORD = 4;
    private static final ValueLayout.OfInt ON_THE_WIRE =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final CRC32 crc = new CRC32();

    /// Makes a reader and writer of packets, for one owner.
    public NativePacket() {}

    /// Returns whether these halves of a frame's address are a LID.
    public static boolean isByLid(long high, long low) {
        return high == 0 && low >>> 16 == 0;
    }

    public static boolean isMulticast(int lid) {
        return lid >= LID_MULTICAST_FIRST && lid < LID_PERMISSIVE;
    }

    /// Returns the number of bytes of LRH and GRH before the frame's packet.
    public static int headerBytes(Frame frame) {
        return isByLid(frame.destinationHigh, frame.destinationLow) ? Lrh.BYTES : Lrh.BYTES + Grh.BYTES;
    }

    /// Writes headers, ICRC and VCRC around the packet in the frame's own slot: [#headerBytes] before it, and
    /// [Vcrc#BYTES] behind it.
    ///
    /// @param lane the virtual lane
    public void write(Frame frame, int lane) {
        MemorySegment slot = frame.slot;
        int before = headerBytes(frame);
        int at = frame.start - before;
        boolean isGlobal = before > Lrh.BYTES;
        Lrh.write(
                slot,
                at,
                lane,
                frame.serviceLevel,
                isGlobal ? Lrh.NEXT_GRH : Lrh.NEXT_BTH,
                frame.local.destinationLid,
                (before + frame.length) / WORD,
                frame.local.sourceLid);
        if (isGlobal) {
            Grh.write(
                    slot,
                    (long) at + Lrh.BYTES,
                    frame.trafficClass,
                    0,
                    frame.length,
                    Grh.NEXT_HEADER_BTH,
                    frame.hopLimit,
                    frame.sourceHigh,
                    frame.sourceLow,
                    frame.destinationHigh,
                    frame.destinationLow);
        }
        int icrcAt = frame.start + frame.length - Packet.ICRC_BYTES;
        slot.set(ON_THE_WIRE, icrcAt, icrc(slot, frame.buffer, at, isGlobal, icrcAt));
        if (frame.marks.damagedBit >= 0) {
            frame.flip(frame.marks.damagedBit);
        }
        Vcrc.seal(slot, at, before + frame.length);
    }

    /// Reads the headers of a packet into the frame; the bytes stay where they are.
    ///
    /// @param at the first byte of the LRH
    /// @param bytes LRH through VCRC
    /// @return where the BTH is, [#FOREIGN] or [#MALFORMED]
    public static int read(MemorySegment memory, int at, int bytes, Frame frame) {
        if (bytes < Lrh.BYTES + Packet.BYTES_MIN + Vcrc.BYTES || Lrh.version(memory, at) != 0) {
            return MALFORMED;
        }
        int covered = Lrh.packetLengthWords(memory, at) * WORD;
        if (covered != bytes - Vcrc.BYTES) {
            return MALFORMED;
        }
        int next = Lrh.nextHeader(memory, at);
        if (next != Lrh.NEXT_BTH && next != Lrh.NEXT_GRH) {
            return FOREIGN;
        }
        int before = next == Lrh.NEXT_BTH ? Lrh.BYTES : Lrh.BYTES + Grh.BYTES;
        int length = covered - before;
        if (length < Packet.BYTES_MIN || length > PACKET_MAX) {
            return MALFORMED;
        }
        if (next == Lrh.NEXT_GRH) {
            int grh = at + Lrh.BYTES;
            boolean isRight = Grh.version(memory, grh) == 6
                    && Grh.nextHeader(memory, grh) == Grh.NEXT_HEADER_BTH
                    && Grh.payloadLength(memory, grh) == length;
            if (!isRight) {
                return MALFORMED;
            }
            frame.sourceHigh = Grh.sourceHigh(memory, grh);
            frame.sourceLow = Grh.sourceLow(memory, grh);
            frame.destinationHigh = Grh.destinationHigh(memory, grh);
            frame.destinationLow = Grh.destinationLow(memory, grh);
            frame.trafficClass = Grh.trafficClass(memory, grh);
            frame.hopLimit = Grh.hopLimit(memory, grh);
        } else {
            frame.sourceHigh = 0;
            frame.sourceLow = Lrh.sourceLid(memory, at);
            frame.destinationHigh = 0;
            frame.destinationLow = Lrh.destinationLid(memory, at);
            frame.trafficClass = 0;
            frame.hopLimit = 0;
        }
        frame.local.sourceLid = Lrh.sourceLid(memory, at);
        frame.local.destinationLid = Lrh.destinationLid(memory, at);
        frame.serviceLevel = Lrh.serviceLevel(memory, at);
        frame.sourcePort = 0;
        frame.local.isRoceV1 = false;
        frame.length = length;
        return at + before;
    }

    /// Returns whether ICRC and VCRC of a packet that [#read] accepted are right. Leaves its bytes as they were.
    ///
    /// @param buffer the same memory
    public boolean verify(MemorySegment memory, ByteBuffer buffer, int at, int bytes) {
        boolean isGlobal = Lrh.nextHeader(memory, at) == Lrh.NEXT_GRH;
        int icrcAt = at + bytes - Vcrc.BYTES - Packet.ICRC_BYTES;
        return Vcrc.verify(memory, at, bytes - Vcrc.BYTES)
                && memory.get(ON_THE_WIRE, icrcAt) == icrc(memory, buffer, at, isGlobal, icrcAt);
    }

    /// Returns the invariant CRC (IBTA 7.8.1). The fields that switches and routers may change count as all ones:
    /// the lane in a packet without a GRH; the LRH and three fields of the GRH in a packet with a GRH.
    private int icrc(MemorySegment memory, ByteBuffer buffer, int at, boolean isGlobal, int end) {
        long lrh = BigEndian.i64(memory, at);
        long grh = BigEndian.i64(memory, (long) at + Lrh.BYTES);
        int reserved = at + Lrh.BYTES + (isGlobal ? Grh.BYTES : 0) + RESERVED_8A;
        int congestion = BigEndian.u8(memory, reserved);
        if (isGlobal) {
            BigEndian.put64(memory, at, ONES);
            BigEndian.put64(memory, (long) at + Lrh.BYTES, grh | MASK_GRH);
        } else {
            BigEndian.put8(memory, at, BigEndian.u8(memory, at) | MASK_LANE);
        }
        BigEndian.put8(memory, reserved, 0xFF);
        buffer.limit(end).position(at);
        crc.reset();
        crc.update(buffer);
        buffer.clear();
        BigEndian.put8(memory, reserved, congestion);
        BigEndian.put64(memory, at, lrh);
        if (isGlobal) {
            BigEndian.put64(memory, (long) at + Lrh.BYTES, grh);
        }
        return (int) crc.getValue();
    }

    /// Returns the memory as a buffer with the byte order of [Frame#buffer].
    public static ByteBuffer buffer(MemorySegment memory) {
        return memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }
}
