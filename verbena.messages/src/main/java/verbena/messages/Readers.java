package verbena.messages;

import java.util.ArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Which thread reads the completions of a worker. One at a time does: a thread that waits for something of the
/// worker, or the worker's own thread, the keeper, while none waits.
///
/// The reader finishes what others wait for, and wakes them. When it has what it wants, it wakes the waiting thread
/// that came last, and that one reads on. With none left the place stays empty for a moment. The keeper looks after a
/// quarter of a millisecond, and then less often, up to every millisecond, whether threads still come. While they come
/// more often than every tenth of a millisecond, it looks every four milliseconds. It takes the place when none came
/// since its last look, or when something has arrived that no thread read. While a thread waits long for an arrival,
/// the keeper sleeps without a timer. A thread that begins to wait while the keeper reads gets the place after the next
/// arrival.
///
/// No wake-up is lost. A thread decides under the lock whether it reads, sleeps or leaves. What is finished is marked
/// first; then the lock is taken, and those that wait for it are woken: a sleeper by unpark, the reader by a ring of
/// the source. A thread that leaves an empty place wakes a sleeper or the keeper, whatever the reason for which it
/// leaves. Safe for use by any thread.
final class Readers {
    private static final long FIRST_LOOK_NANOS = 250_000;
    private static final long LOOK_NANOS = 1_000_000;
    private static final long SELDOM_NANOS = 4_000_000;
    /// Threads that read as often as this will come again.
    private static final long OFTEN_NANOS = 100_000;

    /// Where completions come from. One thread at a time reads.
    interface Source {
        /// Waits for arrivals, and handles what is there.
        ///
        /// @param nanos 0 to look only, `Long.MAX_VALUE` for no limit
        Outcome read(long nanos) throws InterruptedException;

        /// Ends the read that is under way, or else the next one. Not called again before [Readers#heard()].
        void ring();
    }

    /// What a read gave.
    enum Outcome {
        /// Something had arrived.
        SOME,
        /// The time has passed.
        NONE,
        /// Nothing will ever arrive any more, and all that was under way has failed.
        OVER
    }

    /// A thread that waits for something.
    static final class Waiter {
        private final Thread thread = Thread.currentThread();
        /// The next that waits for the same.
        private @Nullable Waiter next;
        // Those that came before and after it.
        private @Nullable Waiter older;
        private @Nullable Waiter newer;
    }

    /// Where the keeper is.
    private enum Keeper {
        READS,
        /// It looks from time to time.
        LOOKS,
        /// It sleeps until it is woken.
        RESTS
    }

    private final Source source;
    private final ReentrantLock lock = new ReentrantLock();

    // Under the lock.
    /// Of those that wait, the one that came last.
    private @Nullable Waiter newest;
    /// Those of them that wait for what handlers do.
    private final ArrayList<Waiter> attending = new ArrayList<>();
    /// The thread that reads; null for none. A thread may ask without the lock whether it is the one, because only
    /// the thread itself can make it so.
    private @Nullable Thread reader;
    private @Nullable Thread keeperThread;
    private Keeper keeper = Keeper.LOOKS;
    /// Reads by waiting threads.
    private long turns;
    private boolean isRung;
    private boolean isOver;

    Readers(Source source) {
        this.source = source;
    }

    // ---- threads that wait

    /// Refuses a thread that reads: it runs a handler, and would wait for itself.
    void requireMayWait() {
        if (reader == Thread.currentThread()) {
            throw new IllegalStateException(
                    "a handler must not wait on the thread that reads: give the work to another thread");
        }
    }

