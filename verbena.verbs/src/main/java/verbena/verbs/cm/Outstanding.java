package verbena.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import verbena.verbs.CompletionQueue;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.VerbsException;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;

/// The requests of one direction of a connection that are under way, and the threads that wait for them.
///
/// One thread at a time reads the completion queue: one of those that wait. It finishes the requests of all, and
/// wakes their threads. When its own request is done, it wakes the waiting thread whose turn comes last, and
/// that one reads on. So a single waiting thread never meets another, and a crowd changes readers seldom.
///
/// No wake-up is lost. A thread decides under the lock whether it reads, sleeps or leaves. A thread that leaves
/// wakes a sleeper when no thread reads, whatever the reason for which it leaves.
final class Outstanding {
    /// Completions that are taken at a time behind the first.
    private static final int BATCH = 16;
    /// A request's number has its place in the low bits, and counts rounds above.
    private static final int PLACE_BITS = 32;

    /// A thread that sleeps until its request is done, or there is room, or it has to read.
    static final class Sleeper {
        private final Thread thread = Thread.currentThread();
        private @Nullable Sleeper before;
        private @Nullable Sleeper after;
        /// The next that waits for the same request.
        private @Nullable Sleeper next;
    }

    private final Ending ending;
    private final CompletionQueue queue;
    private final LongFunction<MemoryRegion> allocate;
    private final ReentrantLock lock = new ReentrantLock();

    // By the thread that reads.
    private final WorkCompletion first = new WorkCompletion();
    private final WorkCompletion[] others = new WorkCompletion[BATCH];

    // Under the lock.
    private final @Nullable WorkRequest[] places;
    private final int[] free;
    private int freeCount;
    private long rounds;
    private final ArrayDeque<WorkRequest> spare = new ArrayDeque<>();
    private boolean reading;
    /// The last of those that wait for a request.
    private @Nullable Sleeper newest;
    /// Those that wait for room, the oldest first.
    private final ArrayDeque<Sleeper> queued = new ArrayDeque<>();
    private @Nullable VerbsException broken;
    /// Results of atomics: 8 bytes for each place.
    private @Nullable MemoryRegion words;
    /// Futures of requests that are under way, and whether a thread waits for them.
    private int futures;
    private boolean pumping;

    /// @param allocate gives memory for the results of atomics
    /// @param depth requests that can be under way at once; 0 when the program reads the queue by itself
    Outstanding(Ending ending, CompletionQueue queue, LongFunction<MemoryRegion> allocate, int depth) {
        this.ending = ending;
        this.allocate = allocate;
        this.queue = queue;
        this.places = new WorkRequest[depth];
        this.free = new int[depth];
        for (int i = 0; i < depth; i++) {
            free[freeCount++] = depth - 1 - i;
        }
        for (int i = 0; i < BATCH; i++) {
            others[i] = new WorkCompletion();
        }
    }

    Ending ending() {
        return ending;
    }

    // ---- room

