package verbena.sim.traffic;

import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AsyncEvent;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Mtu;
import verbena.verbs.QueuePair;
import verbena.verbs.WcStatus;

/// A reliable connection on which both ends post requests of all kinds at random, and everything is checked. When it
/// breaks, as it may where packets are lost for long or a program kills it, both ends drain and connect anew.
final class RcTraffic implements Traffic {
    /// The time after which nothing of a broken connection is under way any more (IBTA 12.9.8.4, TimeWait).
    private static final long TIME_WAIT_NANOS = 500_000_000;

    /// Requests that are posted after everything has been stopped.
    private static final int LAST_POSTS = 8;

    /// Short ones ask while requests are outstanding, long ones only when neither end posts.
    private static final long[] KEEP_ALIVES = {50_000, 1_000_000, 10_000_000, 200_000_000};

    private static final int IDLE_KEEP_ALIVES = 3;
    /// The frequency of pauses: one of so many bursts is followed by silence, one of so many requests by a drain or
    /// by a change of sizes.
    private static final int IDLE_EVERY = 16;
    private static final int DRAIN_EVERY = 64;
    private static final int RESIZE_EVERY = 32;

    private enum State {
        RUNNING,
        /// Both ends are in ERR or closed; completions are awaited.
        BREAKING,
        /// Packets of the old life die out.
        WAITING
    }

    private final World world;
    private final SplittableRandom random;
    private final Rules rules;
    private final EndpointOptions options;
    /// 0 for none.
    private final long keepAliveNanos;
    /// Neither end posts before then, so that the connection is idle for once.
    private long idleUntil;
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
    /// @param one where its first end receives
    /// @param other where its second end receives
    /// @param operations requests that the two ends post in all
    RcTraffic(World world, Inbox one, Inbox other, Mtu mtu, Rules rules, long operations) {
        this.world = world;
        this.random = world.random();
        this.rules = rules;
        this.toPost = operations;
        var tape = new Tape(random);
        a = new RcEnd(world, one, tape, mtu.bytes(), rules);
        b = new RcEnd(world, other, tape, mtu.bytes(), rules);
        a.meet(b);
        b.meet(a);
        boolean isExtended = one.isExtended();
        Set<Access> access = Access.remoteAll();
        if (!isExtended) {
            access.add(Access.FLUSH_GLOBAL);
        }
        options = EndpointOptions.defaults()
                .withAccess(access)
                .withMtu(mtu)
                .withRetries(AckTimeout.atLeast(Duration.ofMillis(1L << random.nextInt(8))), 7, 7)
                .withMaxReadAtomic(1 << random.nextInt(5));
        if (rules.mayBreak()) {
            allow(WcStatus.RETRY_EXC_ERR);
        }
        // An extended connection has none.
        keepAliveNanos =
                rules.have(Feature.KEEP_ALIVE) && !isExtended ? KEEP_ALIVES[random.nextInt(KEEP_ALIVES.length)] : 0;
        connect();
    }

    private void connect() {
        world.connect(a.qp, b.receiver(), options);
        if (a.receiver() != a.qp) {
            world.connect(b.qp, a.receiver(), options); // an extended connection goes in one direction
        }
        if (keepAliveNanos > 0) {
            a.keepAlive(keepAliveNanos);
            b.keepAlive(keepAliveNanos);
        }
    }

    @Override
    public void turn() {
        poll();
        switch (state) {
            case RUNNING -> run();
            case BREAKING -> {
                a.endSilently();
                b.endSilently();
                if (a.isIdle() && b.isIdle()) {
                    a.settle();
                    b.settle();
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
                    connect();
                    state = State.RUNNING;
                    run();
                }
            }
        }
    }

    /// Polls receives before sends: a message is received before its sender can know: in this order nothing is seen
    /// too late.
    private void poll() {
        a.pollReceives();
        b.pollReceives();
        a.pollSends();
        b.pollSends();
    }

    private void run() {
        a.noticeError();
        b.noticeError();
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
        a.resume(options.maxReadAtomic());
        b.resume(options.maxReadAtomic());
        long slowNanos = calm ? 0 : rules.hazards().slowReceiverNanos();
        a.postReceives(slowNanos);
        b.postReceives(slowNanos);
        if (isIdle()) {
            return;
        }
        int burst = 1 + random.nextInt(2 * Slots.COUNT);
        while (burst-- > 0 && toPost > 0 && !(a.broken || b.broken)) {
            RcEnd poster = random.nextBoolean() ? a : b;
            if (poster.hasRoom()) {
                poster.post(toPost <= 2 * Slots.COUNT);
                toPost--;
                strike();
            }
        }
    }

    /// Returns whether neither end posts now. From time to time that lasts some keep-alives.
    private boolean isIdle() {
        if (keepAliveNanos == 0 || calm || toPost == 0) {
            return false;
        }
        if (world.nowNanos() < idleUntil) {
            return true;
        }
        if (random.nextInt(IDLE_EVERY) == 0) {
            long nanos = random.nextLong(IDLE_KEEP_ALIVES * keepAliveNanos);
            idleUntil = world.nowNanos() + nanos;
            world.stepAfter(nanos);
        }
        return false;
    }

    private void strike() {
        if (calm) {
            return;
        }
        Hazards hazards = rules.hazards();
        RcEnd victim = random.nextBoolean() ? a : b;
        if (rules.have(Feature.SQD) && random.nextInt(DRAIN_EVERY) == 0 && victim.isSending()) {
            victim.drain();
        }
        if (rules.have(Feature.RESIZE) && random.nextInt(RESIZE_EVERY) == 0) {
            victim.resize();
        }
        if (hazards.kill() > 0 && random.nextDouble() < hazards.kill()) {
            allow(WcStatus.RETRY_EXC_ERR);
            victim.kill();
        } else if (hazards.withdraw() > 0 && random.nextDouble() < hazards.withdraw()) {
            allow(WcStatus.REM_ACCESS_ERR, WcStatus.LOC_ACCESS_ERR, WcStatus.REM_INV_REQ_ERR, WcStatus.MW_BIND_ERR);
            victim.memory().withdraw();
        }
    }

    private void allow(WcStatus... statuses) {
        a.allow(statuses);
        b.allow(statuses);
    }

    @Override
    public void onEvent(AsyncEvent event) {
        if (event.type() == AsyncEvent.Type.SQ_DRAINED
                && event instanceof AsyncEvent.QueuePairEvent(var _, QueuePair whose)) {
            poll(); // what was done when the state changed has completed before it was drained
            a.onDrained(whose);
            b.onDrained(whose);
        }
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

    /// Returns whether the connection works again: it is not enough that nothing hangs.
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

    @Override
    public void close() {
        a.close();
        b.close();
    }

    private void checkMemory() {
        a.memory().checkAll();
        b.memory().checkAll();
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

    /// Returns its state, for reports.
    @Override
    public String toString() {
        return state + ", " + toPost + " to post; " + a + "; " + b;
    }

    @Override
    public long broke() {
        return broke;
    }
}
