package verbena.wire.roce;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.wire.Frame;

/// A copy of the bytes before a packet that a link shows in its own memory: another packet, or the true headers of
/// this packet. They are restored when the masked headers are not needed any more.
final class Preserved {
    private final MemorySegment bytes = Arena.ofAuto().allocate(Frame.HEADROOM);

    /// Keeps it, unless the space before the packet is scratch space.
    void keep(Frame frame) {
        if (!frame.isOwn()) {
            MemorySegment.copy(frame.slot, frame.start - Frame.HEADROOM, bytes, 0, Frame.HEADROOM);
        }
    }

    void restore(Frame frame) {
        if (!frame.isOwn()) {
            MemorySegment.copy(bytes, 0, frame.slot, frame.start - Frame.HEADROOM, Frame.HEADROOM);
        }
    }
}
