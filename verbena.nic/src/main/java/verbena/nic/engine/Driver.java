package verbena.nic.engine;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.transport.Protocol;

/// Decides which thread does the engine's work, and where threads wait for more of it.
///
/// # Why no wake-up is lost
///
/// A thread that leaves work (a doorbell, a command) makes it visible first and then tries to own the engine. An owner
/// gives the ownership back first and then looks for work left meanwhile. The attendant says `sleeping`
/// first, then looks for work and for others that have owned since, and only then sleeps; an owner counts
/// [Ownership#turns()] first and then looks at `sleeping`. All of these are volatile and so have one order that all
/// agree on: in it, one side of each pair sees the other.
///
/// # Why no doorbell is forgotten
///
/// A thread that posts may leave a doorbell on the list without owning the engine ([Burst]), so that it leaves together
/// with the next ones. It puts the doorbell on the list first and then looks at `sleeping`; the attendant says
/// `sleeping` first and then looks at the list. So either the poster sends, or the attendant does not go to sleep in
/// the link. An attendant that stays away looks at the list each time that it looks whether threads still poll, which
/// is within [Absence#NANOS_OFTEN], and sends what a thread has forgotten.
///
/// # The attendant
///
/// One thread at a time attends: it looks after arrivals and deadlines, and sleeps in the link. At first that is the
/// engine's own thread. A thread of the application that waits for a completion takes its place ([#attend]), so
/// that a message wakes one thread, not two. When that thread leaves with its completion, the place stays empty for
/// a moment: the same thread is likely to come back. If it does not, the engine's thread takes the place again,
/// within [Absence#NANOS_OFTEN]; at once when other threads wait.
final class Driver {
    /// Pieces of work that a poster does for what it posted before it leaves the rest to the engine's thread.
    private static final int POSTER_PIECES = 4;
    /// And a poller, for what has arrived: one that receives, one that answers.
    private static final int POLLER_PIECES = 2;
    /// A thread of the application that waits for the place of the engine's thread looks so often, when no
    /// other thread wakes it.
    private static final long HEIR_NANOS = 1_000_000;
    /// The answers to so many packets may wait for what a poller without pause does next.
    private static final int FEW = 2;
    /// The attendant finds an owner that is not itself: it waits so long, and twice as long each time, so many times
    /// at most. On one processor the owner may be the one that has to run.
    private static final long OWNED_NANOS = 50_000;
    /// How often the wait doubles.
    private static final int IN_VAIN_MAX = 4;

    private final Work work;
    private final Ownership ownership;
    private final Containment containment;
    private final LongSupplier clock;
    private final Burst burst = new Burst();
    private final Pollers pollers = new Pollers();
    private final InterruptBell interruptBell = new InterruptBell(this::wakeGuest);

    private @Nullable Thread thread;
    private volatile boolean closed;

    /// The attendant is in the link, or about to be.
    private volatile boolean sleeping;
    /// When it means to wake by itself.
    private volatile long wakeNanos = Protocol.NEVER;

    /// The engine's thread, or a guest; null for a moment when a guest has left.
    private final AtomicReference<@Nullable Thread> attendant = new AtomicReference<>();
    /// A thread that wants to attend in place of the engine's thread.
    private final AtomicReference<@Nullable Thread> heir = new AtomicReference<>();
    /// How often guests have come. Written by the attendant.
    private volatile long visits;
    /// The attendant stays away because of a poller, or the engine's thread because of a guest.
    private volatile boolean away;
    /// A poller has said that it stops, or a guest has left while others wait.
    private volatile boolean handedOver;
    /// The engine's thread sleeps until the guest leaves.
    private volatile boolean offDuty;
    // The attendant's own, from turn to turn.
    private boolean receiving;
    private boolean idle;
    private boolean looking;
    private long idleSince;
    private long pollsBefore;
    private long turnNanos;
    private int dozedOn;
    private long turnsSeen;
    /// The engine's next deadline, as it was in the last turn.
    private long due;
    /// A guest sleeps by a system call of its own, which it may never come back from. Whoever makes it false ends that
    /// sleep for the link.
    private final AtomicBoolean dozing = new AtomicBoolean();

