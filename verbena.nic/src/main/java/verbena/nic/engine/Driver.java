package verbena.nic.engine;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.QuickTraffic;
import verbena.transport.Protocol;
import verbena.transport.Shortcut;

/// The choice of the thread that does the engine's work, and of the place where threads wait for more of it.
///
/// # Why no wake-up is lost
///
/// A thread that leaves work (a doorbell or a command) first makes it visible and then tries to own the engine. An
/// owner first gives the ownership back and then looks for work that was left meanwhile. The attendant announces its
/// [Sleep], then looks for work and for other owners since, and only then sleeps. An owner counts
/// [Ownership#turns()], gives the ownership back, and then looks whether there is a sleep. All threads agree on one
/// order of these accesses: in it, at least one thread of each pair sees the other.
///
/// # Why no doorbell is forgotten
///
/// A thread that posts may leave a doorbell on the list without owning the engine ([Burst]), so that it is sent
/// together with the next doorbells. The thread first puts the doorbell on the list and then looks whether the
/// attendant sleeps. The attendant first announces its sleep and then looks at the list. So either the poster sends,
/// or the attendant does not go to sleep in the link. An attendant that stays away looks at the list whenever it
/// checks whether threads still poll, at least once in [Tuning#ABSENCE_NANOS_OFTEN], and sends forgotten doorbells.
///
/// # The attendant
///
/// One thread at a time attends to the engine: it handles arrivals and deadlines, and sleeps in the link.
/// [Attendance] decides which thread that is, and when.
final class Driver {
    /// The result of [#visit] when the caller has to wait by other means.
    static final int ELSEWHERE = -1;

    private final Work work;
    private final Ownership ownership;
    private final Containment containment;
    private final LongSupplier clock;
    private final Burst burst = new Burst();
    private final Pollers pollers;
    /// The time at which an owner last looked for work; an estimate for all others.
    private long lookedAt;
    private final Sleep sleep;
    private final Attendance attendance;
    private final InterruptBell interruptBell = new InterruptBell(this::wakeGuest);

    private volatile boolean closed;

    /// Whether the last piece of work has left something for the next poll. A hint.
    private boolean isLeft;
    /// The number of polls since the last poll that did not only glance; a hint.
    private int glances;

    // Used by the attendant only, from turn to turn.
    private boolean receiving;
    private boolean idle;
    private boolean looking;
    private long idleSince;
    private long pollsBefore;
    private long turnNanos;
    private long turnsSeen;
    /// The engine's next deadline as of the last turn.
    private long due;

    Driver(Work work, Ownership ownership, Containment containment, LongSupplier clock) {
        this.work = work;
        this.ownership = ownership;
        this.containment = containment;
        this.clock = clock;
        this.pollers = new Pollers(clock);
        this.sleep = new Sleep(work);
        this.attendance = new Attendance(sleep, pollers, clock, this::isAlive, this::isForgotten);
    }

    /// Gives the engine a thread of its own.
    void start(String name) {
        Thread own = new Thread(this::run, name);
        own.setDaemon(true);
        attendance.owner(own);
        own.start();
    }

    boolean hasThread() {
        return attendance.owner() != null;
    }

