package verbena.verbs.waiting;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.sim.explore.Strand;

/// Threads that wait by [LeaderFollowers], each for a thing of its own. A thing comes from the source, but the first
/// may be made by a thread that does not wait. A thread stands still wherever another may come in between: before it
/// takes the lock and before it looks, at the source and in its sleep.
final class WaitersWorld implements SmallWorld {
    enum Plant {
        NOTHING,
        /// A thread that leaves wakes none to lead.
        HANDS_NOTHING_OVER,
        /// A thing is there, and the threads that wait for it sleep on.
        TELLS_NOBODY,
        /// Another thread tells before the thing is there.
        TELLS_TOO_EARLY,
        /// The leader is told, and waits on at the source.
        CALLS_NO_LEADER
    }

    private static final int NONE = -1;

    /// The lock, which a thread that stands still may have.
    private final class Lock extends ReentrantLock {
        private static final long serialVersionUID = 1;

        @Override
        public void lock() {
            if (owner != running || owner == NONE) {
                stand("lock");
                owner = running;
            }
            holds++;
        }

        @Override
        public void unlock() {
            if (--holds == 0) {
                owner = NONE;
            }
        }

        @Override
        public boolean isHeldByCurrentThread() {
            return owner == running;
        }

        @Override
        public int getHoldCount() {
            return owner == running ? holds : 0;
        }
    }

    /// A thread.
    private final class Actor {
        private final int index;
        private final Strand strand = new Strand();
        private final LeaderFollowers.WaitSet set = new LeaderFollowers.WaitSet();
        private boolean hasBegun;
        private String where = "";
        private boolean hasPermit;
        /// Was interrupted, and does not know it.
        private boolean isInterrupted;
        private boolean wasInterrupted;
        private boolean isThere;
        /// The source has it, or will never have it.
        private boolean isSent;

        private Actor(int index) {
            this.index = index;
        }

        private boolean mayGoOn() {
            if (!strand.isUnderWay()) {
                return false;
            }
            return switch (where) {
                case "lock" -> owner == NONE;
                case "source" -> !arrived.isEmpty() || isCalled || isInterrupted;
                case "sleep" -> hasPermit || isInterrupted;
                default -> true;
            };
        }

        private void begin() {
            hasBegun = true;
            running = index;
            strand.begin(this::run);
        }

        private void goOn() {
            running = index;
            strand.goOn();
        }

        private void run() {
            lock.lock();
            try {
                boolean _ = threads.await(set, this, Actor::look, LeaderFollowers.FOREVER);
            } catch (InterruptedException e) {
                // leaves
            } finally {
                lock.unlock();
            }
        }

        private boolean look() {
            stand("look");
            return isThere || isClosed;
        }
    }

    private final Plant plant;
    private final ReentrantLock lock = new Lock();
    private final LeaderFollowers threads;
    private final List<Actor> actors = new ArrayList<>();
    /// Makes the first thing; null when the source brings it.
    private final Actor maker;

    private final ArrayDeque<Integer> arrived = new ArrayDeque<>();
    private int running = NONE;
    private int owner = NONE;
    private int holds;
    private int leading = NONE;
    private int taken = NONE;
    private boolean isTelling;
    private boolean isCalled;
    private boolean isClosed;

    /// @param waiting how many threads wait
    /// @param isMade whether another thread makes the first thing
    WaitersWorld(int waiting, boolean isMade, Plant plant) {
        this.plant = plant;
        for (int i = 0; i < waiting; i++) {
            actors.add(new Actor(i));
        }
        maker = new Actor(waiting);
        maker.hasBegun = !isMade;
        actors.getFirst().isSent = isMade;
        threads = new LeaderFollowers(
                lock, new Arrivals(), () -> isCalled = plant != Plant.CALLS_NO_LEADER, new Sleeps());
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without(Lock.class.getName())
                .without(Arrivals.class.getName())
                .without(Sleeps.class.getName())
                .without(LeaderFollowers.class.getName(), "leader", "turns", "endWait") // see `leading`
                .without(LeaderFollowers.class.getName() + "$Node", "thread") // the wait set tells whose it is
                .without(Strand.class.getName(), "world", "own", "failure");
    }

    private Actor current() {
        return running == maker.index ? maker : actors.get(running);
    }

