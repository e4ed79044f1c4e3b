package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Matching;
import verbena.messages.protocol.Peer;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionOptions;

/// What a worker has of its device, and what moves frames between that and the peers: one thread at a time reads all
/// completions ([Readers]). All peers share one queue of receives. Each has as many of them as its window, so every
/// frame finds one, and the memory is claimed once.
final class Traffic {
    private static final Duration FOREVER = Duration.ofDays(36_500);
    /// Frames and READs of one peer under way at once.
    static final int SENDS = 16;

    static final int READS = 4;
    /// Peers that have spoken and are not known yet.
    private static final int EARLY_MAX = 1024;

    private static final int BATCH = 64;

    // The upper half of a request's number says what it is, the lower half which.
    private static final long SEND = 1L << 32;
    static final long READ = 2L << 32;
    private static final long RING = 3L << 32;

    final ReentrantLock lock = new ReentrantLock();
    /// Something was sent or has come.
    private final Condition moved = lock.newCondition();
    final Matching matching;
    final Budget budget;
    private final WorkerOptions options;
    final Slots slots;
    private final Thread thread;
    final Readers readers;
    final LongMessages longMessages;

    // Under the lock.
    private final Map<Integer, RemoteWorker> byNumber = new HashMap<>();
    /// The first frames of peers that are being connected: credits only.
    private final Map<Integer, byte[]> early = new LinkedHashMap<>();

    /// Those that found no slot to send from.
    private final Set<RemoteWorker> starved = new LinkedHashSet<>();

    /// Numbers of queue pairs that are closed, and whose completions may not have been read yet.
    private final Set<Integer> gone = new HashSet<>();
    /// Those of them that were closed before the last round of completions was read.
    private final Set<Integer> longGone = new HashSet<>();

    private int peers;
    private boolean isClosing;

    Traffic(Context device, WorkerOptions options) {
        this.options = options;
        this.matching = new Matching(Budget.leftMax(options));
        this.budget = new Budget(options);
        this.slots = new Slots(device, options, SENDS + READS, RING);
        this.thread = Thread.ofVirtual().name("verbena-messages").unstarted(this::keep);
        this.readers = new Readers(new Completions());
        this.longMessages = new LongMessages(slots.domain, device.port(1).maxMessageBytes(), thread);
        thread.start();
    }

    /// Options of a connection to a peer.
    ConnectionOptions connection() {
        return slots.connection(SENDS + READS);
    }

    // ---- peers

