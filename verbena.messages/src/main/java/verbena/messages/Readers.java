package verbena.messages;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import verbena.verbs.InvalidStateException;
import verbena.verbs.WaitSource;
import verbena.verbs.waiting.LeaderFollowers;

/// The choice of the thread that reads the completions of a worker. One thread reads at a time: a thread that waits
/// for something of the worker ([LeaderFollowers]), or the worker's own thread (the keeper) while no thread waits.
///
/// When the last thread has left, the lead stays vacant for a moment. The keeper looks after a quarter of a
/// millisecond, and then less often, up to every millisecond, whether threads still come. While they come more often
/// than every tenth of a millisecond, it looks every four milliseconds. It leads when none came since its last look,
/// or when something has arrived that no thread read. While a thread waits long for an arrival, the keeper sleeps
/// without a timer. A thread that begins to wait while the keeper leads gets the lead after the next arrival.
///
/// What is finished is marked first; then those that wait for it are told: a follower by its wake-up, the leader by
/// a ring of the source. Safe for use by any thread.
final class Readers {
    private static final long FIRST_LOOK_NANOS = 250_000;
    private static final long LOOK_NANOS = 1_000_000;
    private static final long SELDOM_NANOS = 4_000_000;
    /// Threads that read as often as this will come again.
    private static final long OFTEN_NANOS = 100_000;

    /// The source of completions. One thread at a time reads.
    interface Source {
        /// Waits for arrivals, and handles what is there.
        ///
        /// @param nanos 0 to look only, `Long.MAX_VALUE` for no limit
        Outcome read(long nanos) throws InterruptedException;

        /// Ends the read that is under way, or else the next one. Not called again before [Readers#heard()].
        void ring();
    }

    /// The result of a read.
    enum Outcome {
        /// Something had arrived.
        SOME,
        /// The time has passed.
        NONE,
        /// The end: nothing will ever arrive any more, and all that was under way has failed.
        OVER
    }

    /// The state of the keeper.
    private enum Keeper {
        READS,
        /// The state in which it looks from time to time.
        LOOKS,
        /// The state in which it sleeps until it is woken.
        RESTS
    }

    private final Source source;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition called = lock.newCondition();
    private final Reading reading = new Reading();
    private final LeaderFollowers threads = new LeaderFollowers(lock, reading, this::ring);
    /// The place where a waiter reads arrivals for the whole worker.
    final WaitSource.Place place = new WaitSource.Place() {
        @Override
        public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
            boolean _ = Readers.this.attend(isOver, nanos);
            return true;
        }

