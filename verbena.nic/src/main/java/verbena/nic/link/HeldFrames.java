package verbena.nic.link;

import java.lang.foreign.Arena;
import verbena.wire.Frame;

/// The frames held back until their time: a heap by time, then by order of arrival, over a fixed number of slots.
/// For one thread.
final class HeldFrames {
    /// The result of [#firstDue()] when no frame is held.
    static final long NEVER = Long.MAX_VALUE;

    // Slots that are not in use lie behind the heap's end; together the two are all slots.
    private final Frame[] frames;
    private final long[] due;
    private final long[] serials;
    private int size;
    private long serial;

    HeldFrames(int capacity) {
        frames = Frame.allocate(Arena.ofAuto().allocate((long) capacity * Frame.SLOT_BYTES, 64));
        due = new long[capacity];
        serials = new long[capacity];
    }

    /// Returns how many more frames fit.
    int room() {
        return frames.length - size;
    }

    /// Keeps a copy of `frame` until `dueNanos`; returns the copy.
    Frame add(Frame frame, long dueNanos) {
        assert size < frames.length : "there is no room";
        int at = size++;
        Frame copy = frames[at];
        copy.copyFrom(frame);
        due[at] = dueNanos;
        serials[at] = serial++;
        while (at > 0 && isBefore(at, (at - 1) / 2)) {
            swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        return copy;
    }

    /// Returns when the first frame is due.
    long firstDue() {
        return size == 0 ? NEVER : due[0];
    }

    /// Returns the frame that is due first.
    Frame first() {
        assert size > 0;
        return frames[0];
    }

    /// Removes the frame that is due first.
    void removeFirst() {
        assert size > 0;
        swap(0, --size);
        int at = 0;
        while (true) {
            int first = at;
            for (int child = 2 * at + 1; child <= 2 * at + 2 && child < size; child++) {
                if (isBefore(child, first)) {
                    first = child;
                }
            }
            if (first == at) {
                return;
            }
            swap(at, first);
            at = first;
        }
    }

    private boolean isBefore(int a, int b) {
        return due[a] < due[b] || (due[a] == due[b] && serials[a] < serials[b]);
    }

    private void swap(int a, int b) {
        Frame frame = frames[a];
        frames[a] = frames[b];
        frames[b] = frame;
        long time = due[a];
        due[a] = due[b];
        due[b] = time;
        long number = serials[a];
        serials[a] = serials[b];
        serials[b] = number;
    }
}
