package verbena.fuzz;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Transport;
import verbena.wire.roce.RoceV1;
import verbena.wire.roce.RoceV2;

/// The ICRC: a sealed packet verifies, equals a CRC that is computed bit by bit from the standard's text, and a
/// flipped bit is noticed. The input is one byte of choices, two addresses, and the packet.
final class IcrcTarget {
    private static final MemorySegment MEMORY = Arena.global().allocate(3L * Frame.SLOT_BYTES, 64);
    private static final ByteBuffer BUFFER = MEMORY.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    private static final Frame FRAME = Frame.allocate(Arena.global().allocate(Frame.SLOT_BYTES, 64))[0];
    private static final int VIEW = Frame.SLOT_BYTES;
    private static final int BTH_CONGESTION = 4;

    private static final RoceV2 ROCE = new RoceV2();
    private static final RoceV1 ROCE_V1 = new RoceV1();

    private IcrcTarget() {}

    static void run(byte[] data) {
        var in = new Input(data);
        int choices = in.u8();
        boolean isIpv4 = (choices & 1) == 0;
        FRAME.viewOwn();
        FRAME.sourceHigh = isIpv4 ? 0 : in.i64();
        FRAME.sourceLow = isIpv4 ? 0xFFFF_0000_0000L | Integer.toUnsignedLong(in.i32()) : in.i64();
        FRAME.destinationHigh = isIpv4 ? 0 : in.i64() | 1;
        FRAME.destinationLow = isIpv4 ? 0xFFFF_0000_0000L | Integer.toUnsignedLong(in.i32()) : in.i64();
        FRAME.sourcePort = in.u16();
        int identification = in.u16();
        int bit = in.u16();
        byte[] packet = in.take(Frame.PACKET_MAX);
        if (packet.length < 16) {
            return; // no link verifies less than a BTH and an ICRC
        }
        FRAME.length = packet.length;
        FRAME.marks.damagedBit = -1;
        MemorySegment.copy(packet, 0, FRAME.slot, ValueLayout.JAVA_BYTE, FRAME.start, packet.length);

        ROCE.seal(FRAME, identification);
        Contract.holds(ROCE.verify(FRAME), "a sealed packet verifies");
        Contract.holds(ROCE.verify(FRAME, identification), "with its identification");
        Contract.holds(ROCE.verify(FRAME, identification, RoceV2.DONT_FRAGMENT), "exactly");
        Contract.equal(
                independent(identification), Integer.reverseBytes(BigEndian.i32(FRAME.slot, at(packet))), "the ICRC");
        if ((choices & 2) != 0) {
            seenInALargerBuffer(packet.length);
        }
        int flipped = bit % (8 * packet.length);
        boolean isMasked = flipped / 8 == BTH_CONGESTION;
        FRAME.flip(flipped);
        // What a socket hides of IPv4 is guessed: one bit may pass for it where the opcode is no connection's.
        if (!isMasked && (!isIpv4 || (isConnected(FRAME) && flipped >= 8))) {
            Contract.holds(!ROCE.verify(FRAME), "bit " + flipped + " is turned over, and the check does not notice");
        }
        ROCE_V1.seal(FRAME);
        Contract.holds(ROCE_V1.verify(FRAME), "a sealed packet of RoCE v1 verifies");
    }

    private static boolean isConnected(Frame frame) {
        int transport = BigEndian.u8(frame.slot, frame.start) & 0xE0;
        return transport == Transport.RC.prefix() || transport == Transport.UC.prefix();
    }

    private static int at(byte[] packet) {
        return FRAME.start + packet.length - 4;
    }

    /// Checks that verifying a packet in a larger buffer does not change the bytes before it.
    private static void seenInALargerBuffer(int length) {
        MEMORY.fill((byte) 0x5C);
        MemorySegment.copy(FRAME.slot, FRAME.start, MEMORY, VIEW, length);
        FRAME.view(MEMORY, BUFFER, VIEW);
        boolean right = ROCE.verify(FRAME);
        FRAME.viewOwn();
        Contract.holds(right, "a sealed packet verifies where it lies");
        for (int i = VIEW - Frame.HEADROOM; i < VIEW; i++) {
            Contract.equal((byte) 0x5C, MEMORY.get(ValueLayout.JAVA_BYTE, i), "byte " + i + " of the neighbour");
        }
    }

    /// Computes the CRC-32 over eight bytes of ones, the masked network headers, and the packet (IBTA 7.8.1,
    /// A17.3.3).
    private static int independent(int identification) {
        int length = FRAME.length;
        boolean isIpv4 = FRAME.destinationHigh == 0;
        var all = ByteBuffer.allocate(8 + 48 + length);
        all.putLong(-1);
        if (isIpv4) {
            all.put((byte) 0x45).put((byte) -1).putShort((short) (28 + length));
            all.putShort((short) identification).putShort((short) 0x4000);
            all.put((byte) -1).put((byte) 17).putShort((short) -1);
            all.putInt((int) FRAME.sourceLow).putInt((int) FRAME.destinationLow);
        } else {
            all.putInt(0x6FFF_FFFF).putShort((short) (8 + length));
            all.put((byte) 17).put((byte) -1);
            all.putLong(FRAME.sourceHigh).putLong(FRAME.sourceLow);
            all.putLong(FRAME.destinationHigh).putLong(FRAME.destinationLow);
        }
        all.putShort((short) FRAME.sourcePort).putShort((short) 4791);
        all.putShort((short) (8 + length)).putShort((short) -1);
        for (int i = 0; i < length - 4; i++) {
            all.put(i == BTH_CONGESTION ? (byte) -1 : FRAME.slot.get(ValueLayout.JAVA_BYTE, FRAME.start + i));
        }
        int crc = -1;
        for (int i = 0; i < all.position(); i++) {
            crc ^= all.get(i) & 0xFF;
            for (int b = 0; b < 8; b++) {
                crc = (crc & 1) != 0 ? crc >>> 1 ^ 0xEDB8_8320 : crc >>> 1;
            }
        }
        return ~crc;
    }
}