    /// Stands still. An interrupt that the thread has not looked at waits outside, because it would end every park.
    private void stand(String where) {
        if (isClosed) {
            return;
        }
        Actor me = current();
        me.where = where;
        boolean isPending = Thread.interrupted();
        me.wasInterrupted |= isPending;
        try {
            me.strand.pause(where);
        } catch (Error e) {
            if (isClosed) {
                return; // and goes to its end
            }
            throw e;
        }
        if (me.isInterrupted || isPending) {
            me.isInterrupted = false;
            me.wasInterrupted = true;
            Thread.currentThread().interrupt();
        }
    }

    /// The source of the threads.
    private final class Arrivals implements LeaderFollowers.Source {
        @Override
        public void await(long nanos) throws InterruptedException {
            if (leading != NONE) {
                throw new AssertionError("two threads lead");
            }
            leading = running;
            stand("source");
            if (isClosed) {
                return;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (isCalled) {
                isCalled = false;
            } else {
                taken = arrived.removeFirst();
            }
        }

        @Override
        public void take() {
            leading = NONE;
            if (taken != NONE) {
                Actor of = actors.get(taken);
                taken = NONE;
                of.isThere = true;
                isTelling = true;
                threads.tell(of.set);
                isTelling = false;
            }
        }
    }

    /// The sleep of the threads.
    private final class Sleeps implements LeaderFollowers.Sleep {
        @Override
        public void park(long nanos) {
            Actor me = current();
            if (!me.hasPermit && !Thread.currentThread().isInterrupted()) {
                stand("sleep");
            }
            me.hasPermit = false;
        }

        @Override
        public void unpark(@Nullable Thread thread) {
            if (plant == (isTelling || running == maker.index ? Plant.TELLS_NOBODY : Plant.HANDS_NOTHING_OVER)) {
                return;
            }
            for (Actor each : actors) {
                if (each.strand.is(thread)) {
                    each.hasPermit = true;
                }
            }
        }
    }

    private void make() {
        Actor first = actors.getFirst();
        if (plant == Plant.TELLS_TOO_EARLY) {
            threads.tell(first.set);
            stand("made");
            first.isThere = true;
        } else {
            first.isThere = true;
            stand("made");
            threads.tell(first.set);
        }
    }

    // ---- SmallWorld

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        for (Actor each : actors) {
            if (!each.hasBegun) {
                steps.add(Step.usual(() -> "thread " + each.index + " begins", each::begin));
            }
            if (each.mayGoOn()) {
                steps.add(Step.usual(() -> "thread " + each.index + " goes on from " + each.strand.at(), each::goOn));
            }
            if (each.strand.isUnderWay() && !each.isInterrupted && !each.wasInterrupted) {
                steps.add(Step.fault(
                        () -> "thread " + each.index + " is interrupted at " + each.strand.at(),
                        () -> each.isInterrupted = true));
            }
            if (!each.isSent) {
                steps.add(Step.usual(() -> "the thing of thread " + each.index + " arrives", () -> {
                    each.isSent = true;
                    arrived.add(each.index);
                }));
            }
        }
        if (!maker.hasBegun) {
            steps.add(Step.usual(() -> "another thread makes the thing of thread 0", () -> {
                maker.hasBegun = true;
                running = maker.index;
                maker.strand.begin(this::make);
            }));
        }
        if (maker.mayGoOn()) {
            steps.add(Step.usual(() -> "the other thread goes on from " + maker.strand.at(), maker::goOn));
        }
        return steps;
    }

    @Override
    public void check() {
        for (Actor each : actors) {
            if (each.hasBegun && !each.strand.isUnderWay() && !each.isThere && !each.wasInterrupted) {
                throw new AssertionError("thread " + each.index + " has left without its thing");
            }
            boolean sleeps = each.strand.isUnderWay() && each.where.equals("sleep") && !each.hasPermit;
            if (sleeps && each.isThere && !maker.strand.isUnderWay()) {
                throw new AssertionError("thread " + each.index + " sleeps, and its thing is there");
            }
        }
    }

    @Override
    public void checkAtRest() {
        for (Actor each : actors) {
            if (each.strand.isUnderWay()) {
                throw new AssertionError("thread " + each.index + " waits for ever at " + each.strand.at());
            }
        }
        if (leading != NONE || !threads.isIdle()) {
            throw new AssertionError("all have left, and one leads or waits");
        }
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }

    @Override
    public void close() {
        isClosed = true;
        for (Actor each : actors) {
            close(each);
        }
        close(maker);
    }

    /// Lets it go to its end.
    private void close(Actor actor) {
        running = actor.index;
        boolean hasLock = actor.where.equals("look");
        owner = hasLock ? running : NONE;
        holds = hasLock ? 1 : 0;
        actor.strand.close();
    }
}
