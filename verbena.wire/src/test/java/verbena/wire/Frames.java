package verbena.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/// Frames for tests: each in memory of its own, full of junk at first.
public final class Frames {
    private static final byte JUNK = (byte) 0xA5;

    private Frames() {}

    public static Frame empty() {
        MemorySegment slab = Arena.ofAuto().allocate(Frame.SLOT_BYTES);
        return Frame.allocate(slab.fill(JUNK))[0];
    }

    /// A frame that holds these bytes, BTH through ICRC; white space is ignored.
    public static Frame of(String hex) {
        Frame frame = empty();
        byte[] bytes = bytes(hex);
        MemorySegment.copy(bytes, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, bytes.length);
        frame.length = bytes.length;
        return frame;
    }

    /// Gives a frame IPv4 addresses and a source port.
    public static Frame ipv4(Frame frame, int source, int destination, int sourcePort) {
        frame.sourceHigh = 0;
        frame.sourceLow = 0xFFFF_0000_0000L | Integer.toUnsignedLong(source);
        frame.destinationHigh = 0;
        frame.destinationLow = 0xFFFF_0000_0000L | Integer.toUnsignedLong(destination);
        frame.sourcePort = sourcePort;
        return frame;
    }

    public static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
    }

    public static String hex(MemorySegment segment) {
        return HexFormat.of().formatHex(segment.toArray(ValueLayout.JAVA_BYTE));
    }
}
