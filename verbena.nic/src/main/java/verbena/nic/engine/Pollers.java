package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// How often threads of the application poll, and so do the engine's work: the attendant need not. Counted by owners;
/// other threads read the numbers as hints.
final class Pollers {
    /// Without pause: at least one poll in this time, on the average.
    private static final long INTERVAL_NANOS = 25_000;
    /// And so many at least.
    static final int POLLS_MIN = 8;
    /// After so many polls in vain, some 30 µs, a poller lets others have the processor: the thread that it waits for
    /// may share it.
    private static final int YIELD_POLLS = 64;

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

    /// Polls that have found nothing to do, since one did; a guess.
    private int inVain;

    /// A poller drives. By the owner.
    void count() {
        POLLS.setOpaque(this, polls() + 1);
    }

    /// It has found something to do, or nothing. No longer by the owner: the numbers are a guess.
    @SuppressWarnings("ThreadPriorityCheck") // no more than a courtesy
    void countResult(boolean any) {
        if (any) {
            FINDS.setOpaque(this, finds() + 1);
            inVain = 0;
        } else if (++inVain % YIELD_POLLS == 0) {
            Thread.yield();
        }
    }

    /// How often pollers have driven.
    long polls() {
        return (long) POLLS.getOpaque(this);
    }

    /// How often they have found something to do.
    long finds() {
        return (long) FINDS.getOpaque(this);
    }

    /// Whether so many polls in this time are polling without pause.
    static boolean isPolling(long polls, long nanos) {
        return polls >= POLLS_MIN && polls * INTERVAL_NANOS >= nanos;
    }
}
