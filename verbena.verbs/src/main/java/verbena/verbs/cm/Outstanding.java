package verbena.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import verbena.verbs.CompletionQueue;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.VerbsException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;
import verbena.verbs.waiting.LeaderFollowers;

/// The requests of one direction of a connection that are under way, and the threads that wait for them: one of them
/// reads the completion queue for all ([LeaderFollowers]).
final class Outstanding {
    /// Completions that are taken at a time behind the first.
    private static final int BATCH = 16;
    /// A request's number has its place in the low bits, and counts rounds above.
    private static final int PLACE_BITS = 32;
    /// The time that a thread which waits for room stays at the queue, while another one is about to post.
    private static final long POSTING_NANOS = 1_000_000;

    private final Ending ending;
    private final CompletionQueue queue;
    private final LongFunction<MemoryRegion> allocate;
    private final ReentrantLock lock = new ReentrantLock();
    private final Completions completions = new Completions();
    private final LeaderFollowers threads = new LeaderFollowers(lock, completions);

    // Under the lock.
    private final @Nullable WorkRequest<?>[] places;
    /// The threads that wait for the request at a place, and perhaps for one that was there before.
    private final LeaderFollowers.WaitSet[] waiting;
    private final int[] free;
    private int freeCount;
    private long rounds;
    private final ArrayDeque<WorkRequest<?>> spare = new ArrayDeque<>();
    /// The threads that wait for room, the oldest first, each by itself.
    private final ArrayDeque<LeaderFollowers.WaitSet> queued = new ArrayDeque<>();

    private @Nullable VerbsException broken;
    /// Results of atomics: 8 bytes for each place.
    private @Nullable MemoryRegion words;
    /// The requests under way that a future or a waiter needs, and whether a thread waits for them.
    private int watched;
    private boolean pumping;
    private final LeaderFollowers.WaitSet pump = new LeaderFollowers.WaitSet();

    /// @param allocate gives memory for the results of atomics
    /// @param depth requests that can be under way at once; 0 when the program reads the queue by itself
    Outstanding(Ending ending, CompletionQueue queue, LongFunction<MemoryRegion> allocate, int depth) {
        this.ending = ending;
        this.allocate = allocate;
        this.queue = queue;
        this.places = new WorkRequest<?>[depth];
        this.waiting = new LeaderFollowers.WaitSet[depth];
        this.free = new int[depth];
        for (int i = 0; i < depth; i++) {
            waiting[i] = new LeaderFollowers.WaitSet();
            free[freeCount++] = depth - 1 - i;
        }
    }

    Ending ending() {
        return ending;
    }

    // ---- room

    /// Returns a request with a place of its own; waits while all places are taken. The request has the rest of
    /// `nanos` to be done.
    ///
    /// @param reusable whether no program sees it, so that [#recycle] gets it back
    /// @return null when `nanos` have passed before there was a place
    /// @throws InvalidStateException when there is nothing to wait for any more
    @SuppressWarnings("unchecked") // the results of one that is used again have no type: no program sees it
    <T> @Nullable WorkRequest<T> begin(String verb, boolean reusable, long nanos) throws InterruptedException {
        requireOurs(verb);
        lock.lock();
        try {
            long left = nanos;
            if (freeCount == 0 || !queued.isEmpty()) {
                long start = System.nanoTime();
                if (!enqueue(nanos)) {
                    return null;
                }
                left = nanos == LeaderFollowers.FOREVER ? nanos : Math.max(0, nanos - (System.nanoTime() - start));
            }
            if (broken != null) {
                throw broken(verb);
            }
            int place = free[--freeCount];
            WorkRequest<T> request = reusable ? (WorkRequest<T>) spare.pollLast() : null;
            if (request == null) {
                request = new WorkRequest<>(this);
            }
            request.begin(verb, ++rounds << PLACE_BITS | place);
            request.nanos = left;
            places[place] = request;
            return request;
        } finally {
            lock.unlock();
        }
    }

