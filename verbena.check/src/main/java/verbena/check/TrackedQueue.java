package verbena.check;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.verbs.CompletionQueue;

/// A completion queue of the program, as the rules see it.
public final class TrackedQueue extends TrackedObject {
    /// A queue pair that reports to a completion queue.
    public interface Source {
        /// Returns whether a request of it may have completed into `queue` by now.
        boolean mayHaveCompleted(TrackedQueue queue);
    }

    /// The receives of a shared queue that complete into this completion queue, or may.
    public interface Shared {
        /// Returns how many are expected to complete: those that are outstanding, without those that a queue pair may
        /// have taken with it when it was closed or reset.
        int expected();

        /// Takes the oldest receive with this number out; null when there is none.
        @Nullable
        TrackedRequest take(long wrId);
    }

    /// One arming that no poll has followed.
    ///
    /// @param mayHaveMissed whether something could have completed before
    public record Armed(CallPlace place, boolean mayHaveMissed) {}

    /// Looks in vain at a queue. Several threads may look at once: too few are enough, because it is for costs.
    public static final class Looks {
        private int sinceCompletion;
        private int waits;
        private int inRow;
        private @Nullable Thread by;

        /// Notes a completion.
        ///
        /// @return how many completions so far had at least `many` looks in vain before them, when this has;
        ///     zero otherwise
        public int found(int many) {
            boolean isWait = sinceCompletion >= many;
            sinceCompletion = 0;
            return isWait ? ++waits : 0;
        }

        /// Notes a look in vain.
        ///
        /// @return the number of such looks of the same thread, without another thread's between
        public int vain(Thread me) {
            sinceCompletion++;
            inRow = by == me ? inRow + 1 : 1;
            by = me;
            return inRow;
        }

        /// Returns whether a thread has looked at least so often in vain, and no other thread since.
        public boolean isOf(Thread me, int times) {
            return by == me && inRow >= times;
        }
    }

    private final CompletionQueue queue;
    private final Looks looks = new Looks();
    private final AtomicInteger due = new AtomicInteger();
    private final Set<Source> sources = ConcurrentHashMap.newKeySet();
    private final Set<Shared> shared = ConcurrentHashMap.newKeySet();
    private final Set<Shared> extended = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Armed armed;
    private volatile long polls;

    public TrackedQueue(CompletionQueue queue, CallPlace made) {
        super(queue.toString(), made);
        this.queue = queue;
    }

    public CompletionQueue queue() {
        return queue;
    }

    /// Returns what reports here.
    public Set<Source> sources() {
        return sources;
    }

    /// Returns the receives of shared queues that may complete here.
    Set<Shared> shared() {
        return shared;
    }

    /// Returns those of them that targets of XRC take: their completions come from no queue pair that is known.
    public Set<Shared> extended() {
        return extended;
    }

    /// Returns the completions that may come, and those that wait to be taken.
    public int due() {
        int all = due.get();
        for (Shared each : shared) {
            all += each.expected();
        }
        return all;
    }

    void addDue(int change) {
        due.addAndGet(change);
    }

    /// Returns the last arming, when no poll has followed; null otherwise.
    public @Nullable Armed armed() {
        return armed;
    }

    /// Notes an arming.
    public void arm(CallPlace place) {
        boolean mayHaveMissed = false;
        for (Source each : sources) {
            mayHaveMissed |= each.mayHaveCompleted(this);
        }
        armed = new Armed(place, mayHaveMissed);
    }

    /// Returns what the rules on polling have kept.
    public Looks looks() {
        return looks;
    }

    /// Returns a number that changes with each look.
    public long polls() {
        return polls;
    }

    /// Notes that the program has looked.
    @SuppressWarnings(
            "NonAtomicVolatileUpdate") // too few of several threads are enough: it says whether there were any
    void polled() {
        polls++;
        if (armed != null) {
            armed = null;
        }
    }
}
