package verbena.check;

import java.util.List;
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

        /// Returns how many of its completions in `queue` the program may find there now, as far as both ends are
        /// known.
        int known(TrackedQueue queue);
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

    /// One arming that no poll has followed which found the queue empty.
    ///
    /// @param mayHaveMissed whether something could have completed before that no poll has found since
    /// @param known the completions that could
    /// @param isPolled whether a poll has found something since
    public record Armed(CallPlace place, boolean mayHaveMissed, int known, boolean isPolled) {}

    /// The state of a queue's notifications, for a thread that is about to wait.
    ///
    /// @param by who armed the queue last, or made it
    /// @param due the armings that have given no event yet; more than can give one, where two were for one event
    /// @param taken where the last event was taken; null when a poll or an arming has followed
    /// @param polls the looks at all queues of the channel until then
    public record Notice(Thread by, int due, @Nullable CallPlace taken, long polls) {}

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
    private volatile Notice notice = new Notice(Thread.currentThread(), 0, null, 0);
    private volatile long polls;
    /// The thread that has polled last; null when none has, and no event was taken either.
    private volatile @Nullable Object poller;

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

    /// Notes an arming.
    public void arm(CallPlace place) {
        boolean mayHaveMissed = false;
        for (Source each : sources) {
            mayHaveMissed |= each.mayHaveCompleted(this);
        }
        armed = new Armed(place, mayHaveMissed, known(), false);
        notice = new Notice(Thread.currentThread(), notice.due + 1, null, 0);
    }

    private int known() {
        int known = 0;
        for (Source each : sources) {
            known += each.known(this);
        }
        return known;
    }

    /// Returns the last arming after which a completion may lie in the queue, if there is one, without a notification
    /// to come: nothing that was posted later will cause one.
    public @Nullable Armed missed() {
        Armed last = armed;
        if (last == null || !last.mayHaveMissed || !isPolledHere()) {
            return null;
        }
        return last.isPolled && known() > last.known ? null : last;
    }

    /// Notes that this thread has taken an event of the queue.
    ///
    /// @param all the looks at all queues of its channel so far
    public void eventTaken(CallPlace place, long all) {
        Notice last = notice;
        boolean isMine = last.by == Thread.currentThread();
        notice = new Notice(last.by, Math.max(0, last.due - 1), isMine ? place : null, all);
        if (poller == null) {
            poller = this; // which is no thread: who will poll is not known yet
        }
    }

    /// Returns whether this thread is the one that polls the queue, as far as that is known. A thread that takes
    /// events and hands the queues to others is not.
    public boolean isPolledHere() {
        return poller == null || poller == Thread.currentThread();
    }

    /// Returns what a thread has to know before it waits.
    public Notice notice() {
        return notice;
    }

    /// Returns what the rules on polling have kept.
    public Looks looks() {
        return looks;
    }

    /// Returns the looks at all of these queues.
    public static long polls(List<TrackedQueue> queues) {
        return queues.stream().mapToLong(TrackedQueue::polls).sum();
    }

    /// Returns a number that changes with each look.
    public long polls() {
        return polls;
    }

    /// Notes that the program has looked.
    @SuppressWarnings(
            "NonAtomicVolatileUpdate") // too few of several threads are enough: it says whether there were any
    void polled(boolean found) {
        polls++;
        Thread me = Thread.currentThread();
        if (poller != me) {
            poller = me;
        }
        Armed last = armed;
        if (last != null) {
            armed = found && last.known > 1 ? new Armed(last.place, true, last.known - 1, true) : null;
        }
        if (notice.taken != null) {
            notice = new Notice(notice.by, notice.due, null, 0);
        }
    }
}
