package verbena.nic.link.sharing;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.LongSupplier;
import verbena.wire.Frame;

/// The requests of connection management that arrived before any link served their service. They wait for a moment,
/// because a server that has just told its client to connect may be about to listen. The first time, a JVM is slower
/// to listen than the client's kernel is to connect ([decision
/// 20](../../../../../../../../docs/decisions/20-connecting.md)). Then they go to the link that
/// serves them by now, or to this device, which refuses them.
///
/// For the thread that may receive on the link, except where a method allows any thread.
public final class EarlyRequests {
    /// The time that a request waits.
    static final long WAIT_NANOS = 100_000_000;
    /// The largest number of requests that wait. Further requests are refused at once; only clients that do not
    /// wait for the server send them.
    static final int MAX = 16;

    private static final long LOOK_NANOS = 5_000_000;
    private static final long NEVER = Long.MAX_VALUE;

    private record Early(Frame frame, long until) {}

    /// The knowledge of the links and the services that they serve.
    interface Servers {
        /// Returns whether this link serves the service that the request is for.
        boolean isServedHere(Frame frame);

        /// Passes a request to another link that serves the service; false when no other link does.
        boolean passOn(Frame frame);
    }

    private final Arena arena;
    private final LongSupplier clock;
    private final ArrayDeque<Early> waiting = new ArrayDeque<>();
    private final ArrayDeque<Frame> free = new ArrayDeque<>();
    /// The time of the next look, which the sleeping thread reads.
    private volatile long due = NEVER;
    /// The number of requests in [#waiting].
    private volatile int size;

    /// @param clock nanoseconds
    public EarlyRequests(Arena arena, LongSupplier clock) {
        this.arena = arena;
        this.clock = clock;
    }

    /// Returns how many requests wait. Any thread.
    int size() {
        return size;
    }

    /// Returns when to look again, by the clock; [Long#MAX_VALUE] when no request waits. Any thread.
    long due() {
        return due;
    }

    boolean isDue() {
        return due != NEVER && clock.getAsLong() - due >= 0;
    }

    /// Keeps a copy of a request; false when there is no room.
    boolean hold(Frame frame) {
        if (waiting.size() == MAX) {
            return false;
        }
        Frame kept = free.poll();
        if (kept == null) {
            kept = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
        }
        kept.copyFrom(frame);
        long now = clock.getAsLong();
        assert waiting.size() + free.size() <= MAX;
        waiting.add(new Early(kept, now + WAIT_NANOS));
        size = waiting.size();
        if (due == NEVER) {
            due = now + LOOK_NANOS;
        }
        return true;
    }

    /// Makes the next look due at once.
    void hurry() {
        if (!waiting.isEmpty()) {
            due = clock.getAsLong();
        }
    }

    /// Fills `frames[from]` and its successors with requests that now go to the device, at most `count`; returns
    /// how many.
    int handOut(Frame[] frames, int from, int count, Servers servers) {
        if (!isDue()) {
            return 0;
        }
        long now = clock.getAsLong();
        int taken = 0;
        for (Iterator<Early> all = waiting.iterator(); all.hasNext() && taken < count; ) {
            Early early = all.next();
            boolean isServedHere = servers.isServedHere(early.frame);
            boolean isPassedOn = !isServedHere && servers.passOn(early.frame);
            if (!isServedHere && !isPassedOn && now - early.until < 0) {
                continue;
            }
            if (!isPassedOn) {
                frames[from + taken++].copyFrom(early.frame);
            }
            all.remove();
            free.add(early.frame);
        }
        size = waiting.size();
        due = waiting.isEmpty() ? NEVER : taken == count ? now : now + LOOK_NANOS;
        return taken;
    }
}
