package verbena.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// One packet and the addresses it travels between: a slot of native memory that is claimed once and used again and
/// again.
///
/// The packet starts at offset [#HEADROOM] of the slot with its BTH and runs through the ICRC. The bytes before it
/// are scratch space: whoever computes the ICRC lays the masked network headers there, so that one pass over
/// adjacent memory covers everything. Addresses are GIDs (IBTA A17.4: an IPv4 address is `::ffff:a.b.c.d`), kept as
/// two longs, so that a frame means the same on every kind of wire.
///
/// A frame belongs to one owner at a time; it is not safe for use by several threads.
public final class Frame {
    /// Bytes before the packet: room for 8 bytes of ones, an IPv6 header or GRH (40) and UDP (8).
    public static final int HEADROOM = 64;
    /// The largest packet, BTH through ICRC: 4096 bytes of payload and every header that can precede it.
    public static final int PACKET_MAX = 4096 + 160;
    /// Bytes of one slot.
    public static final int SLOT_BYTES = HEADROOM + PACKET_MAX;

    /// The whole slot.
    public final MemorySegment slot;
    /// The whole slot again, little-endian, for the classes of the JDK that take buffers (`java.util.zip.CRC32`).
    public final ByteBuffer buffer;

    /// Bytes from BTH through ICRC; 0 when the slot holds nothing.
    public int length;

    public long sourceHigh;
    public long sourceLow;
    public long destinationHigh;
    public long destinationLow;
    /// UDP source port; ignored on receipt by everything but the ICRC.
    public int sourcePort;
    /// IPv4 TOS or IPv6 traffic class, ECN in the two low bits.
    public int trafficClass;
    /// Time to live; 0 lets the link choose.
    public int hopLimit;
    /// On receipt: whether the link found the ICRC right as far as it could see the covered headers.
    public boolean icrcValid;
    /// On the way out: the bit, counted from the first byte's lowest, that is turned over when the ICRC is in place;
    /// -1 for none. For those who inject faults: what arrives then is what a wire has damaged.
    public int damagedBit = -1;

    private Frame(MemorySegment slot) {
        this.slot = slot;
        this.buffer = slot.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /// Cuts `slab` into frames; its size is a multiple of [#SLOT_BYTES] and its memory is native.
    public static Frame[] allocate(MemorySegment slab) {
        if (!slab.isNative() || slab.byteSize() % SLOT_BYTES != 0) {
            throw new IllegalArgumentException(
                    "slab: needs native memory of a multiple of " + SLOT_BYTES + " bytes, got " + slab);
        }
        var frames = new Frame[Math.toIntExact(slab.byteSize() / SLOT_BYTES)];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = new Frame(slab.asSlice((long) i * SLOT_BYTES, SLOT_BYTES));
        }
        return frames;
    }

    /// The packet's bytes, BTH through ICRC, as a slice. Allocates; for tests, traces and captures.
    public MemorySegment packet() {
        return slot.asSlice(HEADROOM, length);
    }

    /// Takes over packet and addresses of `other`.
    public void copyFrom(Frame other) {
        MemorySegment.copy(other.slot, HEADROOM, slot, HEADROOM, other.length);
        length = other.length;
        sourceHigh = other.sourceHigh;
        sourceLow = other.sourceLow;
        destinationHigh = other.destinationHigh;
        destinationLow = other.destinationLow;
        sourcePort = other.sourcePort;
        trafficClass = other.trafficClass;
        hopLimit = other.hopLimit;
        icrcValid = other.icrcValid;
        damagedBit = other.damagedBit;
    }

    /// Turns over one bit of the packet, counted from the first byte's lowest.
    public void flip(int bit) {
        int at = HEADROOM + (bit >>> 3);
        BigEndian.put8(slot, at, BigEndian.u8(slot, at) ^ 1 << (bit & 7));
    }
}