    /// Ends the engine's thread and every wait for the engine; returns whether the caller was interrupted
    /// meanwhile.
    boolean end() {
        closed = true;
        work.link().wakeup();
        boolean interrupted = false;
        Thread own = attendance.owner();
        if (own != null && !own.equals(Thread.currentThread())) {
            LockSupport.unpark(own);
            while (own.isAlive()) {
                try {
                    own.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        sleep.rouse(MemorySegment.NULL);
        return interrupted;
    }

    private boolean isAlive() {
        return !closed && containment.failure() == null;
    }

    // ---- threads that post, poll or call

    /// Sends what a thread has posted: at once on this thread, when no other thread owns the engine, or with the
    /// thread's next posts ([Burst]). Without a thread of its own, the engine only records the doorbell.
    void posted(int requests, long bytes) {
        if (!hasThread()) {
            return;
        }
        // A doorbell may wait only while no thread sleeps in the link: see "Why no doorbell is forgotten".
        boolean mayWait = burst.mayWait(Thread.currentThread().threadId(), requests, bytes, clock.getAsLong());
        if (!mayWait || sleep.isUnderWay()) {
            workNow();
        }
    }

    /// Carries out what a thread has posted, as far as it needs neither packet nor time. True when nothing of it is
    /// left. This leaves no deadline, so no sleep has to be disturbed.
    boolean carryOut(EngineTask task, Shortcut shortcut) {
        if (containment.failure() != null || !ownership.tryOwn()) {
            return false;
        }
        boolean isDone = false;
        try {
            isDone = !task.isGone && !task.isLost && shortcut.carryOut();
        } catch (RuntimeException | Error e) {
            containment.contain(task, e);
        } finally {
            ownership.disown();
        }
        if (work.hasLeft()) {
            workNow();
        }
        return isDone;
    }

    /// Implements [Engine#polled()].
    void polled() {
        if (!work.doorbells.seemsEmpty() && burst.isOver(clock.getAsLong())) {
            workNow();
        }
    }

    private void workNow() {
        if (hasThread() && containment.failure() == null && ownership.tryOwn()) {
            work(Tuning.POSTER_PIECES, false);
        }
    }

    /// Implements [Engine#drive()].
    boolean drive() {
        if (!hasThread() || containment.failure() != null) {
            return false;
        }
        if (!isLeft && glances < Tuning.GLANCES_MAX && !work.hasLeft()) {
            QuickTraffic link = work.quick();
            boolean isQuiet = link != null && link.seemsQuiet();
            if (isQuiet || (link != null && attendance.isAway() && moveAtOnce(link))) {
                glances++;
                return !isQuiet;
            }
        }
        int polls = 1 + glances;
        glances = 0;
        burst.end(Thread.currentThread().threadId());
        if (!ownership.tryOwn()) {
            return false;
        }
        pollers.count(polls);
        boolean any = work(Tuning.POLLER_PIECES, true);
        pollers.countResult(any, lookedAt);
        return any;
    }

    /// Moves what needs no turn, and nothing else: the queue pairs that it is for have their turns with the next
    /// poll, or when the attendant is back. False when there is no such thing, or more to do.
    private boolean moveAtOnce(QuickTraffic link) {
        if (!ownership.tryOwn()) {
            return false;
        }
        int taken = 0;
        try {
            ownership.countTurn();
            taken = link.moveAtOnce(lookedAt);
            isLeft = taken > 0;
        } catch (RuntimeException | Error e) {
            containment.fail(e);
        } finally {
            ownership.disown();
        }
        if (taken == 0 || sleep.isUnderWay()) {
            return false;
        }
        pollers.countResult(true, lookedAt);
        return true;
    }

    /// Works as an owner that is not the attendant, until there is nothing left or `pieces` are done, and gives the
    /// ownership back.
    private boolean work(int pieces, boolean polling) {
        boolean any = false;
        for (int left = pieces; ; ) {
            boolean more;
            long due;
            try {
                ownership.countTurn();
                long now = clock.getAsLong();
                lookedAt = now;
                any |= work.doPiece(now, polling) > 0;
                due = work.dueNanos(now);
                // A few answers wait for the poller's next step: it is about to post, or polls again. If it does
                // not, the attendant, which is away and not asleep, comes within Tuning.ABSENCE_NANOS_OFTEN.
                more = due <= now && !(polling && attendance.isAway() && work.arrived() <= Tuning.FEW);
                isLeft = more || due <= now;
            } catch (RuntimeException | Error e) {
                containment.fail(e);
                return any;
            } finally {
                ownership.disown();
            }
            left--;
            if (sleep.isPast(due) && (!more || left <= 0)) {
                sleep.disturb(); // the attendant would sleep past the new deadline
            }
            if (left <= 0 && more && !polling) {
                attendance.handOver(); // a poller comes again; a poster may not
            }
            if (!(work.hasLeft() || (more && left > 0)) || !ownership.tryOwn()) {
                return any;
            }
        }
    }

    /// Runs commands only, as the owner, and gives the ownership back.
    void runCommands() {
        long due;
        try {
            ownership.countTurn();
            int _ = work.runCommands();
            due = work.dueNanos(clock.getAsLong());
        } finally {
            ownership.disown();
        }
        if (sleep.isPast(due)) {
            sleep.disturb();
        }
        if (due == Long.MIN_VALUE || work.hasLeft()) {
            workNow();
        }
    }

    /// Calls the attendant, wherever it waits, because a command was left.
    void call() {
        if (sleep.isUnderWay()) {
            sleep.disturb();
        } else {
            attendance.handOver();
        }
    }

    /// Implements [Engine#handOver()].
    void handOver() {
        attendance.handOver();
    }

    // ---- threads that wait

    /// Implements [Engine#parked(int)].
    void parked(int change) {
        attendance.parked(change);
    }

    /// Implements [Engine#attend].
    boolean attend(BooleanSupplier isOver, long nanos, boolean givesWay) throws InterruptedException {
        Thread me = Thread.currentThread();
        long now = clock.getAsLong();
        long untilNanos = nanos < Protocol.NEVER - Math.max(0, now) ? now + nanos : Protocol.NEVER;
        if (!hasThread()
                || me.isVirtual()
                || ownership.isMine()
                || !attendance.takeOver(me, isOver, untilNanos, givesWay)) {
            return false;
        }
        interruptBell.expect();
        try {
            attend(givesWay ? () -> attendance.isWanted() || isOver.getAsBoolean() : isOver, untilNanos, null);
        } finally {
            interruptBell.forget();
            attendance.leave();
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return true;
    }

    /// Implements [Engine#visit].
    int visit(BooleanSupplier isOver, MemorySegment pollfds) {
        Thread me = Thread.currentThread();
        boolean goesOn;
        if (attendance.isMine()) {
            sleep.rouse(pollfds);
            goesOn = !isPolled();
        } else {
            if (!hasThread()
                    || me.isVirtual()
                    || ownership.isMine()
                    || !work.link().canBePolled()
                    || !attendance.takeOver(me, isOver, Protocol.NEVER, false)) {
                return ELSEWHERE;
            }
            beginAttending(false);
            goesOn = true;
        }
        int count = 0;
        try {
            while (goesOn && count == 0 && turn(isOver, Protocol.NEVER, null)) {
                if (mayFallAsleep(due, isOver, true)) {
                    count = sleep.doze(due == Protocol.NEVER ? -1 : Math.max(0, due - turnNanos), pollfds);
                }
                if (count <= 0) {
                    sleep.end();
                    goesOn = count == 0 && !isPolled();
                }
            }
        } finally {
            if (!sleep.isDozing()) {
                attendance.leave();
            }
        }
        return goesOn ? count : ELSEWHERE;
    }

    /// Implements [Engine#endVisit].
    void endVisit() {
        if (attendance.isMine()) {
            sleep.rouse(MemorySegment.NULL);
            attendance.leave();
        }
    }

    /// Implements [Engine#wakeGuest()].
    void wakeGuest() {
        attendance.wakeGuest();
    }

    // ---- the attendant

    /// Runs the engine's own thread, which attends when no guest does.
    private void run() {
        var policy = new SpinPolicy();
        while (isAlive()) {
            if (attendance.tryTake()) {
                attend(attendance::isWanted, Protocol.NEVER, policy);
                attendance.give();
            }
            attendance.await();
        }
    }

    /// Attends until `isOver`, the engine has ended, or the time has come. Sends first what is ready.
    ///
    /// @param policy whether to spin before sleeping; null when the caller is a guest, which has spun already
    private void attend(BooleanSupplier isOver, long untilNanos, @Nullable SpinPolicy policy) {
        beginAttending(policy != null);
        boolean goesOn = true;
        while (goesOn && turn(isOver, untilNanos, policy)) {
            if (looking) {
                Thread.onSpinWait();
            } else {
                if (mayFallAsleep(Math.min(due, untilNanos), isOver, policy == null)) {
                    work.link()
                            .await(
                                    due == Protocol.NEVER && untilNanos == Protocol.NEVER
                                            ? -1
                                            : Math.max(0, Math.min(due, untilNanos) - turnNanos));
                }
                sleep.end();
            }
            if (isPolled()) {
                goesOn = policy == null; // the engine's thread gives up the place
                if (goesOn) {
                    attendance.stayAway(isOver);
                    idle = false;
                }
            }
        }
    }

    private void beginAttending(boolean receives) {
        receiving = receives;
        idle = false;
        looking = false;
        idleSince = 0;
        pollsBefore = 0;
    }

    /// Works until there is nothing to do but wait; false when the attendant is to leave.
    private boolean turn(BooleanSupplier isOver, long untilNanos, @Nullable SpinPolicy policy) {
        boolean isGuest = policy == null;
        int inVain = 0;
        while (isAlive() && !isOver.getAsBoolean()) {
            if (!ownership.tryOwn()) {
                // The owner looks for work when it has finished; but only the attendant waits for its deadlines.
                LockSupport.parkNanos(this, Tuning.RETRY_NANOS << Math.min(inVain++, Tuning.RETRY_DOUBLINGS));
                if (isGuest && Thread.currentThread().isInterrupted()) {
                    return false;
                }
                continue;
            }
            inVain = 0;
            long now;
            boolean isQuiet;
            try {
                ownership.countTurn();
                now = clock.getAsLong();
                if (receiving) {
                    int _ = work.doPiece(now, true);
                } else {
                    int _ = work.depart(now);
                }
                work.outbound.settle();
                due = work.dueNanos(now);
                isQuiet = (work.arrived() == 0 || !receiving) && due > now;
                turnNanos = now;
                turnsSeen = ownership.turns();
            } catch (RuntimeException | Error e) {
                containment.fail(e);
                return false;
            } finally {
                ownership.disown();
            }
            receiving = true;
            if (!isQuiet) {
                pollers.attended(now);
            }
            if (isQuiet && !idle) {
                idleSince = now;
                pollsBefore = pollers.polls();
                attendance.taken();
                if (policy != null) {
                    policy.begin(now);
                    looking = policy.looks();
                }
            } else if (!isQuiet && idle && policy != null) {
                policy.end(now);
            }
            idle = isQuiet;
            if (isQuiet) {
                looking = looking && policy != null && policy.looksAgain(now);
                return now < untilNanos && !(isGuest && Thread.currentThread().isInterrupted());
            }
        }
        return false;
    }

    /// Returns whether the attendant may sleep in the link. The sleep ends with [Sleep#end()] in any case.
    private boolean mayFallAsleep(long until, BooleanSupplier isOver, boolean isGuest) {
        sleep.begin(until);
        // From now on, a thread that leaves work or interrupts a guest sees this sleep. The checks here see earlier
        // work, and deadlines that `until` does not include.
        boolean isInterrupted = isGuest && Thread.currentThread().isInterrupted();
        return !work.hasLeft() && ownership.turns() == turnsSeen && !closed && !isInterrupted && !isOver.getAsBoolean();
    }

    /// Returns whether another thread has polled without pause since the engine ran out of work, and so does the
    /// engine's work.
    private boolean isPolled() {
        long polled = pollers.polls() - pollsBefore;
        return polled >= Tuning.POLLS_MIN && Pollers.isPolling(polled, clock.getAsLong() - idleSince);
    }

    /// Returns whether a thread has posted requests and forgotten them.
    private boolean isForgotten() {
        return !work.doorbells.isEmpty() && burst.isForgotten(clock.getAsLong());
    }
}