    private void requireOurs(String verb) {
        if (places.length == 0) {
            throw new InvalidStateException(verb + ": " + ending.connection() + " has no room for such requests, or"
                    + " shares where they complete: post on its queue pair, and poll");
        }
    }

    private InvalidStateException broken(String verb) {
        return new InvalidStateException(verb + ": " + ending.connection() + " has ended");
    }

    /// Waits until a request would find a place; false when `nanos` have passed. With none it looks, and does not
    /// wait.
    boolean awaitRoom(long nanos) throws InterruptedException {
        requireOurs("awaitRoom");
        if (nanos <= 0) {
            look();
        }
        lock.lock();
        try {
            return broken != null || (freeCount > 0 && queued.isEmpty()) || enqueue(nanos);
        } finally {
            lock.unlock();
        }
    }

    /// Waits for room behind the threads that came before.
    private boolean enqueue(long nanos) throws InterruptedException {
        var me = new LeaderFollowers.WaitSet();
        queued.add(me);
        try {
            return threads.await(me, this, all -> all.hasRoom(me), nanos);
        } finally {
            queued.remove(me);
            completions.mayBeWithdrawn = !queued.isEmpty(); // this thread may be about to post
            if (freeCount > 0 || broken != null) {
                tellOldest(); // there may be more room than this thread takes
            }
        }
    }

    /// Returns whether there is room. Called at the latest before this thread leads.
    private boolean hasRoom(LeaderFollowers.WaitSet me) {
        completions.mayBeWithdrawn = !isEachPosted();
        return broken != null || (freeCount > 0 && queued.peek() == me);
    }

    private boolean isEachPosted() {
        for (WorkRequest<?> each : places) {
            if (each == null || !each.isPosted()) {
                return false;
            }
        }
        return true;
    }

    private void tellOldest() {
        LeaderFollowers.WaitSet oldest = queued.peek();
        if (oldest != null) {
            threads.tell(oldest);
        }
    }

    /// Withdraws a request that could not be posted.
    void withdraw(WorkRequest<?> request) {
        lock.lock();
        try {
            vacate(request);
        } finally {
            lock.unlock();
        }
    }

    private void vacate(WorkRequest<?> request) {
        assert lock.isHeldByCurrentThread() : "places change under the lock";
        int place = (int) request.wrId;
        if (places[place] == request) {
            assert freeCount < free.length : "a place is given back once";
            places[place] = null;
            free[freeCount++] = place;
            tellOldest();
        }
    }

    /// Takes back a request that is done and that no program knows.
    void recycle(WorkRequest<?> request) {
        lock.lock();
        try {
            spare.addLast(request);
        } finally {
            lock.unlock();
        }
    }

