package verbena.nic.link.sharing;

import java.util.Arrays;
import java.util.function.LongSupplier;

/// The search for the index of each link that shares an address in the kernel's group of their sockets, so that
/// [Steering] can name it. The indexes change when a link leaves.
///
/// A survey sends a probe to each index, and each link that gets a probe reports it. The survey ends when all links
/// are found, or after [#SURVEY_NANOS]. A survey that has not found all links is repeated a few times. A wrong or
/// outdated result only costs forwarding. One thread at a time, except [#due()].
final class Survey {
    /// The time of a survey that is not due.
    static final long NEVER = Long.MAX_VALUE;
    /// The time that a survey waits for answers; a process that has not answered by then is stopped or busy.
    static final long SURVEY_NANOS = 20_000_000;
    /// Additional probes beyond the number of known links, for links that are just joining.
    static final int PROBES_MORE = 4;
    /// The pause before an incomplete survey is repeated; it doubles with each repetition.
    static final long AGAIN_NANOS = 100_000_000;

    static final int AGAIN_MAX = 3;
    /// The number of forwarded packets that cause a survey, but not before the pause is over. The pause grows each
    /// time that a survey finds nothing new.
    static final int MISDIRECTED_MAX = 32;

    static final long PAUSE_NANOS_MIN = 100_000_000;
    static final long PAUSE_NANOS_MAX = 5_000_000_000L;

    /// The address that is surveyed.
    interface Ground {
        /// Returns whether this link, or a neighbour, has the slot.
        boolean isTaken(int slot);

        /// Returns how many neighbours there are.
        int neighbours();

        /// Returns a number that no other user can guess, for each survey another.
        long cookie();

        /// Sends a probe to the link with this index in the kernel's group.
        void probe(int index, long cookie);

        /// Makes the kernel choose by these indexes; false when the system forbids it.
        ///
        /// @param indexOf the index of each slot, or [Steering#UNKNOWN]
        boolean steer(int[] indexOf);

        /// Called when [Survey#due()] has become earlier.
        void hurry();
    }

    private final Ground ground;
    private final LongSupplier clock;

    /// The index of each slot as far as this link knows it; during a survey, as far as the survey has found it.
    private final int[] indexOf = unknown();

    private final int[] found = unknown();
    private long cookie;
    private boolean surveying;
    /// Whether this survey has ensured that probes are steered.
    private boolean primed;

    private boolean steerable = true;
    private int probes;
    private int answers;
    private int again;
    private int misdirected;
    private long pauseNanos = PAUSE_NANOS_MIN;
    private long notBefore;
    private long surveys;
    /// The time at which the current survey ends, or the next begins. The sleeping thread reads it.
    private volatile long due = NEVER;

    /// @param clock nanoseconds, monotonic; it may overflow
    Survey(Ground ground, LongSupplier clock) {
        this.ground = ground;
        this.clock = clock;
        this.notBefore = clock.getAsLong();
    }

    private static int[] unknown() {
        int[] indexes = new int[Presence.SLOTS];
        Arrays.fill(indexes, Steering.UNKNOWN);
        return indexes;
    }

    /// Returns when [#tick()] has something to do; [#NEVER] for not at all. Any thread.
    long due() {
        return due;
    }

    /// Returns how many surveys have begun.
    long surveys() {
        return surveys;
    }

    /// Begins a survey unless one is under way, because a link has joined or left.
    void begin() {
        beginAt(clock.getAsLong());
    }

    private void beginAt(long at) {
        if (!surveying && steerable) {
            due = at;
            ground.hurry();
        }
    }

    /// Notes that the neighbour with this slot has left.
    void onGone(int slot) {
        indexOf[slot] = Steering.UNKNOWN;
    }

    /// Notes that this many packets for neighbours have arrived here.
    void onMisdirected(int packets) {
        misdirected += packets;
        if (misdirected < MISDIRECTED_MAX || due != NEVER) {
            return;
        }
        long now = clock.getAsLong();
        if (now - notBefore >= 0) {
            beginAt(now);
        }
    }

    /// Notes that a link has received a probe for this index. For indexes beyond the last, the kernel chooses by a
    /// hash, so the same link may answer several probes: its lowest index counts.
    ///
    /// @param itsCookie the cookie of the probe; an answer with another cookie counts for no survey
    void onLocated(int slot, int index, long itsCookie) {
        if (!surveying || itsCookie != cookie) {
            if (indexOf[slot] == Steering.UNKNOWN && due == NEVER && ground.isTaken(slot)) {
                begin(); // a late answer: a stopped process has resumed
            }
            return;
        }
        found[slot] = found[slot] == Steering.UNKNOWN ? index : Math.min(found[slot], index);
        answers++;
        if (isComplete() || isUnsteered()) {
            due = clock.getAsLong();
        }
    }

    /// Continues a survey, or begins one, when it is time.
    void tick() {
        while (due != NEVER) {
            long now = clock.getAsLong();
            if (now - due < 0) {
                return;
            }
            if (surveying) {
                conclude(now);
            } else if (ground.neighbours() == 0) {
                due = NEVER;
            } else {
                probe(now);
            }
        }
    }

    private void probe(long now) {
        surveys++;
        Arrays.fill(found, Steering.UNKNOWN);
        cookie = ground.cookie();
        surveying = true;
        misdirected = 0;
        due = now + SURVEY_NANOS;
        answers = 0;
        probes = Math.min(Presence.SLOTS, ground.neighbours() + 1 + PROBES_MORE);
        for (int index = 0; index < probes; index++) {
            ground.probe(index, cookie);
        }
    }

    private void conclude(long now) {
        surveying = false;
        boolean isComplete = isComplete();
        boolean isLast = again == AGAIN_MAX;
        if (!primed && (isUnsteered() || (isLast && located() == 0))) {
            primed = true;
            steer();
            due = steerable ? now : NEVER;
            return;
        }
        // A link that was only busy may be steered to already, by the program of another link: survey again before
        // dropping that.
        if (isComplete || (again > 0 && located() > 0)) {
            boolean isNew = !Arrays.equals(found, indexOf);
            System.arraycopy(found, 0, indexOf, 0, indexOf.length);
            steer();
            pauseNanos = isNew ? PAUSE_NANOS_MIN : Math.min(2 * pauseNanos, PAUSE_NANOS_MAX);
            notBefore = now + pauseNanos;
        }
        if (isComplete || isLast || !steerable) {
            again = 0;
            primed = false;
            due = NEVER;
        } else {
            due = now + (AGAIN_NANOS << again);
            again++;
        }
    }

    private void steer() {
        steerable = ground.steer(indexOf);
    }

    /// Returns whether the kernel's hash has sent all probes to one link, so there is no program yet. With a
    /// program, another link would have received at least one probe.
    private boolean isUnsteered() {
        return answers == probes && located() == 1;
    }

    private long located() {
        return Arrays.stream(found).filter(i -> i != Steering.UNKNOWN).count();
    }

    private boolean isComplete() {
        for (int slot = 0; slot < found.length; slot++) {
            if (found[slot] == Steering.UNKNOWN && ground.isTaken(slot)) {
                return false;
            }
        }
        return true;
    }
}