    /// Threads that wait for completions and do not attend: each needs another thread to wake it.
    private final AtomicInteger parked = new AtomicInteger();

    Driver(Work work, Ownership ownership, Containment containment, LongSupplier clock) {
        this.work = work;
        this.ownership = ownership;
        this.containment = containment;
        this.clock = clock;
    }

    /// Gives the engine a thread of its own.
    void start(String name) {
        Thread own = new Thread(this::run, name);
        own.setDaemon(true);
        thread = own;
        own.start();
    }

    boolean hasThread() {
        return thread != null;
    }

    /// Ends the engine's thread, and every wait for the engine; true when the caller was interrupted meanwhile.
    boolean end() {
        closed = true;
        work.link().wakeup();
        boolean interrupted = false;
        Thread own = thread;
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
        if (dozing.compareAndSet(true, false)) {
            work.link().awake();
        }
        return interrupted;
    }

    private boolean isAlive() {
        return !closed && containment.failure() == null;
    }

    // ---- threads that come by

    /// A thread has rung a doorbell: sends on this thread when no other owns the engine, at once, or with what the
    /// thread posts next ([Burst]). Without a thread of its own the engine only takes note.
    void posted(int requests, long bytes) {
        if (thread == null) {
            return;
        }
        // A doorbell may wait only while no thread sleeps in the link: see "Why no doorbell is forgotten".
        boolean mayWait = burst.mayWait(Thread.currentThread().threadId(), requests, bytes, clock.getAsLong());
        if (!mayWait || sleeping) {
            workNow();
        }
    }

    /// See [Engine#polled()].
    void polled() {
        if (!work.doorbells.seemsEmpty() && burst.isOver(clock.getAsLong())) {
            workNow();
        }
    }

    private void workNow() {
        if (thread != null && containment.failure() == null && ownership.tryOwn()) {
            work(POSTER_PIECES, false);
        }
    }

    /// See [Engine#drive()].
    boolean drive() {
        if (thread == null || containment.failure() != null) {
            return false;
        }
        burst.end(Thread.currentThread().threadId());
        if (!ownership.tryOwn()) {
            return false;
        }
        pollers.count();
        boolean any = work(POLLER_PIECES, true);
        pollers.countResult(any);
        return any;
    }

    /// The owner, not the attendant: works until there is nothing left or `pieces` are done, and gives the
    /// ownership back.
    private boolean work(int pieces, boolean polling) {
        boolean any = false;
        for (int left = pieces; ; ) {
            boolean more = false;
            try {
                ownership.countTurn();
                long now = clock.getAsLong();
                any |= work.doPiece(now, polling) > 0;
                long due = work.dueNanos(now);
                // Few answers wait for the poller's next step: it is about to post, or polls again. If it does not, the
                // attendant, which is away and not asleep, comes within Absence.NANOS_OFTEN.
                more = due <= now && !(polling && away && work.arrived() <= FEW);
                if (sleeping && due < wakeNanos && (!more || left <= 1)) {
                    work.link().wakeup(); // the attendant would sleep past what is new
                }
            } catch (RuntimeException | Error e) {
                containment.fail(e);
                return any;
            } finally {
                ownership.disown();
            }
            left--;
            if (left <= 0 && more && !polling) {
                handOver(); // a poller comes again; a poster perhaps not
            }
            if (!(work.hasLeft() || (more && left > 0)) || !ownership.tryOwn()) {
                return any;
            }
        }
    }

    /// The owner: commands only, and gives the ownership back.
    void runCommands() {
        boolean more;
        try {
            ownership.countTurn();
            int _ = work.runCommands();
            long due = work.dueNanos(clock.getAsLong());
            more = due == Long.MIN_VALUE;
            if (sleeping && due < wakeNanos) {
                work.link().wakeup();
            }
        } finally {
            ownership.disown();
        }
        if (more || work.hasLeft()) {
            workNow();
        }
    }

    /// A command was left: the attendant comes, wherever it is.
    void call() {
        if (sleeping) {
            work.link().wakeup();
        } else {
            handOver();
        }
    }

    /// See [Engine#handOver()].
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

    // ---- threads that wait

