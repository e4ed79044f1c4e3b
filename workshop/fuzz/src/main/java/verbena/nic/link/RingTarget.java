package verbena.nic.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import verbena.fuzz.Contract;
import verbena.fuzz.Input;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;

/// Rings of frames whose other end is hostile: it writes positions, lengths and flags while this side takes frames
/// out of one ring and puts frames into the other. The input lists the steps, in turn. It is in this package because
/// that is where rings are.
public final class RingTarget {
    private static final int SIZE = 16 << 10;
    private static final int GUARD = 4_096;
    private static final int FRAMES = 8;
    private static final byte UNTOUCHED = 0x5A;

    private static final MemorySegment MEMORY = Arena.global().allocate(GUARD + FrameRing.bytes(SIZE) + GUARD, 64);
    private static final MemorySegment RING = MEMORY.asSlice(GUARD, FrameRing.bytes(SIZE));
    private static final Frame[] TAKEN = Frame.allocate(Arena.global().allocate((long) FRAMES * Frame.SLOT_BYTES, 64));
    private static final Frame[] GIVEN = Frame.allocate(Arena.global().allocate(Frame.SLOT_BYTES, 64));

    private RingTarget() {}

    public static void run(byte[] data) {
        MEMORY.fill(UNTOUCHED);
        RING.fill((byte) 0);
        var in = new Input(data);
        var reader = new FrameRing(RING);
        var writer = new FrameRing(RING);
        while (in.hasMore()) {
            switch (in.u8() % 8) {
                case 0 -> RING.set(ValueLayout.JAVA_LONG, in.below(24) * 8L, in.i64());
                case 1 ->
                    RING.set(ValueLayout.JAVA_INT, FrameRing.HEAD_BYTES + 64L * in.below(SIZE / 64), -in.below(2));
                case 2 -> RING.set(ValueLayout.JAVA_INT, FrameRing.HEAD_BYTES + 64L * in.below(SIZE / 64), in.i32());
                case 3 -> RING.set(ValueLayout.JAVA_INT, FrameRing.HEAD_BYTES + 64L * in.below(SIZE / 64), in.u16());
                case 4 -> take(reader, 1 + in.below(FRAMES));
                case 5 ->
                    RING.set(
                            ValueLayout.JAVA_INT, FrameRing.HEAD_BYTES + 64L * in.below(SIZE / 64), 1 << 30 | in.u16());
                case 6 -> putMessage(writer, 1 + in.below(DirectMessage.BYTES_MAX));
                default -> put(writer, 1 + in.below(Frame.PACKET_MAX));
            }
        }
        take(reader, FRAMES);
        check(0);
        check(GUARD + FrameRing.bytes(SIZE));
    }

    private static void take(FrameRing reader, int most) {
        boolean wasBroken = reader.isBroken();
        boolean areMessages = most % 2 != 0;
        FrameRing.Content content = areMessages ? FrameRing.Content.MESSAGE : FrameRing.Content.FRAME;
        int taken = reader.take(content, TAKEN, 0, most);
        Contract.holds(taken >= 0 && taken <= most, taken + " frames of " + most);
        Contract.holds(taken == 0 || !wasBroken, "a frame of a broken ring");
        for (int i = 0; i < taken; i++) {
            int length = TAKEN[i].length;
            Contract.holds(length > 0 && length <= Frame.PACKET_MAX, "a packet of " + length + " bytes");
            if (areMessages && DirectMessage.isWellFormed(TAKEN[i])) {
                boolean hasData = DirectMessage.kind(TAKEN[i]) >= DirectMessage.SEND;
                int bytes = hasData ? DirectMessage.dataBytes(TAKEN[i]) : 0;
                Contract.holds(bytes >= 0 && bytes <= DirectMessage.DATA_MAX, "a message of " + bytes + " bytes");
            }
        }
    }

    private static void put(FrameRing writer, int length) {
        GIVEN[0].viewOwn();
        GIVEN[0].length = length;
        boolean _ = writer.put(GIVEN[0]);
        boolean _ = writer.publish();
    }

    private static void putMessage(FrameRing writer, int length) {
        if (writer.begin(length) >= 0) {
            writer.end();
        }
        boolean _ = writer.publish();
    }

    private static void check(long from) {
        for (long at = from; at < from + GUARD; at++) {
            Contract.holds(MEMORY.get(ValueLayout.JAVA_BYTE, at) == UNTOUCHED, "a byte outside of the ring: " + at);
        }
    }
}