    /// Reads, or sleeps while another thread does, until what handlers do makes a condition true; false when `nanos`
    /// have passed before. With 0 it takes what is there. The condition is looked at after each arrival.
    boolean attend(BooleanSupplier until, long nanos) throws InterruptedException {
        if (until.getAsBoolean()) {
            return true;
        }
        requireMayWait();
        long start = System.nanoTime();
        Waiter me = null;
        lock.lock();
        try {
            long left = nanos;
            boolean isTried = false;
            while (!isOver) {
                if (me == null && reader != null) { // a thread that reads at once needs none, and makes no object
                    me = new Waiter();
                    enter(me);
                    attending.add(me);
                }
                if (until.getAsBoolean()) { // also what came while this thread had no lock
                    return true;
                }
                if (left <= 0 && isTried) {
                    return false;
                }
                waitOnce(Math.max(left, 0));
                isTried = true;
                left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - start);
            }
            return until.getAsBoolean();
        } finally {
            if (me != null) {
                leave(me);
                attending.remove(me);
            }
            passOn();
            lock.unlock();
        }
    }

    /// Reads once, or sleeps once.
    private void waitOnce(long nanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (reader == null && !isOver) {
            turns++;
            read(nanos);
        } else {
            sleep(nanos);
        }
    }

    /// Waits until it is done; false when `nanos` have passed before. `Long.MAX_VALUE` is no limit.
    boolean await(Pending<?> what, long nanos) throws InterruptedException {
        if (what.isDone()) {
            return true;
        }
        requireMayWait();
        long start = System.nanoTime();
        var me = new Waiter();
        lock.lock();
        try {
            me.next = what.waiters;
            what.waiters = me;
            enter(me);
            while (!what.isDone()) {
                long left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    return false;
                }
                waitOnce(left);
            }
            return true;
        } finally {
            leave(me);
            unlink(me, what);
            passOn();
            lock.unlock();
        }
    }

    private void enter(Waiter me) {
        me.older = newest;
        if (newest != null) {
            newest.newer = me;
        }
        newest = me;
    }

    private void leave(Waiter me) {
        Waiter older = me.older;
        Waiter newer = me.newer;
        if (older != null) {
            older.newer = newer;
        }
        if (newer != null) {
            newer.older = older;
        } else {
            newest = older;
        }
    }

    private static void unlink(Waiter me, Pending<?> what) {
        if (what.waiters == me) {
            what.waiters = me.next;
            return;
        }
        for (Waiter each = what.waiters; each != null; each = each.next) {
            if (each.next == me) {
                each.next = me.next;
            }
        }
    }

    /// Without the lock meanwhile.
    ///
    /// @param nanos 0 not to sleep
    private void sleep(long nanos) {
        lock.unlock();
        try {
            if (nanos == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        } finally {
            lock.lock();
        }
    }

    /// Without the lock meanwhile.
    private Outcome read(long nanos) throws InterruptedException {
        reader = Thread.currentThread();
        Outcome outcome = Outcome.NONE;
        lock.unlock();
        try {
            outcome = source.read(nanos);
        } finally {
            lock.lock();
            reader = null;
            isOver |= outcome == Outcome.OVER;
            if (!attending.isEmpty() && outcome != Outcome.NONE) {
                attending.forEach(each -> LockSupport.unpark(each.thread)); // a handler may have run
            }
        }
        return outcome;
    }

    /// The place may be empty: another thread has to take it.
    private void passOn() {
        if (reader != null) {
            return;
        }
        if (isOver) {
            LockSupport.unpark(keeperThread);
        } else if (newest != null) {
            LockSupport.unpark(newest.thread);
        } else if (keeper == Keeper.RESTS) {
            LockSupport.unpark(keeperThread);
        }
    }

    // ---- what is done

    /// Wakes those that wait for it. Called by any thread, after [Pending#isDone()] has become true. A thread that
    /// waits says so first, and looks then whether it is done. So none is missed here.
    void tell(Pending<?> what) {
        Waiter first = what.waiters;
        if (first == null || (first.thread == Thread.currentThread() && first.next == null)) {
            return;
        }
        lock.lock();
        try {
            for (Waiter each = what.waiters; each != null; each = each.next) {
                if (each.thread != reader) {
                    LockSupport.unpark(each.thread);
                } else if (each.thread != Thread.currentThread() && !isRung) {
                    isRung = true;
                    source.ring();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /// The reader has found a ring among the arrivals.
    void heard() {
        lock.lock();
        try {
            isRung = false;
        } finally {
            lock.unlock();
        }
    }

    // ---- the keeper

    /// The body of the worker's own thread: reads while no other thread does, until nothing will arrive any more.
    void keep() throws InterruptedException {
        lock.lock();
        try {
            keeperThread = Thread.currentThread();
            while (!isOver) {
                keeper = Keeper.READS;
                while (reader == null && newest == null && !isOver) {
                    read(Long.MAX_VALUE);
                }
                passOn();
                long pause = FIRST_LOOK_NANOS;
                long before = turns;
                while (!isOver && !isLeft(pause)) {
                    pause = keeper == Keeper.RESTS ? FIRST_LOOK_NANOS : nextPause(pause, turns - before);
                    before = turns;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /// How long to wait for the next look.
    ///
    /// @param last the pause before this look, in nanoseconds
    /// @param came reads by waiting threads meanwhile
    static long nextPause(long last, long came) {
        return came > last / OFTEN_NANOS ? SELDOM_NANOS : Math.min(2 * last, LOOK_NANOS);
    }

    /// Waits for the next look; true when no thread will take the place soon.
    private boolean isLeft(long nanos) throws InterruptedException {
        long before = turns;
        keeper = Keeper.LOOKS;
        sleep(nanos);
        if (turns == before && reader != null && !isOver) { // a thread reads for long
            keeper = Keeper.RESTS;
            sleep(Long.MAX_VALUE);
            return false;
        }
        if (isOver || reader != null || newest != null) {
            return false; // when a thread has left just now, it may come again
        }
        if (turns == before) {
            return true;
        }
        boolean isLate = read(0) == Outcome.SOME;
        passOn();
        return isLate;
    }
}
