package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import verbena.wire.Frame;

/// The departures that wait until the Ethernet address of their peer is known: copies, in order. For one thread.
final class WaitingFrames {
    /// The number of frames that may wait: the first packets to a peer, as the kernel keeps them.
    static final int CAPACITY = 64;

    private final Frame[] frames = Frame.allocate(Arena.ofAuto().allocate((long) CAPACITY * Frame.SLOT_BYTES, 64));
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    /// Keeps a copy; false when there is no room.
    boolean add(Frame frame) {
        if (size == CAPACITY) {
            return false;
        }
        frames[size++].copyFrom(frame);
        return true;
    }

    /// The visitor that decides about a frame that has waited.
    interface Visitor {
        /// Returns whether a frame goes on waiting.
        boolean waits(Frame frame);
    }

    /// Shows all to `visitor`, in order, and keeps those that go on waiting.
    void visit(Visitor visitor) {
        int kept = 0;
        for (int i = 0; i < size; i++) {
            Frame frame = frames[i];
            if (visitor.waits(frame)) {
                frames[i] = frames[kept];
                frames[kept++] = frame;
            }
        }
        size = kept;
    }
}