        @Override
        public void wakeAttendant() {
            threads.tell(attending);
        }
    };
    /// The threads that wait for what handlers do.
    private final LeaderFollowers.WaitSet attending = new LeaderFollowers.WaitSet();

    @SuppressWarnings("UnnecessaryLambda") // made once, so that no wait makes one
    private final Predicate<BooleanSupplier> untilOrOver = until -> until.getAsBoolean() || isOver();

    // Under the lock.
    private Keeper keeper = Keeper.LOOKS;
    private boolean isRung;
    private boolean isOver;

    Readers(Source source) {
        this.source = source;
    }

    /// The source, by the thread that leads.
    private final class Reading implements LeaderFollowers.Source {
        private Outcome outcome = Outcome.NONE;

        @Override
        public void await(long nanos) throws InterruptedException {
            outcome = Outcome.NONE;
            outcome = source.read(nanos);
        }

        @Override
        public void take() {
            isOver |= outcome == Outcome.OVER;
            if (outcome != Outcome.NONE) {
                threads.tell(attending); // a handler may have run
            }
        }
    }

    // ---- threads that wait

    /// Refuses a thread that reads: it runs a handler, and would wait for itself.
    void requireMayWait() {
        if (threads.isLeader()) {
            throw new InvalidStateException(
                    "a handler must not wait on the thread that reads: give the work to another thread");
        }
    }

    /// Waits until what handlers do makes a condition true; false when `nanos` have passed before. With 0 it takes
    /// what is there. The condition is looked at after each arrival.
    boolean attend(BooleanSupplier until, long nanos) throws InterruptedException {
        if (until.getAsBoolean()) {
            return true;
        }
        requireMayWait();
        lock.lock();
        try {
            if (nanos > 0) {
                boolean _ = threads.await(attending, until, untilOrOver, nanos);
            } else if (!isOver) {
                threads.look();
            }
            return until.getAsBoolean();
        } finally {
            callKeeper();
            lock.unlock();
        }
    }

    /// Waits until it is done; false when `nanos` have passed before. `Long.MAX_VALUE` is no limit.
    ///
    /// @param set of the threads that wait for it
    <T> boolean await(LeaderFollowers.WaitSet set, T what, Predicate<? super T> isDone, long nanos)
            throws InterruptedException {
        if (isDone.test(what)) {
            return true;
        }
        requireMayWait();
        lock.lock();
        try {
            return threads.await(set, what, isDone, nanos);
        } finally {
            callKeeper();
            lock.unlock();
        }
    }

    // ---- what is done

    /// Wakes the threads that wait for something. Called by any thread, after it is done.
    void tell(LeaderFollowers.WaitSet set) {
        threads.tell(set);
    }

    /// Handles a ring that the reader has found among the arrivals.
    void heard() {
        lock.lock();
        try {
            isRung = false;
        } finally {
            lock.unlock();
        }
    }

    private void ring() {
        if (!isRung) {
            isRung = true;
            source.ring();
        }
    }

    /// Returns whether nothing will ever arrive any more.
    boolean hasEnded() {
        lock.lock();
        try {
            return isOver;
        } finally {
            lock.unlock();
        }
    }

    private boolean isOver() {
        return isOver;
    }

    // ---- the keeper

    /// Runs the worker's own thread: it leads while no other thread does, until nothing will arrive any more.
    void keep() throws InterruptedException {
        lock.lock();
        try {
            while (!isOver) {
                keeper = Keeper.READS;
                while (!threads.isLed() && threads.isIdle() && !isOver) {
                    threads.lead(LeaderFollowers.FOREVER);
                }
                threads.handOver();
                long pause = FIRST_LOOK_NANOS;
                long before = threads.turns();
                while (!isOver && !isLeft(pause)) {
                    pause = keeper == Keeper.RESTS ? FIRST_LOOK_NANOS : nextPause(pause, threads.turns() - before);
                    before = threads.turns();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /// Returns the time to wait for the next look.
    ///
    /// @param last the pause before this look, in nanoseconds
    /// @param came reads by waiting threads meanwhile
    static long nextPause(long last, long came) {
        return came > last / OFTEN_NANOS ? SELDOM_NANOS : Math.min(2 * last, LOOK_NANOS);
    }

    /// Waits for the next look; true when no thread will take the lead soon.
    @SuppressWarnings("WaitNotInLoop") // a look too early does no harm
    private boolean isLeft(long nanos) throws InterruptedException {
        long before = threads.turns();
        keeper = Keeper.LOOKS;
        long _ = called.awaitNanos(nanos);
        if (threads.turns() == before && threads.isLed() && !isOver) { // a thread reads for long
            keeper = Keeper.RESTS;
            called.await();
            return false;
        }
        if (isOver || threads.isLed() || !threads.isIdle()) {
            return false; // when a thread has left just now, it may come again
        }
        if (threads.turns() == before) {
            return true;
        }
        threads.lead(0);
        threads.handOver();
        return reading.outcome == Outcome.SOME;
    }

    /// Wakes the keeper after a thread has left, when the lead is vacant and no thread waits or nothing will arrive
    /// any more.
    private void callKeeper() {
        if (!threads.isLed() && (isOver || (keeper == Keeper.RESTS && threads.isIdle()))) {
            called.signal();
        }
    }
}
