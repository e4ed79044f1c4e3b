package verbena.verbs.waiting;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Threads that wait for what one source of events brings, such as a completion queue. One of them leads: it waits
/// at the source, does the work of its device meanwhile, and takes what comes for all. The others follow: they sleep
/// until what they want is there, or the lead falls to them. This is the pattern Leader/Followers.
///
/// ```
///   enter ---> is it there? --yes--> leave: when no thread leads, wake the one that came last
///                ^      | no         (also when the time has passed, or the thread is interrupted)
///                |      |
///                |      +- no leader: lead.    Unlock, wait at the source, lock; take what came, and tell those
///                |      |                      who wait for it
///                |      +- a leader:  follow.  Unlock, park, lock
///                |      |
///                +------+
/// ```
///
/// All fields change under one lock, the owner's. A thread decides under it whether it leads, follows or leaves, and
/// gives it away only at the source and in its sleep.
///
/// - **One thread leads.** A thread makes itself the leader when there is none, and ends that itself, both under the
///   lock. So the source is used by one thread at a time, without the lock.
/// - **The lead is not lost.** While threads wait and the lock is free, one leads, or one is awake that has not
///   looked yet. For the lead becomes vacant only where a leader comes back, with the lock; it looks again at once,
///   and either leads on or leaves. A thread that leaves a vacant lead wakes another, whatever the reason for which
///   it leaves. That one looks under the lock: it leads, or finds a leader, or leaves, and then wakes the next.
/// - **No wake-up is lost.** What makes a condition true comes first, then [#tell]. A thread enters its wait set
///   first, then looks. So the thread that tells sees it there, or it sees the condition true: the head of a wait set
///   is volatile, and so has to be what a condition reads when it changes without the lock. A thread that has looked
///   and goes to sleep is woken by a permit, which stays until it parks: between its look and [LockSupport#park] it
///   takes no lock, so nothing else uses the permit up.
/// - **The leader** cannot be woken by a permit, because it sleeps at the source. What it takes itself it sees when
///   it looks. When another thread tells it, the owner ends the wait at the source (`endWait`).
/// - **Time and interrupts.** Each look asks in this order: is it there, has the time passed, is the thread
///   interrupted? So nothing that is there is given up, and an interrupt that comes with it stays pending.
/// - **Idle threads cost nothing.** A follower has no timer but its own limit. The thread that came last gets the
///   lead: a single thread that comes and goes never meets another, and a crowd changes leaders seldom.
///
/// A wait makes no object when no other thread waits. All methods but [#isLeader] need the lock, once; [#tell] with
/// `endWait` does not.
public final class LeaderFollowers {
    /// No limit, in nanoseconds.
    public static final long FOREVER = TimeLimits.FOREVER;

    /// The source of events. The leader calls it.
    public interface Source {
        /// Waits for events, without the lock. May keep them for [#take()]; no other thread comes in between.
        ///
        /// @param nanos for how long at most; 0 only to look, [#FOREVER] for no limit
        void await(long nanos) throws InterruptedException;

        /// Takes what has come, with the lock, also after a wait that was interrupted. Tells those who wait for
        /// it.
        void take();
    }

    /// The sleep of threads.
    interface Sleep {
        /// Sleeps until there is a permit for this thread, or for less.
        void park(long nanos);

        /// Gives a permit to a thread.
        void unpark(@Nullable Thread thread);
    }

    /// Threads that are told together, as those at one condition of a monitor.
    public static final class WaitSet {
        private static final VarHandle FIRST = first();

        private volatile @Nullable Node first;

