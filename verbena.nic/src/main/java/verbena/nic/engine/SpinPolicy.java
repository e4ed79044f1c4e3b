package verbena.nic.engine;

/// Whether a thread that waits looks again and again before it sleeps in the kernel. It learns: how long waits take
/// when
/// it sleeps at once, and how long they take when it looks. Two ends that both sleep never see short waits, however
/// fast they could be. So the thread tries, now and then, for a few waits, and goes on looking when that pays.
///
/// | state | what a wait does | ends when |
/// |---|---|---|
/// | sleeping | sleeps at once | waits are short enough for a trial, and the pause since the last one is over |
/// | trying | looks, for up to twice the usual wait | after [#TRIAL] waits if they were short, else after
/// [#TRIAL_NANOS] |
/// | looking | looks, for up to four times the usual wait | waits become long, or the processor was taken away |
///
/// A thread from which the processor is taken while it looks spends what another thread needs: a compiler, or a
/// neighbour. It stops at once. The pause before the next trial doubles each time that looking did not last, so that
/// looking in vain costs no more than some hundredths of the time. On a single processor no thread looks: the one
/// that could answer waits for the processor meanwhile.
///
/// One thread at a time.
public final class SpinPolicy {
    /// Waits of a trial, and waits that have to be known before one.
    static final int TRIAL = 16;
    /// A trial lasts as long before it has failed: a scheduler takes some ticks to give two ends that look a
    /// processor each.
    static final long TRIAL_NANOS = 10_000_000;
    /// Waits as short as this are worth a processor.
    static final long WORTHWHILE_NANOS = 100_000;
    /// Waits longer than this are not worth a trial.
    static final long HOPELESS_NANOS = 500_000;
    /// A single wait counts for no more, so that one long one is soon forgotten.
    static final long WAIT_NANOS_MAX = 1_000_000;
    /// When so much time passes between two looks, the processor was taken away.
    static final long TAKEN_NANOS = 200_000;
    /// Between two trials.
    static final long PAUSE_NANOS_MIN = 2_000_000;
    static final long PAUSE_NANOS_MAX = 1_000_000_000;
    /// A thread that takes the processor away is often gone soon: a compiler, or a neighbour in the same host.
    static final long PAUSE_NANOS_MAX_TAKEN = 100_000_000;
    /// Looking that has paid for so long was no mistake.
    static final long LASTING_NANOS = 50_000_000;
    /// The share of one wait in the average is one in so many.
    private static final int WEIGHT = 16;
    private static final long LOOK_NANOS_MIN = 50_000;

    private enum State {
        SLEEPING,
        TRYING,
        LOOKING
    }

    private final boolean isAlone;
    private State state = State.SLEEPING;
    /// Of the waits in this state.
    private long average;
    private int waits;
    /// What waits took in the state SLEEPING.
    private long asleep;
    /// How long waits may be on the average, for looking to be worth while.
    private long worth;
    /// When the state began.
    private long since;
    /// The first trial waits for nothing.
    private long pause;

    private long start;
    private long last;
    private long limit;
    /// Between two looks.
    private boolean isLooking;

    /// For the processors that this process may use now.
    public SpinPolicy() {
        this(Runtime.getRuntime().availableProcessors());
    }

    /// @param processors how many this process may use
    public SpinPolicy(int processors) {
        isAlone = processors < 2;
    }

    /// A wait begins.
    public void begin(long now) {
        start = last = now;
        if (waits == 0) {
            since = now;
        }
        if (state == State.SLEEPING && waits >= TRIAL && average < HOPELESS_NANOS && now - since >= pause) {
            asleep = average;
            worth = Math.max(WORTHWHILE_NANOS, asleep / 2);
            enter(State.TRYING, now);
        }
        limit = switch (state) {
            case SLEEPING -> 0;
            case TRYING -> Math.clamp(2 * asleep, LOOK_NANOS_MIN, WAIT_NANOS_MAX);
            case LOOKING -> Math.clamp(4 * average, LOOK_NANOS_MIN, WAIT_NANOS_MAX);
        };
        isLooking = looks();
    }

    /// Whether to look in this wait; false: to sleep at once.
    public boolean looks() {
        return limit > 0 && !isAlone;
    }

    /// After a look in vain: whether to look once more.
    public boolean looksAgain(long now) {
        boolean wasTaken = now - last > TAKEN_NANOS;
        last = now;
        if (wasTaken) {
            giveUp(now, PAUSE_NANOS_MAX_TAKEN);
            limit = 0;
        }
        isLooking = now - start < limit;
        return isLooking;
    }

    /// The wait has ended.
    public void end(long now) {
        if (isLooking && now - last > TAKEN_NANOS) { // it came meanwhile
            giveUp(now, PAUSE_NANOS_MAX_TAKEN);
        }
        long wait = Math.min(now - start, WAIT_NANOS_MAX);
        average = waits == 0 ? wait : average + (wait - average) / WEIGHT;
        waits++;
        if (state == State.TRYING && waits >= TRIAL) {
            if (average <= worth) {
                long kept = average;
                enter(State.LOOKING, now);
                average = kept;
                waits = TRIAL;
            } else if (now - since >= TRIAL_NANOS) {
                giveUp(now, PAUSE_NANOS_MAX);
            }
        } else if (state == State.LOOKING && average > 2 * worth) {
            giveUp(now, PAUSE_NANOS_MAX);
        }
    }

    /// Looking did not pay, or does so no longer.
    private void giveUp(long now, long pauseMax) {
        boolean hasLasted = state == State.LOOKING && now - since >= LASTING_NANOS;
        pause = hasLasted ? PAUSE_NANOS_MIN : Math.clamp(2 * pause, PAUSE_NANOS_MIN, Math.max(pauseMax, pause));
        enter(State.SLEEPING, now);
    }

    private void enter(State next, long now) {
        state = next;
        since = now;
        waits = 0;
        average = 0;
    }
}