    /// See [Engine#parked(int)].
    void parked(int change) {
        parked.getAndAdd(change);
        if (change > 0) {
            handOver();
        }
    }

    /// See [Engine#attend].
    boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        Thread me = Thread.currentThread();
        long now = clock.getAsLong();
        long untilNanos = nanos < Protocol.NEVER - Math.max(0, now) ? now + nanos : Protocol.NEVER;
        if (thread == null || me.isVirtual() || ownership.isMine() || !takeOver(me, isOver, untilNanos)) {
            return false;
        }
        interruptBell.expect();
        try {
            attend(isOver, untilNanos, null);
        } finally {
            interruptBell.forget();
            leave();
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return true;
    }

    /// See [Engine#visit].
    int visit(BooleanSupplier isOver, MemorySegment pollfds) {
        Thread me = Thread.currentThread();
        boolean goesOn = attendant.get() == me;
        if (goesOn) {
            rouse(pollfds);
            goesOn = !isPolled();
        } else {
            if (thread == null
                    || me.isVirtual()
                    || ownership.isMine()
                    || !work.link().canBePolled()
                    || !takeOver(me, isOver, Protocol.NEVER)) {
                return Engine.ELSEWHERE;
            }
            beginAttending(false);
            goesOn = true;
        }
        int count = 0;
        try {
            while (goesOn && count == 0 && turn(isOver, Protocol.NEVER, null)) {
                if (mayFallAsleep(due, isOver, true)) {
                    count = work.link().fallAsleep(due == Protocol.NEVER ? -1 : Math.max(0, due - turnNanos));
                }
                if (count * Link.POLLFD_BYTES > pollfds.byteSize()) {
                    work.link().awake();
                    count = 0;
                    wake();
                    goesOn = false;
                } else if (count == 0) {
                    wake();
                    goesOn = !isPolled();
                }
            }
            if (count > 0) {
                MemorySegment.copy(work.link().pollfds(), 0, pollfds, 0, count * Link.POLLFD_BYTES);
                dozedOn = count;
                dozing.set(true);
            }
        } finally {
            if (!dozing.get()) {
                leave();
            }
        }
        return count > 0 || goesOn ? count : Engine.ELSEWHERE;
    }

    /// See [Engine#endVisit].
    void endVisit() {
        if (attendant.get() == Thread.currentThread()) {
            rouse(MemorySegment.NULL);
            leave();
        }
    }

    /// @param polled what poll(2) has found; NULL when that is not known
    private void rouse(MemorySegment polled) {
        if (dozing.compareAndSet(true, false)) {
            if (polled.address() != 0) {
                MemorySegment.copy(polled, 0, work.link().pollfds(), 0, dozedOn * Link.POLLFD_BYTES);
            }
            work.link().awake();
            wake();
        }
    }

    /// Waits until the engine's thread has left its place; not for another guest.
    private boolean takeOver(Thread me, BooleanSupplier isOver, long untilNanos) {
        while (isAlive() && parked.get() == 0) {
            Thread now = attendant.get();
            if (now == null && attendant.compareAndSet(null, me)) {
                long before = visits;
                visits = before + 1; // only the attendant writes
                heir.compareAndSet(me, null);
                return true;
            }
            if ((now != null && now != thread) || (heir.get() != me && !heir.compareAndSet(null, me))) {
                break;
            }
            if (sleeping) {
                work.link().wakeup();
            }
            if (away) {
                LockSupport.unpark(thread);
            }
            if (attendant.get() != null) {
                LockSupport.parkNanos(this, HEIR_NANOS);
            }
            if (isOver.getAsBoolean() || me.isInterrupted() || clock.getAsLong() >= untilNanos) {
                break;
            }
        }
        heir.compareAndSet(me, null);
        return false;
    }

    private void leave() {
        assert attendant.get() == Thread.currentThread() : "only the attendant leaves";
        attendant.set(null);
        boolean othersWait = parked.get() > 0;
        if (othersWait) {
            handedOver = true;
        }
        if (othersWait || offDuty) {
            LockSupport.unpark(thread);
        }
    }

