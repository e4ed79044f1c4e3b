package verbena.transport.queue;

import java.lang.foreign.Arena;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;

/// Frames for packets that have to wait, shared by all reliable connections of one engine. They are made when they
/// are first needed, up to a limit, and used again and again after that. Engine-confined.
public final class SpareFrames {
    /// The limit of an engine: 4.4 MB. A peer of ours has at most 128 packets under way.
    public static final int FRAMES_MAX = 1_024;

    /// The number of frames that are made at once.
    private static final int SLAB_FRAMES = 32;

    private static final @Nullable Frame[] NONE = {};

    private final int framesMax;
    /// The first [#count] are free.
    private @Nullable Frame[] free = NONE;
    private int count;
    private int made;

    /// @param framesMax there are never more
    public SpareFrames(int framesMax) {
        this.framesMax = framesMax;
    }

    /// Takes a free frame, which is the caller's until [#giveBack]; returns null when all are in use.
    public @Nullable Frame take() {
        if (count == 0) {
            make();
        }
        if (count == 0) {
            return null;
        }
        Frame frame = free[--count];
        free[count] = null;
        return frame;
    }

    /// Takes a frame back, which is free again.
    public void giveBack(Frame frame) {
        assert count < made : "it was taken here";
        free[count++] = frame;
    }

    /// Returns the number of frames that are in use.
    public int inUse() {
        return made - count;
    }

    private void make() {
        int n = Math.min(SLAB_FRAMES, framesMax - made);
        if (n == 0) {
            return;
        }
        made += n;
        free = Arrays.copyOf(free, made);
        for (Frame frame : Frame.allocate(Arena.ofAuto().allocate((long) n * Frame.SLOT_BYTES, Long.BYTES))) {
            free[count++] = frame;
        }
    }
}
