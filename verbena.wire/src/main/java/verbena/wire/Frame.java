package verbena.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// One packet and the addresses it travels between: a slot of native memory that is claimed once and used again
/// and again.
///
/// The packet starts at [#start] with its BTH and runs through the ICRC. The code that computes the ICRC lays the
/// masked network headers right before it, so that one pass over adjacent memory covers everything. Those
/// [#HEADROOM] bytes are scratch space in a frame's own slot. Where a link shows a frame a packet in a larger
/// buffer ([#view]), they belong to another packet. Addresses are GIDs (IBTA A17.4: an IPv4 address is
/// `::ffff:a.b.c.d`), kept as two longs, so that a frame means the same on every kind of wire.
///
/// A frame belongs to one owner at a time; it is not safe for use by several threads.
public final class Frame {
    /// Bytes before the packet: room for an Ethernet header (14), two VLAN tags (8), an IPv6 header or GRH (40) and
    /// UDP
    /// (8). The masked headers need less, with 8 bytes of ones.
    public static final int HEADROOM = 80;
    /// The largest packet, BTH through ICRC: 4096 bytes of payload and every header that can precede it.
    public static final int PACKET_MAX = 4096 + 160;
    /// Bytes of one slot.
    public static final int SLOT_BYTES = HEADROOM + PACKET_MAX;

    private final MemorySegment ownSlot;
    private final ByteBuffer ownBuffer;

    /// The memory that holds the packet: this frame's own slot, or a link's buffer.
    public MemorySegment slot;
    /// The same memory, little-endian, for the classes of the JDK that take buffers (`java.util.zip.CRC32`).
    public ByteBuffer buffer;
    /// The offset in [#slot] at which the packet starts; [#HEADROOM] in the frame's own slot.
    public int start = HEADROOM;

    private boolean own = true;

    /// Bytes from BTH through ICRC; 0 when the slot holds nothing.
    public int length;

    public long sourceHigh;
    public long sourceLow;
    public long destinationHigh;
    public long destinationLow;
    /// UDP source port; ignored on receipt by everything but the ICRC.
    public int sourcePort;
    /// The second UDP port of a link, where the packet goes to it or came to it; 0 is the link's own.
    public int secondPort;
    /// IPv4 TOS or IPv6 traffic class, ECN in the two low bits.
    public int trafficClass;
    /// Time to live; 0 lets the link choose.
    public int hopLimit;
    /// The service level of an outgoing packet, 0 to 15; its low three bits are the priority in a VLAN tag.
    public int serviceLevel;
    /// Whether the link found the ICRC of a received packet right as far as it could see the covered headers.
    public boolean icrcValid;
    /// The packet's route within a subnet.
    public final LocalRoute local = new LocalRoute();
    /// The faults that are asked for, and the marks that observers are shown.
    public final FrameMarks marks = new FrameMarks();

    private Frame(MemorySegment slot) {
        this.ownSlot = slot;
        this.ownBuffer = slot.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        this.slot = ownSlot;
        this.buffer = ownBuffer;
    }

    /// Makes the packet that starts at `start` of `memory` this frame's, where it lies. There are [#HEADROOM]
    /// bytes before it, which may be in use.
    ///
    /// @param bytes the same memory, little-endian
    public void view(MemorySegment memory, ByteBuffer bytes, int start) {
        this.slot = memory;
        this.buffer = bytes;
        this.start = start;
        own = false;
    }

    /// Returns whether the packet is in this frame's own slot, with scratch space before it.
    public boolean isOwn() {
        return own;
    }

    /// Points the frame at its own slot again, whose bytes stay as they are.
    public void viewOwn() {
        slot = ownSlot;
        buffer = ownBuffer;
        start = HEADROOM;
        own = true;
    }

    /// Moves the packet into the own slot when it is elsewhere.
    public void moveToOwn() {
        if (!isOwn()) {
            MemorySegment.copy(slot, start, ownSlot, HEADROOM, length);
            viewOwn();
        }
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

    /// Returns the packet's bytes, BTH through ICRC, as a slice. Allocates; for tests, traces and captures.
    public MemorySegment packet() {
        return slot.asSlice(start, length);
    }

    /// Takes over packet and addresses of `other`, into this frame's own slot.
    public void copyFrom(Frame other) {
        MemorySegment.copy(other.slot, other.start, ownSlot, HEADROOM, other.length);
        viewOwn();
        length = other.length;
        copyWay(other);
        icrcValid = other.icrcValid;
        marks.damagedBit = other.marks.damagedBit;
    }

    /// Copies the addresses and the other fields of the headers around the packet of `other`.
    public void copyWay(Frame other) {
        sourceHigh = other.sourceHigh;
        sourceLow = other.sourceLow;
        destinationHigh = other.destinationHigh;
        destinationLow = other.destinationLow;
        sourcePort = other.sourcePort;
        secondPort = other.secondPort;
        trafficClass = other.trafficClass;
        hopLimit = other.hopLimit;
        serviceLevel = other.serviceLevel;
        local.copyFrom(other.local);
    }

    /// Turns over one bit of the packet, counted from the first byte's lowest.
    public void flip(int bit) {
        int at = start + (bit >>> 3);
        BigEndian.put8(slot, at, BigEndian.u8(slot, at) ^ 1 << (bit & 7));
    }
}
