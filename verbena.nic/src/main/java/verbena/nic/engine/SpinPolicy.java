package verbena.nic.engine;

/// The decision whether a thread that waits spins before it sleeps in the kernel; to spin is to look again and
/// again. The policy learns how long waits take when the thread sleeps at once, and how long when it spins. Two
/// peers that both sleep never see short waits, however fast they could be. So the thread tries spinning now and
/// then for a few waits, and keeps spinning while that pays.
///
/// | state | what a wait does | ends when |
/// |---|---|---|
/// | sleeping | sleeps at once | waits are short enough for a trial, and the pause since the last one is over |
/// | trying | spins, for up to twice the usual wait | the waits of a trial were short, or its time is over |
/// | looking | spins, for up to four times the usual wait | waits become long, or the processor was taken away |
///
/// A thread that loses its processor while it spins uses time that another thread needs: a compiler, for example, or
/// a neighbour on the same host. It stops spinning at once. A look that moves packets takes long without any loss.
/// The pause before the next trial doubles each time that spinning did not last, so that vain trials cost no more
/// than a few hundredths of the time. On a single processor no thread spins, because the thread that could answer
/// needs that processor.
///
/// Used by one thread at a time.
public final class SpinPolicy {
    private enum State {
        SLEEPING,
        TRYING,
        LOOKING
    }

    private static final int UNKNOWN = 0;

    /// The number of processors that this process may use. In a container, the virtual machine needs many system
    /// calls to find it out, and most objects that threads may wait for see no thread that might spin.
    private int processors;

    private State state = State.SLEEPING;
    /// The average of the waits in this state.
    private long average;
    private int waits;
    /// The average of the waits in the state SLEEPING.
    private long asleep;
    /// The average length up to which waits may go for spinning to be worthwhile.
    private long worth;
    /// The time at which the current state began.
    private long since;
    /// The time to sleep before the next trial; zero before the first.
    private long pause;

    private long start;
    private long last;
    private long limit;
    /// Whether the wait is still spinning.
    private boolean isLooking;

    /// Creates a policy for the processors that this process may use when a thread might spin for the first time.
    public SpinPolicy() {
        this(UNKNOWN);
    }

    /// @param processors how many processors this process may use
    public SpinPolicy(int processors) {
        this.processors = processors;
    }

    /// Begins a wait.
    public void begin(long now) {
        start = last = now;
        if (waits == 0) {
            since = now;
        }
        if (state == State.SLEEPING
                && waits >= Tuning.SPIN_TRIAL
                && average < Tuning.SPIN_HOPELESS_NANOS
                && now - since >= pause) {
            asleep = average;
            worth = Math.max(Tuning.SPIN_WORTHWHILE_NANOS, asleep / 2);
            enter(State.TRYING, now);
        }
        limit = switch (state) {
            case SLEEPING -> 0;
            case TRYING -> Math.clamp(2 * asleep, Tuning.SPIN_LOOK_NANOS_MIN, Tuning.SPIN_WAIT_NANOS_MAX);
            case LOOKING -> Math.clamp(4 * average, Tuning.SPIN_LOOK_NANOS_MIN, Tuning.SPIN_WAIT_NANOS_MAX);
        };
        isLooking = looks();
    }

    /// Returns whether to spin in this wait; false means to sleep at once.
    public boolean looks() {
        return limit > 0 && !isAlone();
    }

    private boolean isAlone() {
        if (processors == UNKNOWN) {
            processors = Runtime.getRuntime().availableProcessors();
        }
        return processors < 2;
    }

    /// Notes that a look has brought work, whose time was not lost.
    public void worked(long now) {
        if (now - last <= Tuning.SPIN_WORK_NANOS_MAX) {
            last = now;
        }
    }

    /// Returns whether to look once more, after a look in vain or after [#worked].
    public boolean looksAgain(long now) {
        boolean wasTaken = now - last > Tuning.TAKEN_NANOS;
        last = now;
        if (wasTaken) {
            giveUp(now, Tuning.PAUSE_NANOS_MAX);
            limit = 0;
        }
        isLooking = now - start < limit;
        return isLooking;
    }

    /// Ends the wait.
    public void end(long now) {
        if (isLooking && now - last > Tuning.SPIN_WORK_NANOS_MAX) { // what the wait was for came meanwhile
            giveUp(now, Tuning.PAUSE_NANOS_MAX);
        }
        long wait = Math.min(now - start, Tuning.SPIN_WAIT_NANOS_MAX);
        average = waits == 0 ? wait : average + (wait - average) / Tuning.SPIN_WEIGHT;
        waits++;
        if (state == State.TRYING && waits >= Tuning.SPIN_TRIAL) {
            if (average <= worth) {
                long kept = average;
                enter(State.LOOKING, now);
                average = kept;
                waits = Tuning.SPIN_TRIAL;
            } else if (now - since >= Tuning.SPIN_TRIAL_NANOS) {
                giveUp(now, Tuning.SPIN_PAUSE_NANOS_MAX);
            }
        } else if (state == State.LOOKING && average > 2 * worth) {
            giveUp(now, Tuning.SPIN_PAUSE_NANOS_MAX);
        }
    }

    /// Stops spinning, because it did not pay or no longer pays.
    private void giveUp(long now, long pauseMax) {
        boolean hasLasted = state == State.LOOKING && now - since >= Tuning.SPIN_LASTING_NANOS;
        pause = hasLasted
                ? Tuning.PAUSE_NANOS_MIN
                : Math.clamp(2 * pause, Tuning.PAUSE_NANOS_MIN, Math.max(pauseMax, pause));
        enter(State.SLEEPING, now);
    }

    private void enter(State next, long now) {
        state = next;
        since = now;
        waits = 0;
        average = 0;
    }
}