    /// Returns where the result of an atomic goes: the 8 bytes of its place.
    MemoryRegion words(String verb) {
        requireOurs(verb);
        lock.lock();
        try {
            MemoryRegion known = words;
            if (known == null) {
                known = allocate.apply((long) places.length * Long.BYTES);
                words = known;
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    // ---- waiting

    /// Waits until the request is done; false when `nanos` have passed. With none it looks, and does not wait.
    boolean await(WorkRequest<?> request, long nanos) throws InterruptedException {
        if (request.isFinished()) {
            return true;
        }
        if (nanos <= 0) {
            look();
            return request.isFinished();
        }
        lock.lock();
        try {
            return threads.await(waiting[(int) request.wrId], request, WorkRequest::isFinished, nanos);
        } finally {
            lock.unlock();
        }
    }

    /// Reads the completions that are there, when no other thread does. Without a place for requests it reads none:
    /// the program polls that queue, and lacks what another takes out of it.
    void look() {
        if (places.length == 0 || !lock.tryLock()) {
            return;
        }
        try {
            if (!threads.isLed() && broken == null) {
                threads.look();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- reading

    /// The completion queue, by the thread that leads.
    private final class Completions implements LeaderFollowers.Source {
        private final WorkCompletion first = new WorkCompletion();
        private final WorkCompletion[] others = new WorkCompletion[BATCH];
        /// Whether a thread waits for room that another one may give back, because its request cannot be
        /// posted. That does not end a wait at the queue. Under the lock.
        private boolean mayBeWithdrawn;

        private boolean isFound;
        private int count;
        private @Nullable VerbsException trouble;

        private Completions() {
            Arrays.setAll(others, _ -> new WorkCompletion());
        }

        @Override
        public void await(long nanos) throws InterruptedException {
            boolean more = freeCount < places.length - 1; // when this thread had the lock
            long limit = mayBeWithdrawn ? Math.min(nanos, POSTING_NANOS) : nanos;
            try {
                if (limit == 0) {
                    count = queue.poll(others);
                    return;
                }
                if (limit == LeaderFollowers.FOREVER) {
                    queue.await(first);
                    isFound = true;
                } else {
                    isFound = queue.await(first, Duration.ofNanos(limit));
                }
                count = isFound && more ? queue.poll(others) : 0;
            } catch (VerbsException e) {
                trouble = e;
            }
        }

        @Override
        public void take() {
            if (isFound) {
                isFound = false;
                finish(first);
            }
            for (int i = 0; i < count; i++) {
                finish(others[i]);
            }
            count = 0;
            VerbsException why = trouble;
            if (why != null) {
                trouble = null;
                breakDown(why);
            }
        }
    }

    private void finish(WorkCompletion wc) {
        int place = (int) wc.wrId();
        WorkRequest<?> request = place >= 0 && place < places.length ? places[place] : null;
        if (request == null || request.wrId != wc.wrId()) {
            return; // the program has posted it by itself
        }
        if (wc.ok()) {
            boolean isAtomic = wc.opcode() == WcOpcode.FETCH_ADD || wc.opcode() == WcOpcode.COMP_SWAP;
            request.value = isAtomic ? words(request.verb).segment().get(JAVA_LONG, request.word()) : wc.byteLength();
        }
        request.finish(wc);
        if (!wc.ok()) {
            ending.onFailure(request.verb, wc);
        }
        vacate(request);
        tell(request);
    }

    private void tell(WorkRequest<?> request) {
        threads.tell(waiting[(int) request.wrId]);
        if (request.isWatched()) {
            request.tellWatchers();
            if (--watched == 0) {
                threads.tell(pump);
            }
        }
    }

    /// Fails all that wait: the queue is closed, or its device has failed.
    void breakDown(VerbsException why) {
        lock.lock();
        try {
            if (broken == null) {
                broken = why;
            }
            for (WorkRequest<?> request : places) {
                if (request != null) {
                    request.finish(why);
                    vacate(request);
                    tell(request);
                }
            }
            for (LeaderFollowers.WaitSet each : queued) {
                threads.tell(each);
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- futures and waiters

    /// Adds the listener of a waiter to a request. One that is done needs none.
    void watch(WorkRequest<?> request, Runnable listener) {
        lock.lock();
        try {
            if (!request.isFinished()) {
                needReader(request);
                request.addListener(listener);
            }
        } finally {
            lock.unlock();
        }
    }

    <T> CompletableFuture<T> futureOf(WorkRequest<T> request) {
        lock.lock();
        try {
            CompletableFuture<T> known = request.future;
            if (known != null) {
                return known;
            }
            var future = new CompletableFuture<T>();
            if (request.isFinished()) {
                request.future = future;
                request.completeFuture();
            } else {
                needReader(request);
                request.future = future;
            }
            return future;
        } finally {
            lock.unlock();
        }
    }

    /// Makes a thread read until the request is done, before the first that watches it. Under the lock.
    private void needReader(WorkRequest<?> request) {
        if (request.isWatched()) {
            return;
        }
        watched++;
        if (!pumping) {
            pumping = true;
            Thread.ofVirtual().name("verbena-pending").start(this::pump);
        }
    }

    /// Waits as long as requests are watched.
    private void pump() {
        lock.lock();
        try {
            boolean _ = threads.await(pump, this, mine -> mine.watched == 0, LeaderFollowers.FOREVER);
        } catch (InterruptedException e) {
            throw new AssertionError("no program knows this thread", e);
        } finally {
            pumping = false;
            lock.unlock();
        }
    }
}
