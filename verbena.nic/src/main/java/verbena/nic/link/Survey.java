package verbena.nic.link;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.function.LongSupplier;

/// Finds out which index each of the links that share an address has in the kernel's group of their sockets, so that
/// [Steering] can name it. The indexes change when a link leaves.
///
/// A survey sends a probe to each index, and each link that gets one says so. It is over when all are found, or
/// after [#SURVEY_NANOS]. One that has not found all is made again, some times. A survey that is wrong, or
/// overtaken, costs forwarding only. One thread at a time, but for [#due()].
final class Survey {
    /// No survey is due.
    static final long NEVER = Long.MAX_VALUE;
    /// How long a survey waits for answers; a process that has not answered by then is stopped or busy.
    static final long SURVEY_NANOS = 20_000_000;
    /// Probes beyond the number of known links, for links that are just coming.
    static final int PROBES_MORE = 4;
    /// A survey that did not find all links is made again after this, then after twice this, and so on.
    static final long AGAIN_NANOS = 100_000_000;

    static final int AGAIN_MAX = 3;
    /// So many forwarded packets are a reason for a survey, but not before the pause has passed. The pause is longer
    /// each time that a survey finds nothing new.
    static final int MISDIRECTED_MAX = 32;

    static final long PAUSE_NANOS_MIN = 100_000_000;
    static final long PAUSE_NANOS_MAX = 5_000_000_000L;

    private static final SecureRandom RANDOM = new SecureRandom();

    /// The address that is surveyed.
    interface Ground {
        /// Whether this link, or a neighbour, has the slot.
        boolean isTaken(int slot);

        /// How many neighbours there are.
        int neighbours();

        /// Sends a probe to the link with this index in the kernel's group.
        void probe(int index, long cookie);

        /// Has the kernel choose by these indexes; false when the system forbids it.
        ///
        /// @param indexOf by slot, or [Steering#UNKNOWN]
        boolean steer(int[] indexOf);

        /// [Survey#due()] is earlier now.
        void hurry();
    }

    private final Ground ground;
    private final LongSupplier clock;

    /// The index of each slot, as far as this link knows; then what the survey under way has found.
    private final int[] indexOf = unknown();

    private final int[] found = unknown();
    private long cookie;
    private boolean surveying;
    /// Whether this survey has made sure that probes are steered.
    private boolean primed;

    private boolean steerable = true;
    private int probes;
    private int answers;
    private int again;
    private int misdirected;
    private long pauseNanos = PAUSE_NANOS_MIN;
    private long notBefore;
    private long surveys;
    /// When the survey under way is over, or the next begins. The sleeper reads it.
    private volatile long due = NEVER;

    /// @param clock nanoseconds, monotonic; it may pass through its end
    Survey(Ground ground, LongSupplier clock) {
        this.ground = ground;
        this.clock = clock;
        this.notBefore = clock.getAsLong();
    }

    private static int[] unknown() {
        int[] indexes = new int[SharedAddress.SLOTS];
        Arrays.fill(indexes, Steering.UNKNOWN);
        return indexes;
    }

    /// When [#tick()] has something to do; [#NEVER] for not at all. Any thread.
    long due() {
        return due;
    }

    /// How many were begun.
    long surveys() {
        return surveys;
    }

    /// A link has come, or left: a survey is made, unless one is under way.
    void begin() {
        beginAt(clock.getAsLong());
    }

    private void beginAt(long at) {
        if (!surveying && steerable) {
            due = at;
            ground.hurry();
        }
    }

    /// The neighbour with this slot has left.
    void onGone(int slot) {
        indexOf[slot] = Steering.UNKNOWN;
    }

    /// So many packets came here that were for neighbours.
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

    /// A link says that a probe for this index has come to it. Beyond the last index the kernel chooses by a hash,
    /// so the same link may answer to many: its lowest index counts.
    ///
    /// @param itsCookie of the probe; an answer with another one counts for no survey
    void onLocated(int slot, int index, long itsCookie) {
        if (!surveying || itsCookie != cookie) {
            if (indexOf[slot] == Steering.UNKNOWN && due == NEVER && ground.isTaken(slot)) {
                begin(); // a late answer: a process was stopped, and goes on
            }
            return;
        }
        found[slot] = found[slot] == Steering.UNKNOWN ? index : Math.min(found[slot], index);
        answers++;
        if (isComplete() || isOneForAll()) {
            due = clock.getAsLong();
        }
    }

    /// Goes on with a survey, or begins one, when it is time.
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
        cookie = RANDOM.nextLong();
        surveying = true;
        misdirected = 0;
        due = now + SURVEY_NANOS;
        answers = 0;
        probes = Math.min(SharedAddress.SLOTS, ground.neighbours() + 1 + PROBES_MORE);
        for (int index = 0; index < probes; index++) {
            ground.probe(index, cookie);
        }
    }

    private void conclude(long now) {
        surveying = false;
        boolean isComplete = isComplete();
        boolean isLast = again == AGAIN_MAX;
        if (!primed && (isOneForAll() || (isLast && located() == 0))) {
            primed = true;
            steer();
            due = steerable ? now : NEVER;
            return;
        }
        // A link that was only busy may be steered to already, by another's program: a second look before that is
        // lost.
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

    /// There is no program yet: the kernel's hash sends all probes to the same link. With a program another link
    /// would have got at least one.
    private boolean isOneForAll() {
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
