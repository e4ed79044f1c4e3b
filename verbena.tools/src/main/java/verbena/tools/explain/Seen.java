package verbena.tools.explain;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A packet as a tap was shown it.
///
/// @param device whose tap
/// @param nanos when
/// @param thread that moved it
/// @param fate what became of it; null of one that was sent
@SuppressWarnings("ArrayRecordComponent") // compared by what it is, a packet seen once, and by isSame
record Seen(
        Place device,
        boolean sent,
        long nanos,
        Thread thread,
        byte[] bytes,
        long sourceHigh,
        long sourceLow,
        long destinationHigh,
        long destinationLow,
        int sourcePort,
        boolean icrcValid,
        @Nullable PacketFate fate) {
    private static final int ICRC_BYTES = 4;

    static Seen of(Place device, boolean sent, long nanos, Frame frame, @Nullable PacketFate fate) {
        return new Seen(
                device,
                sent,
                nanos,
                Thread.currentThread(),
                frame.packet().toArray(ValueLayout.JAVA_BYTE),
                frame.sourceHigh,
                frame.sourceLow,
                frame.destinationHigh,
                frame.destinationLow,
                frame.sourcePort,
                sent || frame.icrcValid,
                fate);
    }

    /// Returns whether it is the same packet, but for the ICRC, which covers an identification that packets get
    /// only when they leave.
    boolean isSame(Seen other) {
        return bytes.length == other.bytes.length
                && Arrays.equals(bytes, 0, bytes.length - ICRC_BYTES, other.bytes, 0, bytes.length - ICRC_BYTES);
    }

    Frame frame() {
        Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        MemorySegment.copy(bytes, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, bytes.length);
        frame.length = bytes.length;
        frame.sourceHigh = sourceHigh;
        frame.sourceLow = sourceLow;
        frame.destinationHigh = destinationHigh;
        frame.destinationLow = destinationLow;
        frame.sourcePort = sourcePort;
        frame.icrcValid = icrcValid;
        return frame;
    }

    String way() {
        return new Gid(sourceHigh, sourceLow) + " UDP port " + sourcePort + " -> "
                + new Gid(destinationHigh, destinationLow) + " UDP port 4791";
    }
}
