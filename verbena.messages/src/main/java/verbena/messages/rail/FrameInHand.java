package verbena.messages.rail;

import org.jspecify.annotations.Nullable;

/// The frame that is being taken apart. An active message may keep it. Under the lock of the worker.
public final class FrameInHand {
    private @Nullable Rail rail;
    private int slot = -1;

    /// Begins with a frame.
    void take(Rail itsRail, int itsSlot) {
        assert slot < 0 : "the frame before is in hand";
        rail = itsRail;
        slot = itsSlot;
    }

    /// Returns the rail by which it has come; null when it is a copy.
    @Nullable
    public Rail rail() {
        return slot < 0 ? null : rail;
    }

    /// Returns the slot in which it lies; negative when it is a copy.
    public int slot() {
        return slot;
    }

    /// Leaves the slot to a message.
    public void keep() {
        slot = -1;
    }

    /// Ends with the frame; whether its slot is free.
    boolean isDone() {
        boolean isFree = slot >= 0;
        slot = -1;
        return isFree;
    }
}
