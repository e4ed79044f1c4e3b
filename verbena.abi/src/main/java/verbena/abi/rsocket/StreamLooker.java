package verbena.abi.rsocket;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import verbena.abi.Threads;

/// One thread of the process, which looks after the rsockets that no call of the program looks after. It
/// takes what has completed, keeps their descriptors as ready as they are, and asks whether peers are
/// alive.
///
/// A program that waits in calls of ours needs it for none of that. It leaves its rsockets behind from call
/// to call, and this thread comes back to one that the program has not touched for [#PERIOD_NANOS].
final class StreamLooker {
    static final long PERIOD_NANOS = 4_000_000;

    private static final ConcurrentLinkedQueue<Attended> DUE = new ConcurrentLinkedQueue<>();
    private static final ConcurrentLinkedQueue<Attended> LEFT = new ConcurrentLinkedQueue<>();
    private static final Set<LongUnaryOperator> KEPT_ALIVE = ConcurrentHashMap.newKeySet();
    /// The thread would not see that something is left behind.
    private static volatile boolean isAsleep;

    private static volatile @Nullable Thread thread;

    private StreamLooker() {}

    /// Begins a thread's work; called before all other methods.
    static synchronized void begin() {
        if (thread == null) {
            thread = Threads.start("verbena-abi-looker", StreamLooker::run);
        }
    }

    /// Makes a thread look at an rsocket for which a completion has come. Any thread, also a thread that works for
    /// the device.
    static void look(Attended at) {
        DUE.add(at);
        LockSupport.unpark(thread);
    }

    /// Leaves an rsocket behind after a call; the program is likely to come back to it.
    static void leave(Attended behind) {
        LEFT.add(behind);
        if (isAsleep) {
            LockSupport.unpark(thread);
        }
    }

    /// Handles a change of the signs of life: whether the peer is to be asked for one, or how often.
    ///
    /// @param which asks when it is time, and answers in how many nanoseconds it is time for that again
    static void keepAlive(LongUnaryOperator which, boolean wanted) {
        boolean _ = wanted ? KEPT_ALIVE.add(which) : KEPT_ALIVE.remove(which);
        LockSupport.unpark(thread);
    }

    private static void run() {
        long next = System.nanoTime();
        while (true) {
            Attended due = DUE.poll();
            while (due != null) {
                due.lookAfter();
                due = DUE.poll();
            }
            long now = System.nanoTime();
            if (now - next >= 0) {
                next = now + PERIOD_NANOS;
                LEFT.removeIf(Attended::isDoneWith);
            }
            long nanos = askAll(now);
            isAsleep = true; // before the look: a call adds first, then reads this
            if (!LEFT.isEmpty()) {
                isAsleep = false;
                nanos = Math.min(nanos, Math.max(1, next - now));
            }
            if (DUE.isEmpty()) {
                if (nanos == Long.MAX_VALUE) {
                    LockSupport.park(DUE);
                } else {
                    LockSupport.parkNanos(DUE, nanos);
                }
            }
            isAsleep = false;
        }
    }

    /// Asks the peers that it is time for; in how many nanoseconds it is time for the next.
    private static long askAll(long now) {
        long nanos = Long.MAX_VALUE;
        for (LongUnaryOperator each : KEPT_ALIVE) {
            nanos = Math.min(nanos, each.applyAsLong(now));
        }
        return nanos;
    }
}
