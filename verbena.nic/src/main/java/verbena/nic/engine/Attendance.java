package verbena.nic.engine;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The place of the attendant: which thread holds it, which thread wants it, and how long it may stay empty.
///
/// The engine's own thread holds it at first. A thread of the application that waits for a completion takes the
/// place ([#takeOver]), so that a message wakes one thread instead of two. When this guest leaves with its
/// completion, the place stays empty for a moment, because the same thread is likely to return. If it does not, the
/// engine's thread takes the place again within [Tuning#ABSENCE_NANOS_OFTEN], or at once when other threads wait.
final class Attendance {
    private final Sleep sleep;
    private final Pollers pollers;
    private final LongSupplier clock;
    private final BooleanSupplier isAlive;
    private final BooleanSupplier isForgotten;

    /// The engine's own thread.
    private volatile @Nullable Thread thread;
    /// The engine's thread or a guest; null for a moment after a guest has left.
    private final AtomicReference<@Nullable Thread> attendant = new AtomicReference<>();
    /// A thread that wants to attend in place of the engine's thread.
    private final AtomicReference<@Nullable Thread> heir = new AtomicReference<>();
    /// The number of threads that wait for completions without attending: each needs another thread to wake it.
    private final AtomicInteger parked = new AtomicInteger();
    /// Whether the guest leaves as soon as another thread wants the place. Written by the attendant.
    private volatile boolean isGivingWay;
    /// The number of guests that have come. Written by the attendant.
    private volatile long visits;
    /// Whether the attendant stays away because a thread polls, or the engine's thread because of a guest.
    private volatile boolean away;
    /// Whether a poller has announced that it stops, or a guest has left while other threads wait.
    private volatile boolean handedOver;
    /// Whether the engine's thread sleeps until the guest leaves.
    private volatile boolean offDuty;

    /// @param isAlive whether the engine has neither failed nor been closed
    /// @param isForgotten whether a thread has posted requests and forgotten them
    Attendance(Sleep sleep, Pollers pollers, LongSupplier clock, BooleanSupplier isAlive, BooleanSupplier isForgotten) {
        this.sleep = sleep;
        this.pollers = pollers;
        this.clock = clock;
        this.isAlive = isAlive;
        this.isForgotten = isForgotten;
    }

    /// Sets the engine's own thread, which will take the place.
    void owner(Thread own) {
        thread = own;
    }

    @Nullable
    Thread owner() {
        return thread;
    }

    boolean isMine() {
        return attendant.get() == Thread.currentThread();
    }

    /// Returns whether the attendant is away because pollers or a guest do its work.
    boolean isAway() {
        return away;
    }

    /// Notes that nothing is left to do, so that what was handed over is done.
    void taken() {
        handedOver = false;
    }

    /// Calls the attendant at once, because the caller leaves work or will not poll for now.
    void handOver() {
        Thread own = thread;
        if (own != null && !handedOver) {
            handedOver = true;
            if (away) {
                Thread now = attendant.get();
                LockSupport.unpark(now == null ? own : now);
            }
        }
    }

    /// Implements [Engine#parked(int)].
    void parked(int change) {
        parked.getAndAdd(change);
        if (change > 0) {
            handOver();
        }
    }

    // ---- guests

    /// Takes the place, and waits until the engine's thread has left it. Waits for another guest only when that
    /// one gives way, and the caller would not.
    ///
    /// @param givesWay whether the caller will leave when [#isWanted()]
    boolean takeOver(Thread me, BooleanSupplier isOver, long untilNanos, boolean givesWay) {
        while (isAlive.getAsBoolean() && parked.get() == 0) {
            Thread now = attendant.get();
            if (now == null && attendant.compareAndSet(null, me)) {
                long before = visits;
                visits = before + 1; // only the attendant writes
                isGivingWay = givesWay;
                heir.compareAndSet(me, null);
                return true;
            }
            boolean hasGuest = now != null && now != thread;
            if ((hasGuest && (givesWay || !isGivingWay)) || (heir.get() != me && !heir.compareAndSet(null, me))) {
                break;
            }
            sleep.disturb();
            if (away) {
                LockSupport.unpark(hasGuest ? now : thread);
            }
            if (attendant.get() != null) {
                LockSupport.parkNanos(this, Tuning.ABSENCE_NANOS_MAX);
            }
            if (isOver.getAsBoolean() || me.isInterrupted() || clock.getAsLong() >= untilNanos) {
                break;
            }
        }
        heir.compareAndSet(me, null);
        return false;
    }

