package verbena.sim.traffic;

import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.ConnectOptions;
import verbena.verbs.Mtu;
import verbena.verbs.WcStatus;

/// A reliable connection on which both ends post requests of all kinds at random, and everything is checked. When it
/// breaks, as it may where packets are lost for long or somebody kills it, both ends drain and connect anew.
final class RcTraffic implements Traffic {
    /// After a connection has broken nothing of it is under way any more when so much time has passed (IBTA 12.9.8.4,
    /// TimeWait).
    private static final long TIME_WAIT_NANOS = 500_000_000;

    /// Requests that are posted after everything has been stopped.
    private static final int LAST_POSTS = 8;

    private enum State {
        RUNNING,
        /// Both ends are in ERR or closed; completions are awaited.
        BREAKING,
        /// Packets of the old life die out.
        WAITING
    }

    private final World world;
    private final SplittableRandom random;
    private final Hazards hazards;
    private final ConnectOptions options;
    private final RcEnd a;
    private final RcEnd b;
    private State state = State.RUNNING;
    private long waitUntil;
    private long toPost;
    private boolean calm;
    private long answeredBefore;

    // Figures.
    private long broke;

    /// Connects two devices.
    ///
    /// @param operations requests that the two ends post in all
    /// @param lossy whether the network may break the connection
    RcTraffic(World world, SimDevice one, SimDevice other, Hazards hazards, long operations, boolean lossy) {
        this.world = world;
        this.random = world.random();
        this.hazards = hazards;
        this.toPost = operations;
        Mtu mtu = Mtu.values()[Math.min(random.nextInt(5), random.nextInt(5))]; // small ones more often
        var tape = new Tape(random);
        a = new RcEnd(world, one, tape, mtu.bytes());
        b = new RcEnd(world, other, tape, mtu.bytes());
        Set<Access> access = Access.remoteAll();
        access.add(Access.FLUSH_GLOBAL);
        options = ConnectOptions.defaults()
                .withAccess(access)
                .withMtu(mtu)
                .withRetries(AckTimeout.atLeast(Duration.ofMillis(1L << random.nextInt(8))), 7, 7)
                .withMaxReadAtomic(1 << random.nextInt(5));
        if (lossy) {
            a.allow(WcStatus.RETRY_EXC_ERR);
            b.allow(WcStatus.RETRY_EXC_ERR);
        }
        world.connect(a.qp, b.qp, options);
    }

    @Override
    public void turn() {
        // A message is received before its sender can know: in this order nothing is seen too late.
        a.pollReceives(b);
        b.pollReceives(a);
        a.pollSends(b);
        b.pollSends(a);
        switch (state) {
            case RUNNING -> run();
            case BREAKING -> {
                if (a.isIdle() && b.isIdle()) {
                    a.settle(b);
                    b.settle(a);
                    checkMemory();
                    state = State.WAITING;
                    waitUntil = world.nowNanos() + TIME_WAIT_NANOS;
                    world.stepAfter(TIME_WAIT_NANOS);
                }
            }
            case WAITING -> {
                if (world.nowNanos() >= waitUntil) {
                    a.renew();
                    b.renew();
                    world.connect(a.qp, b.qp, options);
                    state = State.RUNNING;
                    run();
                }
            }
        }
    }

    private void run() {
        if (a.broken || b.broken) {
            broke++;
            a.breakDown();
            b.breakDown();
            state = State.BREAKING;
            world.stepAfter(0); // what has been flushed is to be polled
            return;
        }
        if (calm && toPost == 0 && a.hasAnswers() && b.hasAnswers() && !works()) {
            toPost = LAST_POSTS; // those before were flushed with a connection that broke still
        }
        long slowNanos = calm ? 0 : hazards.slowReceiverNanos();
        a.postReceives(slowNanos);
        b.postReceives(slowNanos);
        int burst = 1 + random.nextInt(2 * RcEnd.SLOTS);
        while (burst-- > 0 && toPost > 0 && !(a.broken || b.broken)) {
            boolean first = random.nextBoolean();
            RcEnd poster = first ? a : b;
            if (poster.hasRoom()) {
                poster.post(first ? b : a, toPost <= 2 * RcEnd.SLOTS);
                toPost--;
                strike();
            }
        }
    }

    private void strike() {
        if (calm) {
            return;
        }
        RcEnd victim = random.nextBoolean() ? a : b;
        if (hazards.kill() > 0 && random.nextDouble() < hazards.kill()) {
            allow(WcStatus.RETRY_EXC_ERR);
            victim.kill();
        } else if (hazards.withdraw() > 0 && random.nextDouble() < hazards.withdraw()) {
            allow(WcStatus.REM_ACCESS_ERR, WcStatus.LOC_ACCESS_ERR, WcStatus.REM_INV_REQ_ERR, WcStatus.MW_BIND_ERR);
            victim.withdraw();
        }
    }

    private void allow(WcStatus... statuses) {
        a.allow(statuses);
        b.allow(statuses);
    }

    @Override
    public long toPost() {
        return toPost;
    }

    @Override
    public void stop() {
        toPost = LAST_POSTS;
        calm = true;
        answeredBefore = a.answered + b.answered;
    }

    /// That nothing hangs is not enough: the connection has to work again.
    private boolean works() {
        return a.answered + b.answered > answeredBefore;
    }

    @Override
    public boolean isDone() {
        return toPost == 0
                && state == State.RUNNING
                && !a.broken
                && !b.broken
                && a.hasAnswers()
                && b.hasAnswers()
                && works();
    }

    private void checkMemory() {
        a.checkMemory();
        b.checkMemory();
    }

    @Override
    public void checkEnd() {
        checkMemory();
    }

    @Override
    public long completed() {
        return a.completed + b.completed;
    }

    @Override
    public long failed() {
        return a.failed + b.failed;
    }

    /// Where it stands, for reports.
    @Override
    public String toString() {
        return state + ", " + toPost + " to post; " + a + "; " + b;
    }

    @Override
    public long broke() {
        return broke;
    }
}