    /// See [Engine#wakeGuest()].
    void wakeGuest() {
        Thread now = attendant.get();
        if (now == thread) {
            LockSupport.unpark(heir.get());
            return;
        }
        if (now == null || now == Thread.currentThread()) {
            return;
        }
        if (sleeping) {
            work.link().wakeup();
        }
        LockSupport.unpark(now);
    }

    // ---- the attendant

    /// The engine's own thread: attends when no guest does.
    private void run() {
        Thread me = Thread.currentThread();
        var policy = new SpinPolicy();
        while (isAlive()) {
            if (attendant.compareAndSet(null, me)) {
                attend(() -> heir.get() != null, Protocol.NEVER, policy);
                attendant.set(null);
                LockSupport.unpark(heir.get());
            }
            awaitPlace();
        }
    }

    /// The attendant, until `isOver`, the engine has ended, or the time has come. What is ready leaves first.
    ///
    /// @param policy whether to look again and again before sleeping; null: the caller, a guest, has done that
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
                wake();
            }
            if (isPolled()) {
                goesOn = policy == null; // the engine's thread leaves the place
                if (goesOn) {
                    stayAway(isOver);
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
                // The owner looks for work when it has finished; but its deadlines may be for us.
                LockSupport.parkNanos(this, OWNED_NANOS << Math.min(inVain++, IN_VAIN_MAX));
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
            if (isQuiet && !idle) {
                idleSince = now;
                pollsBefore = pollers.polls();
                handedOver = false;
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

    /// Whether the attendant may sleep in the link, which ends with [#wake()] in any case.
    private boolean mayFallAsleep(long until, BooleanSupplier isOver, boolean isGuest) {
        wakeNanos = until;
        sleeping = true;
        // Now no thread leaves work, or interrupts a guest, without seeing that; what was left before, and deadlines
        // that `until` does not know, are seen here.
        boolean isInterrupted = isGuest && Thread.currentThread().isInterrupted();
        return !work.hasLeft() && ownership.turns() == turnsSeen && !closed && !isInterrupted && !isOver.getAsBoolean();
    }

    private void wake() {
        sleeping = false;
        wakeNanos = Protocol.NEVER;
    }

    /// Whether another thread has polled without pause since there was nothing to do, and so does the engine's work.
    private boolean isPolled() {
        long polled = pollers.polls() - pollsBefore;
        return polled >= Pollers.POLLS_MIN && Pollers.isPolling(polled, clock.getAsLong() - idleSince);
    }

    // ---- while others do the work

    /// The engine's thread, while threads of the application do its work: returns when the place is empty and stays
    /// so, and no thread polls.
    private void awaitPlace() {
        away = true; // before handedOver is read: a thread that hands over writes that first and then reads this
        var absence = new Absence();
        long visitsBefore = visits;
        long pollsBefore = pollers.polls();
        long findsBefore = pollers.finds();
        while (isAlive() && !handedOver) {
            LockSupport.parkNanos(this, absence.nanos());
            long came = visits - visitsBefore;
            long polled = pollers.polls() - pollsBefore;
            long found = pollers.finds() - findsBefore;
            visitsBefore += came;
            pollsBefore += polled;
            findsBefore += found;
            if (attendant.get() == null && isForgotten()) {
                break;
            }
            if (came > 0 || Pollers.isPolling(polled, absence.nanos())) {
                absence.extend(came + found, parked.get() > 0);
            } else if (attendant.get() == null) {
                break;
            } else {
                offDuty = true; // before the place is looked at: the guest leaves it first and then reads this
                while (attendant.get() != null && isAlive()) {
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

    /// A guest, while another thread polls without pause and so does the engine's work.
    private void stayAway(BooleanSupplier isOver) {
        var absence = new Absence();
        away = true; // before handedOver is read: a thread that hands over writes that first and then reads this
        while (!handedOver && !closed && !isOver.getAsBoolean()) {
            long before = pollers.polls();
            LockSupport.parkNanos(this, absence.nanos());
            if (!Pollers.isPolling(pollers.polls() - before, absence.nanos()) || isForgotten()) {
                break;
            }
            absence.extend(0, true);
        }
        away = false;
    }

    /// Whether a thread has posted and does not come back.
    private boolean isForgotten() {
        return !work.doorbells.isEmpty() && burst.isForgotten(clock.getAsLong());
    }
}
