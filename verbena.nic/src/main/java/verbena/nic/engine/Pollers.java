package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/// The count of polls by threads of the application. A polling thread does the engine's work, so the attendant need
/// not. Owners count; other threads read the numbers as hints.
final class Pollers {
    private static final VarHandle POLLS;
    private static final VarHandle FINDS;

    static {
        try {
            var lookup = MethodHandles.lookup();
            POLLS = lookup.findVarHandle(Pollers.class, "polls", long.class);
            FINDS = lookup.findVarHandle(Pollers.class, "finds", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long polls;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long finds;

    private final LongSupplier clock;
    private final Patience patience = new Patience();
    /// The time since which polls have found nothing to do, as an estimate.
    private long inVainSince;

    Pollers(LongSupplier clock) {
        this.clock = clock;
    }

    /// Counts polls, the last of which drives. By the owner.
    void count(int more) {
        POLLS.setOpaque(this, polls() + more);
    }

    /// Notes whether a poll found something to do. The caller is no longer the owner, so the time is an estimate.
    ///
    /// @param now when it looked
    @SuppressWarnings("ThreadPriorityCheck") // correct without the hint
    void countResult(boolean any, long now) {
        if (any) {
            FINDS.setOpaque(this, finds() + 1);
            inVainSince = now;
        } else if (now - inVainSince >= patience.nanos()) {
            long before = clock.getAsLong();
            Thread.yield();
            inVainSince = clock.getAsLong();
            patience.yielded(inVainSince - before);
        }
    }

    /// Notes that the attendant has found something to do, so that polls are not in vain. By the owner.
    void attended(long now) {
        inVainSince = now;
    }

    /// Returns how many times pollers have driven the engine.
    long polls() {
        return (long) POLLS.getOpaque(this);
    }

    /// Returns how many of these polls have found something to do.
    long finds() {
        return (long) FINDS.getOpaque(this);
    }

    /// Returns whether this many polls in this time count as polling without pause.
    static boolean isPolling(long polls, long nanos) {
        return polls >= Tuning.POLLS_MIN && polls * Tuning.POLL_NANOS >= nanos;
    }
}