    /// A request with a place of its own; waits while all places are taken.
    ///
    /// @param reusable whether no program sees it, so that [#recycle] gets it back
    /// @throws InvalidStateException when there is nothing to wait for any more
    WorkRequest begin(String verb, boolean reusable) throws InterruptedException {
        requireOurs(verb);
        lock.lock();
        try {
            if (freeCount == 0 || !queued.isEmpty()) {
                awaitRoom();
            }
            if (broken != null) {
                throw broken(verb);
            }
            int place = free[--freeCount];
            WorkRequest request = reusable ? spare.pollLast() : null;
            if (request == null) {
                request = new WorkRequest(this);
            }
            request.begin(verb, ++rounds << PLACE_BITS | place);
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

    private void awaitRoom() throws InterruptedException {
        var me = new Sleeper();
        queued.add(me);
        try {
            while (broken == null && (freeCount == 0 || queued.peek() != me)) {
                readOrSleep(Long.MAX_VALUE);
            }
        } finally {
            queued.remove(me);
            if (freeCount > 0 || broken != null) {
                wakeQueued(); // there may be more room than this thread takes
            }
            passOn();
        }
    }

    private void wakeQueued() {
        Sleeper head = queued.peek();
        if (head != null) {
            LockSupport.unpark(head.thread);
        }
    }

    /// The request could not be posted.
    void withdraw(WorkRequest request) {
        lock.lock();
        try {
            vacate(request);
        } finally {
            lock.unlock();
        }
    }

    private void vacate(WorkRequest request) {
        assert lock.isHeldByCurrentThread() : "places change under the lock";
        int place = (int) request.wrId;
        if (places[place] == request) {
            assert freeCount < free.length : "a place is given back once";
            places[place] = null;
            free[freeCount++] = place;
            wakeQueued();
        }
    }

    /// Takes back a request that is done and that no program knows.
    void recycle(WorkRequest request) {
        lock.lock();
        try {
            spare.addLast(request);
        } finally {
            lock.unlock();
        }
    }

    /// Where the result of an atomic goes: the 8 bytes of its place.
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

    static long wordOf(WorkRequest request) {
        return (int) request.wrId * (long) Long.BYTES;
    }

    // ---- waiting

    /// Waits until the request is done; false when `nanos` have passed. With none it looks, and does not wait.
    boolean await(WorkRequest request, long nanos) throws InterruptedException {
        if (request.isFinished()) {
            return true;
        }
        if (nanos <= 0) {
            look();
            return request.isFinished();
        }
        Sleeper me = null;
        long start = nanos == Long.MAX_VALUE ? 0 : System.nanoTime();
        lock.lock();
        try {
            while (!request.isFinished()) {
                long left = left(nanos, start);
                if (left <= 0) {
                    return false;
                }
                if (me == null && reading) {
                    me = link(request);
                }
                readOrSleep(left);
            }
            return true;
        } finally {
            if (me != null) {
                unlink(me, request);
            }
            passOn();
            lock.unlock();
        }
    }

    private static long left(long nanos, long start) {
        return nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - start);
    }

    private void readOrSleep(long nanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (!reading) {
            read(nanos);
            return;
        }
        lock.unlock();
        try {
            if (nanos == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        } finally {
            lock.lock();
        }
    }

    private Sleeper link(WorkRequest request) {
        Sleeper me = link();
        me.next = request.sleepers;
        request.sleepers = me;
        return me;
    }

    private Sleeper link() {
        assert lock.isHeldByCurrentThread() : "sleepers change under the lock";
        var me = new Sleeper();
        me.before = newest;
        if (newest != null) {
            newest.after = me;
        }
        newest = me;
        return me;
    }

    private void unlink(Sleeper me, WorkRequest request) {
        unlink(me);
        if (request.sleepers == me) {
            request.sleepers = me.next;
            return;
        }
        for (Sleeper each = request.sleepers; each != null; each = each.next) {
            if (each.next == me) {
                each.next = me.next;
            }
        }
    }

    private void unlink(Sleeper me) {
        assert lock.isHeldByCurrentThread() : "sleepers change under the lock";
        if (me.before != null) {
            me.before.after = me.after;
        }
        if (me.after != null) {
            me.after.before = me.before;
        } else {
            newest = me.before;
        }
    }

    /// Before a thread leaves: another one has to read on.
    private void passOn() {
        assert lock.isHeldByCurrentThread() : "who reads is decided under the lock";
        if (reading) {
            return;
        }
        if (newest != null) {
            LockSupport.unpark(newest.thread);
        } else {
            wakeQueued();
        }
    }

    // ---- reading

    /// Waits for a completion, and takes all that are there. Leaves the lock meanwhile.
    private void read(long nanos) throws InterruptedException {
        assert lock.isHeldByCurrentThread() && !reading : "one thread reads";
        reading = true;
        boolean more = freeCount < places.length - 1;
        lock.unlock();
        boolean found = false;
        int n = 0;
        VerbsException trouble = null;
        try {
            if (nanos == Long.MAX_VALUE) {
                queue.await(first);
                found = true;
            } else {
                found = queue.await(first, Duration.ofNanos(nanos));
            }
            n = found && more ? queue.poll(others) : 0;
        } catch (VerbsException e) {
            trouble = e;
        } finally {
            lock.lock();
            reading = false;
        }
        take(found, n, trouble);
    }

    private void take(boolean found, int n, @Nullable VerbsException trouble) {
        if (found) {
            finish(first);
        }
        for (int i = 0; i < n; i++) {
            finish(others[i]);
        }
        if (trouble != null) {
            breakDown(trouble);
        }
    }

    /// Reads the completions that are there, when no other thread does.
    void look() {
        if (!lock.tryLock()) {
            return;
        }
        try {
            if (reading || broken != null) {
                return;
            }
            reading = true;
            lock.unlock();
            int n = 0;
            VerbsException trouble = null;
            try {
                n = queue.poll(others);
            } catch (VerbsException e) {
                trouble = e;
            } finally {
                lock.lock();
                reading = false;
            }
            take(false, n, trouble);
            passOn();
        } finally {
            lock.unlock();
        }
    }

    private void finish(WorkCompletion wc) {
        int place = (int) wc.wrId();
        WorkRequest request = place >= 0 && place < places.length ? places[place] : null;
        if (request == null || request.wrId != wc.wrId()) {
            return; // the program has posted it by itself
        }
        if (wc.ok()) {
            boolean isAtomic = wc.opcode() == WcOpcode.FETCH_ADD || wc.opcode() == WcOpcode.COMP_SWAP;
            request.value = isAtomic ? words(request.verb).segment().get(JAVA_LONG, wordOf(request)) : wc.byteLength();
        }
        request.finish(wc);
        if (!wc.ok()) {
            ending.onFailure(request.verb, wc);
        }
        vacate(request);
        tell(request);
    }

    private void tell(WorkRequest request) {
        for (Sleeper each = request.sleepers; each != null; each = each.next) {
            LockSupport.unpark(each.thread);
        }
        CompletableFuture<WorkRequest> future = request.future;
        if (future != null) {
            futures--;
            complete(request, future);
        }
    }

    /// Nothing more will be completed: the queue is closed, or its device has failed.
    void breakDown(VerbsException why) {
        lock.lock();
        try {
            if (broken == null) {
                broken = why;
            }
            for (WorkRequest request : places) {
                if (request != null) {
                    request.finish(why);
                    vacate(request);
                    tell(request);
                }
            }
            queued.forEach(each -> LockSupport.unpark(each.thread));
            passOn();
        } finally {
            lock.unlock();
        }
    }

    // ---- futures

    CompletableFuture<WorkRequest> futureOf(WorkRequest request) {
        lock.lock();
        try {
            CompletableFuture<WorkRequest> known = request.future;
            if (known != null) {
                return known;
            }
            var future = new CompletableFuture<WorkRequest>();
            request.future = future;
            if (request.isFinished()) {
                complete(request, future);
                return future;
            }
            futures++;
            if (!pumping) {
                pumping = true;
                Thread.ofVirtual().name("verbena-futures").start(this::pump);
            }
            return future;
        } finally {
            lock.unlock();
        }
    }

    /// On a thread of its own: what the program does then must not hold up the thread that reads.
    private static void complete(WorkRequest request, CompletableFuture<WorkRequest> future) {
        Thread.startVirtualThread(() -> {
            if (request.isOk()) {
                future.complete(request);
            } else {
                future.completeExceptionally(request.failure());
            }
        });
    }

    /// Waits as long as there are futures to complete.
    private void pump() {
        lock.lock();
        Sleeper me = link();
        try {
            while (futures > 0) {
                readOrSleep(Long.MAX_VALUE);
            }
        } catch (InterruptedException e) {
            throw new AssertionError("no program knows this thread", e);
        } finally {
            unlink(me);
            pumping = false;
            passOn();
            lock.unlock();
        }
    }
}