    /// Leaves the place; by a guest.
    void leave() {
        assert isMine() : "only the attendant leaves";
        attendant.set(null);
        boolean othersWait = parked.get() > 0;
        if (othersWait) {
            handedOver = true;
        }
        if (othersWait || offDuty) {
            LockSupport.unpark(thread);
        }
        LockSupport.unpark(heir.get());
    }

    /// Implements [Engine#wakeGuest()].
    void wakeGuest() {
        Thread now = attendant.get();
        if (now == thread) {
            LockSupport.unpark(heir.get());
            return;
        }
        if (now == null || now == Thread.currentThread()) {
            return;
        }
        sleep.disturb();
        LockSupport.unpark(now);
    }

    // ---- the engine's thread

    /// Takes the place if it is empty.
    boolean tryTake() {
        return attendant.compareAndSet(null, Thread.currentThread());
    }

    /// Returns whether a thread of the application wants the place.
    boolean isWanted() {
        return heir.get() != null;
    }

    /// Gives the place of the engine's thread to the thread that wants it, or leaves it empty while other threads
    /// poll.
    void give() {
        assert isMine() : "only the attendant gives the place away";
        attendant.set(null);
        LockSupport.unpark(heir.get());
    }

    /// Waits, as the engine's thread, while threads of the application do its work. Returns when the place is empty
    /// and stays empty, and no thread polls.
    void await() {
        away = true; // before the read of handedOver: a thread that hands over writes handedOver first, then reads away
        var absence = new Absence();
        long visitsBefore = visits;
        long pollsBefore = pollers.polls();
        long findsBefore = pollers.finds();
        while (isAlive.getAsBoolean() && !handedOver) {
            LockSupport.parkNanos(this, absence.nanos());
            long came = visits - visitsBefore;
            long polled = pollers.polls() - pollsBefore;
            long found = pollers.finds() - findsBefore;
            visitsBefore += came;
            pollsBefore += polled;
            findsBefore += found;
            if (attendant.get() == null && isForgotten.getAsBoolean()) {
                break;
            }
            if (came > 0 || Pollers.isPolling(polled, absence.nanos())) {
                absence.extend(came + found, parked.get() > 0);
            } else if (attendant.get() == null) {
                break;
            } else {
                offDuty = true; // before the look at the place: a guest leaves the place first, then reads offDuty
                while (attendant.get() != null && isAlive.getAsBoolean()) {
                    LockSupport.park(this);
                }
                offDuty = false;
                visitsBefore = visits;
                pollsBefore = pollers.polls();
                findsBefore = pollers.finds();
                absence.reset();
            }
        }
        away = false;
        handedOver = false;
    }

    /// Waits, as a guest that holds the place, while another thread polls without pause and so does the engine's
    /// work.
    void stayAway(BooleanSupplier isOver) {
        var absence = new Absence();
        away = true; // before the read of handedOver: a thread that hands over writes handedOver first, then reads away
        while (!handedOver && isAlive.getAsBoolean() && !isOver.getAsBoolean()) {
            long before = pollers.polls();
            LockSupport.parkNanos(this, absence.nanos());
            if (!Pollers.isPolling(pollers.polls() - before, absence.nanos()) || isForgotten.getAsBoolean()) {
                break;
            }
            absence.extend(0, true);
        }
        away = false;
    }
}
