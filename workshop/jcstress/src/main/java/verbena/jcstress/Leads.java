package verbena.jcstress;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import verbena.verbs.waiting.LeaderFollowers;

/// Threads that wait by [LeaderFollowers]. A thread that misses its wake-up, or to which no lead is handed, finds
/// its time limit.
public final class Leads {
    /// Far longer than any of them takes.
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

    private Leads() {}

    /// Something to wait for.
    static final class Thing {
        final LeaderFollowers.WaitSet set = new LeaderFollowers.WaitSet();
        volatile boolean isThere;
    }

    static class Waiters implements LeaderFollowers.Source {
        final Thing first = new Thing();
        final Thing second = new Thing();
        final ConcurrentLinkedQueue<Thing> arrivals = new ConcurrentLinkedQueue<>();
        private final ReentrantLock lock = new ReentrantLock();
        private final LeaderFollowers threads = new LeaderFollowers(lock, this, () -> isCalled = true);
        private volatile boolean isCalled;
        private Thing found;

        @Override
        public void await(long nanos) throws InterruptedException {
            long start = System.nanoTime();
            found = arrivals.poll();
            while (found == null && !isCalled && System.nanoTime() - start < nanos) {
                Thread.onSpinWait();
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                found = arrivals.poll();
            }
            isCalled = false;
        }

        @Override
        public void take() {
            Thing next = found;
            if (next != null) {
                found = null;
                next.isThere = true;
                threads.tell(next.set);
            }
        }

        boolean await(Thing wanted, long nanos) {
            lock.lock();
            try {
                return threads.await(wanted.set, wanted, thing -> thing.isThere, nanos);
            } catch (InterruptedException e) {
                return false;
            } finally {
                lock.unlock();
            }
        }

        void make(Thing thing) {
            thing.isThere = true;
            threads.tell(thing.set);
        }
    }

    /// The thread whose thing comes leaves, and the other has to lead: only then its own thing comes.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "The lead is handed over.")
    @State
    public static class LeadIsHandedOver extends Waiters {
        public LeadIsHandedOver() {
            arrivals.add(second);
        }

        @Actor
        public void one(ZZ_Result r) {
            r.r1 = await(first, LIMIT_NANOS);
        }

        @Actor
        public void other(ZZ_Result r) {
            r.r2 = await(second, LIMIT_NANOS);
            arrivals.add(first);
        }
    }

    /// A thread gives up at any moment: as the leader, in its sleep, or when the lead has just been handed to it.
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The one that has time is told.")
    @State
    public static class OneHasLittleTime extends Waiters {
        @Actor
        public void one(ZZ_Result r) {
            r.r1 = await(first, LIMIT_NANOS);
        }

        @Actor
        public void hasty(ZZ_Result r) {
            r.r2 = await(second, 2_000);
            arrivals.add(first);
        }
    }

    /// A thread that does not wait makes a thing, without the lock: the thread that waits for it leads.
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "It is told, and no thread is left.")
    @State
    public static class AnotherThreadTells extends Waiters {
        @Actor
        public void one(ZZ_Result r) {
            r.r1 = await(first, LIMIT_NANOS);
        }

        @Actor
        public void making(ZZ_Result r) {
            make(first);
            arrivals.add(second);
            r.r2 = await(second, LIMIT_NANOS);
        }
    }
}
