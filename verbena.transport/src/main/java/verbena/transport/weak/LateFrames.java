package verbena.transport.weak;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import verbena.transport.Protocol;
import verbena.transport.queue.SpareFrames;
import verbena.wire.Frame;

/// Packets that leave later than they were made, in their order. The data of a packet is taken once more when it
/// leaves, in whole or in part. What lies behind the packet in the queue is then taken once more too: a later READ
/// sees nothing that is older. Engine-confined.
final class LateFrames {
    private static final int FRAMES_MAX = 32;

    /// @param sample where its data comes from; null when it has none, or none that changes any more
    private record Late(Frame frame, long dueNanos, WeakMemory.@Nullable Sample sample) {}

    /// Takes the data of a packet that leaves once more.
    interface Resampler {
        void resample(Frame frame, WeakMemory.Sample sample);
    }

    private final Resampler resampler;
    private final Deque<Late> frames = new ArrayDeque<>();
    private long last = Long.MIN_VALUE;

    LateFrames(Resampler resampler) {
        this.resampler = resampler;
    }

    boolean isEmpty() {
        return frames.isEmpty();
    }

    boolean isFull() {
        return frames.size() == FRAMES_MAX;
    }

    /// Returns when the first leaves.
    long dueNanos() {
        Late first = frames.peek();
        return first == null ? Protocol.NEVER : first.dueNanos;
    }

    /// Adds a copy of a packet, which leaves after those before it; false when there is no frame for it.
    boolean add(Frame frame, long dueNanos, WeakMemory.@Nullable Sample sample, SpareFrames spare) {
        assert sample == null || frame.start == Frame.HEADROOM : "made in its own slot";
        Frame copy = spare.take();
        if (copy == null) {
            return false;
        }
        copy.copyFrom(frame);
        last = isEmpty() ? dueNanos : Math.max(last, dueNanos);
        frames.add(new Late(copy, last, sample));
        return true;
    }

    /// Takes the data of all that wait for the last time.
    void fix() {
        for (int n = frames.size(); n > 0; n--) {
            Late late = frames.remove();
            takeAgain(late);
            frames.add(new Late(late.frame, late.dueNanos, null));
        }
    }

    /// Copies the first packet whose time has come into `frame`; false when there is none.
    boolean poll(Frame frame, long nowNanos, SpareFrames spare) {
        if (dueNanos() > nowNanos) {
            return false;
        }
        Late late = frames.remove();
        if (late.sample != null) {
            resampler.resample(late.frame, late.sample);
            frames.forEach(LateFrames::takeAgain);
        }
        frame.copyFrom(late.frame);
        spare.giveBack(late.frame);
        return true;
    }

    private static void takeAgain(Late late) {
        WeakMemory.Sample sample = late.sample;
        if (sample != null) {
            sample.take(0, late.frame.slot, sample.offset(), sample.bytes());
        }
    }

    /// Forgets all.
    void clear(SpareFrames spare) {
        while (!frames.isEmpty()) {
            spare.giveBack(frames.remove().frame);
        }
    }
}