        private static VarHandle first() {
            try {
                return MethodHandles.lookup().findVarHandle(WaitSet.class, "first", Node.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    /// A thread that waits.
    private static final class Node {
        private @Nullable Thread thread;
        /// The next in its wait set.
        private @Nullable Node next;
        // The threads that came before and after it, of all that wait.
        private @Nullable Node older;
        private @Nullable Node newer;
    }

    private final ReentrantLock lock;
    private final Source source;
    private final @Nullable Runnable endWait;
    private final Sleep sleep;

    // Under the lock.
    /// The thread that waits and came last.
    private @Nullable Node newest;
    /// A thread may ask without the lock whether it is the one, because only the thread itself can make it so.
    private @Nullable Thread leader;
    /// The number of times that a thread has begun to lead.
    private long turns;
    /// The node of the next thread that waits.
    private @Nullable Node spare = new Node();

    /// A kernel for an owner that makes conditions true with the lock only, and in a way that ends a leader's wait
    /// at the source by itself.
    ///
    /// @param lock the owner's, which guards what conditions read
    public LeaderFollowers(ReentrantLock lock, Source source) {
        this(lock, source, null, parking(lock));
    }

    /// A kernel for an owner that makes conditions true at any time.
    ///
    /// @param lock the owner's
    /// @param endWait ends the leader's wait at the source, or else the next one. Runs under the lock, when another
    ///     thread tells the leader
    public LeaderFollowers(ReentrantLock lock, Source source, Runnable endWait) {
        this(lock, source, endWait, parking(lock));
    }

    LeaderFollowers(ReentrantLock lock, Source source, @Nullable Runnable endWait, Sleep sleep) {
        this.lock = lock;
        this.source = source;
        this.endWait = endWait;
        this.sleep = sleep;
    }

    private static Sleep parking(ReentrantLock lock) {
        return new Sleep() {
            @Override
            public void park(long nanos) {
                if (nanos == FOREVER) {
                    LockSupport.park(lock);
                } else {
                    LockSupport.parkNanos(lock, nanos);
                }
            }

            @Override
            public void unpark(@Nullable Thread thread) {
                LockSupport.unpark(thread);
            }
        };
    }

    // ---- waiting

    /// Waits until a condition is true; false when `nanos` have passed before.
    ///
    /// @param set of the threads that are told together with this one
    /// @param what the condition is about
    /// @param isThere the condition, which neither waits nor takes a lock
    /// @param nanos [#FOREVER] for no limit
    public <T> boolean await(WaitSet set, T what, Predicate<? super T> isThere, long nanos)
            throws InterruptedException {
        assert leader != Thread.currentThread() : "the leader would wait for itself";
        long start = nanos == FOREVER ? 0 : System.nanoTime();
        Node me = enter(set);
        try {
            while (!isThere.test(what)) {
                long left = TimeLimits.left(nanos, start);
                if (left == 0) {
                    return false;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (leader == null) {
                    turns++;
                    lead(left);
                } else {
                    follow(left);
                }
            }
            return true;
        } finally {
            leave(me, set);
            handOver();
        }
    }

    /// Leads for one wait at the source, while no other thread leads. For a thread that wants nothing of it; it has
    /// to [#handOver()] afterwards.
    public void lead(long nanos) throws InterruptedException {
        assert lock.getHoldCount() == 1 && leader == null : "one thread leads";
        leader = Thread.currentThread();
        lock.unlock();
        try {
            source.await(nanos);
        } finally {
            lock.lock();
            leader = null;
            source.take();
        }
    }

    private void follow(long nanos) {
        assert lock.getHoldCount() == 1 : "no thread sleeps with the lock";
        lock.unlock();
        try {
            sleep.park(nanos);
        } finally {
            lock.lock();
        }
    }

    /// Takes what has come, when no thread leads.
    public void look() {
        if (leader != null) {
            return;
        }
        turns++;
        try {
            lead(0);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // a source that only looks does not wait
        } finally {
            handOver();
        }
    }

    /// Wakes a thread to lead, when none leads.
    public void handOver() {
        assert lock.isHeldByCurrentThread() : "who leads is decided under the lock";
        if (leader == null && newest != null) {
            sleep.unpark(newest.thread);
        }
    }

    // ---- those that wait

    private Node enter(WaitSet set) {
        assert lock.isHeldByCurrentThread() : "threads enter under the lock";
        Node me = spare == null ? new Node() : spare;
        spare = null;
        me.thread = Thread.currentThread();
        me.next = set.first;
        if (endWait == null) {
            WaitSet.FIRST.setRelease(set, me); // those who tell have the lock
        } else {
            set.first = me;
        }
        me.older = newest;
        if (newest != null) {
            newest.newer = me;
        }
        newest = me;
        return me;
    }

    private void leave(Node me, WaitSet set) {
        assert lock.isHeldByCurrentThread() : "threads leave under the lock";
        Node older = me.older;
        Node newer = me.newer;
        if (older != null) {
            older.newer = newer;
        }
        if (newer != null) {
            newer.older = older;
        } else {
            newest = older;
        }
        if (set.first == me) {
            WaitSet.FIRST.setRelease(set, me.next); // a thread that tells and sees this one still does no harm
        } else {
            for (Node each = set.first; each != null; each = each.next) {
                if (each.next == me) {
                    each.next = me.next;
                }
            }
        }
        me.thread = null;
        if (me.next != null) {
            me.next = null;
        }
        if (older != null) {
            me.older = null;
        }
        if (newer != null) {
            me.newer = null;
        }
        spare = me;
    }

    /// Makes the threads of a wait set look again, after a condition has become true. When the owner ends waits at
    /// the source, any thread may call it, and needs no lock: it is taken only when there is a thread to tell.
    public void tell(WaitSet set) {
        assert endWait != null || lock.isHeldByCurrentThread() : "what is changed without the lock may reach a leader";
        Node first = set.first;
        // A thread alone tells itself what it knows. That the node is its own is sure, because no other thread puts it
        // there, and so is that none came before, because those only leave.
        if (first == null || (first.thread == Thread.currentThread() && first.next == null)) {
            return;
        }
        lock.lock();
        try {
            for (Node each = set.first; each != null; each = each.next) {
                Thread thread = each.thread;
                if (thread == Thread.currentThread()) {
                    continue; // it looks when it is done here
                }
                if (thread != leader) {
                    sleep.unpark(thread);
                } else if (endWait != null) {
                    endWait.run();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- what there is

    /// Returns whether this thread leads. Needs no lock.
    public boolean isLeader() {
        return leader == Thread.currentThread();
    }

    /// Returns whether a thread leads.
    public boolean isLed() {
        return leader != null;
    }

    /// Returns whether no thread waits. One may lead nevertheless.
    public boolean isIdle() {
        return newest == null;
    }

    /// Returns how often a thread that waits or looks has begun to lead.
    public long turns() {
        return turns;
    }
}