    /// Takes room for one more peer; false when there is none, or the worker is being closed.
    boolean reserve() {
        lock.lock();
        try {
            if (isClosing || peers == options.maxPeers()) {
                return false;
            }
            peers++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// No peer came of it.
    void giveBack() {
        lock.lock();
        try {
            peers--;
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// False when the worker is being closed.
    boolean add(RemoteWorker remote) {
        lock.lock();
        try {
            if (isClosing) {
                return false;
            }
            byNumber.put(remote.number(), remote);
            byte[] frame = early.remove(remote.number());
            if (frame != null) {
                arrived(remote, MemorySegment.ofArray(frame));
            }
            pump(remote);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// What came from a connection that is no peer's means nothing, after its queue pair is closed. Another queue
    /// pair may get the number.
    void forget(int number) {
        lock.lock();
        try {
            early.remove(number);
            gone.add(number);
        } finally {
            lock.unlock();
        }
    }

    List<RemoteWorker> remotes() {
        lock.lock();
        try {
            return List.copyOf(byNumber.values());
        } finally {
            lock.unlock();
        }
    }

    /// Fails what is under way with a peer, once, and ends the connection.
    void lose(RemoteWorker remote, String why) {
        lock.lock();
        try {
            if (remote.peer().isLost()) {
                return;
            }
            remote.connection().id().disconnect();
            remote.peer().lose(why, longMessages.end(remote));
            remote.calls().lose(why);
        } finally {
            lock.unlock();
        }
    }

    /// Waits until all that was sent has arrived, but not longer than `nanos`.
    void drain(RemoteWorker remote, long nanos) throws InterruptedException {
        long left = nanos;
        lock.lock();
        try {
            while (left > 0 && !remote.peer().isLost() && !(remote.peer().isIdle() && remote.slots.isEmpty())) {
                left = moved.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /// After its queue pair is closed: what it has not completed is free.
    void remove(RemoteWorker remote) {
        lock.lock();
        try {
            if (byNumber.remove(remote.number(), remote)) {
                remote.slots.forEach(slots::free);
                remote.slots.clear();
                starved.remove(remote);
                budget.forget(remote);
                gone.add(remote.number());
                peers--;
                feedStarved();
                moved.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- departures

    /// Sends what the peer's protocol has to send. Under the lock.
    void pump(RemoteWorker to) {
        Peer peer = to.peer();
        try {
            while (to.slots.size() < SENDS && !peer.isLost()) {
                Integer slot = slots.peek();
                if (slot == null) {
                    starved.add(to);
                    break;
                }
                int bytes = peer.poll(slots.toSend(slot));
                if (bytes == 0) {
                    break;
                }
                to.slots.add(slot);
                slots.send(to.connection().queuePair(), SEND | slot, slot, bytes);
            }
            while (to.readings < READS && !peer.isLost()) {
                Peer.Read next = peer.pollRead();
                if (next == null) {
                    break;
                }
                longMessages.start(to, next);
            }
        } catch (VerbsException | IllegalStateException e) { // the program has closed memory that was under way
            lose(to, String.valueOf(e.getMessage()));
        }
    }

    private void feedStarved() {
        while (!starved.isEmpty() && slots.peek() != null) {
            RemoteWorker next = starved.iterator().next();
            starved.remove(next);
            pump(next);
        }
    }

    /// A request needs its memory no more: others may be read. Under the lock.
    void releaseRequest(long bytes) {
        budget.release(bytes).forEach(this::pump);
    }

    // ---- receives

    void receive(long tag, long mask, @Nullable RemoteWorker from, Incoming incoming) {
        lock.lock();
        try {
            Peer peer = matching.receive(tag, mask, from == null ? null : from.peer(), incoming);
            if (peer != null) {
                pump(RemoteWorker.of(peer));
            }
        } finally {
            lock.unlock();
        }
    }

    SortedMap<String, Long> counters() {
        lock.lock();
        try {
            var all = new TreeMap<String, Long>();
            all.put("unexpected.messages", (long) matching.unexpectedCount());
            all.put("unexpected.dropped", matching.dropped());
            all.put("requests.bytes", budget.requestBytes());
            sum(all, "unexpected.bytes", Peer::keptBytes);
            sum(all, "unexpected.crowded", Peer::timesCrowded);
            sum(all, "requests.waiting", Peer::unread);
            sum(all, "offers.held", Peer::heldBack);
            return all;
        } finally {
            lock.unlock();
        }
    }

    private void sum(Map<String, Long> all, String name, ToLongFunction<Peer> of) {
        all.put(name, byNumber.values().stream().map(RemoteWorker::peer).mapToLong(of).sum());
    }

    // ---- arrivals

    private void keep() {
        try {
            readers.keep();
        } catch (InterruptedException e) {
            throw new AssertionError("no program knows this thread", e);
        }
    }

    /// The completion queue, as the thread that reads sees it.
    private final class Completions implements Readers.Source {
        private final WorkCompletion first = new WorkCompletion();
        private final WorkCompletion[] others = new WorkCompletion[BATCH];
        private final Set<RemoteWorker> touched = new LinkedHashSet<>();

        Completions() {
            for (int i = 0; i < BATCH; i++) {
                others[i] = new WorkCompletion();
            }
        }

        @Override
        public Readers.Outcome read(long nanos) throws InterruptedException {
            try {
                boolean found = nanos == 0
                        ? slots.queue.poll(first)
                        : slots.queue.await(first, nanos == Long.MAX_VALUE ? FOREVER : Duration.ofNanos(nanos));
                if (!found) {
                    return Readers.Outcome.NONE;
                }
                round(slots.queue.poll(others));
                return Readers.Outcome.SOME;
            } catch (InvalidStateException e) {
                failAll("the worker is closed");
            } catch (RuntimeException e) { // whatever it is: no thread may wait for ever
                failAll("the worker has failed: " + e);
            }
            return Readers.Outcome.OVER;
        }

        private void round(int n) {
            lock.lock();
            try {
                completed(first, touched);
                for (int i = 0; i < n; i++) {
                    completed(others[i], touched);
                }
                touched.forEach(Traffic.this::pump);
                touched.clear();
                feedStarved();
                if (n < BATCH) { // all that was there when the round began
                    gone.removeAll(longGone);
                    longGone.clear();
                    longGone.addAll(gone);
                }
                moved.signalAll();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void ring() {
            try {
                slots.ring();
            } catch (VerbsException e) {
                // the worker is being closed, or its device has failed: the read ends with that
            }
        }
    }

    private void failAll(String why) {
        remotes().forEach(each -> lose(each, why));
        lock.lock();
        try {
            matching.close(why);
        } finally {
            lock.unlock();
        }
    }

    private void completed(WorkCompletion wc, Set<RemoteWorker> touched) {
        long number = wc.wrId();
        if (number == RING) {
            readers.heard();
            return;
        }
        RemoteWorker remote = byNumber.get(wc.qpn());
        int which = (int) number;
        if (number >= READ) {
            if (remote != null && wc.ok()) {
                onRead(remote, which);
            }
        } else if (number >= SEND) {
            if (remote != null && remote.slots.remove(which)) {
                slots.free(which);
            }
        } else {
            if (wc.ok()) {
                MemorySegment frame = slots.arrived(which, wc.byteLength());
                if (remote != null) {
                    arrived(remote, frame);
                } else {
                    remember(wc.qpn(), frame);
                }
            }
            slots.postReceive(which);
        }
        if (remote != null) {
            touched.add(remote);
            if (!wc.ok()) {
                lose(remote, wc.cause() + " (" + wc.status() + ")");
            }
        }
    }

    private void onRead(RemoteWorker from, int number) {
        try {
            longMessages.onRead(from, number);
        } catch (VerbsException | IllegalStateException e) { // the program has closed the memory at this moment
            lose(from, String.valueOf(e.getMessage()));
        }
    }

    private void arrived(RemoteWorker from, MemorySegment frame) {
        String wrong;
        try {
            wrong = from.peer().onFrame(frame);
        } catch (IllegalStateException e) { // the program has closed the memory of a receive at this moment
            wrong = String.valueOf(e.getMessage());
        }
        if (wrong != null) {
            lose(from, "the peer does not keep to the protocol: " + wrong);
        }
    }

    private void remember(int qpn, MemorySegment frame) {
        if (gone.contains(qpn)) {
            return;
        }
        early.put(qpn, frame.toArray(ValueLayout.JAVA_BYTE));
        if (early.size() > EARLY_MAX) {
            early.remove(early.keySet().iterator().next());
        }
    }

    // ---- the end

    /// Takes no more peers. Those that are there are the caller's to close.
    void shut() {
        lock.lock();
        try {
            isClosing = true;
        } finally {
            lock.unlock();
        }
    }

    /// After all peers were closed.
    void close() {
        lock.lock();
        try {
            while (peers > 0) { // a connection is being made, and will be refused
                moved.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
        slots.closeQueues();
        Readers.join(thread);
        slots.closeMemory();
    }
}
