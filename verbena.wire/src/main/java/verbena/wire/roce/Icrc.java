package verbena.wire.roce;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import verbena.wire.BigEndian;
import verbena.wire.Frame;

/// The invariant CRC (IBTA 7.8.1): CRC-32 as zlib counts it, over everything that no switch or router may change.
///
/// The caller lays the masked network headers right before the BTH, so that one pass over adjacent memory covers
/// all. One owner: the checksum object is used again for every packet.
final class Icrc {
    /// The stand-in for the LRH, which RoCE does not have: 8 bytes of ones (IBTA A16.5.1, A17.3.3).
    static final long LRH_STAND_IN = -1L;
    static final int LRH_BYTES = 8;
    static final int BYTES = 4;

    private static final ValueLayout.OfInt ON_THE_WIRE =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int RESERVED_8A = 4; // BTH byte with FECN and BECN: ones to the ICRC

    private final CRC32 crc = new CRC32();

    /// Computes the ICRC of the slot's bytes from `start` up to the packet's own ICRC.
    int compute(Frame frame, int start) {
        int congestion = BigEndian.u8(frame.slot, frame.start + RESERVED_8A);
        BigEndian.put8(frame.slot, frame.start + RESERVED_8A, 0xFF);
        frame.buffer.limit(offset(frame)).position(start);
        crc.reset();
        crc.update(frame.buffer);
        frame.buffer.clear();
        BigEndian.put8(frame.slot, frame.start + RESERVED_8A, congestion);
        return (int) crc.getValue();
    }

    static int stored(Frame frame) {
        return frame.slot.get(ON_THE_WIRE, offset(frame));
    }

    static void store(Frame frame, int icrc) {
        frame.slot.set(ON_THE_WIRE, offset(frame), icrc);
    }

    private static int offset(Frame frame) {
        return frame.start + frame.length - BYTES;
    }
}
