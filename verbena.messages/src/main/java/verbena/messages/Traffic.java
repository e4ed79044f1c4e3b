package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
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
    /// A limit of so much is none, and needs no object.
    private static final long FOREVER_NANOS = Duration.ofDays(365).toNanos();
    /// Frames and READs of one peer under way at once.
    static final int SENDS = 16;

    static final int READS = 4;
    private static final int BATCH = 64;

    // The upper half of a request's number says what it is, the lower half which.
    static final long SEND = 1L << 32;
    static final long READ = 2L << 32;
    private static final long RING = 3L << 32;
    static final long OPERATION = 4L << 32;
    private static final int REQUESTS = SENDS + READS + Operations.UNDER_WAY;

    final ReentrantLock lock = new ReentrantLock();
    /// Something was sent or has come.
    private final Condition moved = lock.newCondition();
    final Matching matching;
    final Budget budget;
    final Handlers handlers;
    private final WorkerOptions options;
    final Slots slots;
    private final Thread thread;
    final Readers readers;
    final LongMessages longMessages;

    // Under the lock.
    private final Numbers numbers = new Numbers();
    /// Those that found no slot to send from.
    private final Set<RemoteWorker> starved = new LinkedHashSet<>();

    private int peers;
    private boolean isClosing;

    Traffic(Context device, WorkerOptions options) {
        this.options = options;
        this.matching = new Matching(Budget.leftMax(options));
        this.budget = new Budget(options);
        this.handlers = new Handlers(this, options);
        this.slots = new Slots(device, options, REQUESTS, RING);
        this.thread = Thread.ofVirtual().name("verbena-messages").unstarted(this::keep);
        this.readers = new Readers(new Completions());
        this.longMessages = new LongMessages(slots.domain, device.port(1).maxMessageBytes(), thread);
        thread.start();
    }

    /// Options of a connection to a peer.
    ConnectionOptions connection() {
        return slots.connection(REQUESTS);
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
            byte[] frame = numbers.add(remote);
            if (frame != null) {
                arrived(remote, MemorySegment.ofArray(frame), frame.length);
            }
            pump(remote);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// A connection is closed that is no peer's.
    void forget(int number) {
        lock.lock();
        try {
            numbers.forget(number);
        } finally {
            lock.unlock();
        }
    }

    List<RemoteWorker> remotes() {
        lock.lock();
        try {
            return numbers.all();
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
            remote.operations().lose(why);
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
            while (left > 0 && !remote.peer().isLost() && !remote.isIdle()) {
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
            if (numbers.remove(remote)) {
                slots.forget(remote);
                starved.remove(remote);
                budget.forget(remote);
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
            while (to.sending < SENDS && !peer.isLost()) {
                int slot = slots.peek();
                if (slot < 0) {
                    starved.add(to);
                    break;
                }
                int bytes = peer.poll(slots.toSend(slot));
                if (bytes == 0) {
                    break;
                }
                slots.send(to, SEND | slot, slot, bytes);
            }
            while (to.readings < READS && !peer.isLost()) {
                Peer.Read next = peer.pollRead();
                if (next == null) {
                    break;
                }
                longMessages.start(to, next);
            }
            if (!peer.isLost() && !to.operations().pump(slots)) {
                starved.add(to);
            }
        } catch (VerbsException | IllegalStateException e) { // the program has closed memory that was under way
            lose(to, String.valueOf(e.getMessage()));
        }
    }

    private void feedStarved() {
        while (!starved.isEmpty() && slots.peek() >= 0) {
            RemoteWorker next = starved.iterator().next();
            starved.remove(next);
            pump(next);
        }
    }

    // ---- the budget

    /// Memory that came unasked is needed no more: more may be read.
    void release(long bytes) {
        lock.lock();
        try {
            budget.release(bytes).forEach(this::pump);
        } finally {
            lock.unlock();
        }
    }

    void claim(long bytes) {
        lock.lock();
        try {
            budget.take(bytes);
        } finally {
            lock.unlock();
        }
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
            all.put("active.dropped", handlers.dropped());
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
        all.put(
                name,
                numbers.all().stream().map(RemoteWorker::peer).mapToLong(of).sum());
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
        private final List<RemoteWorker> touched = new ArrayList<>();

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
                        : slots.queue.await(first, nanos >= FOREVER_NANOS ? FOREVER : Duration.ofNanos(nanos));
                if (!found) {
                    return Readers.Outcome.NONE;
                }
                round(slots.queue.poll(others));
                handlers.run();
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
                for (int i = 0; i < touched.size(); i++) {
                    touched.get(i).isTouched = false;
                    pump(touched.get(i));
                }
                touched.clear();
                feedStarved();
                if (n < BATCH) {
                    numbers.endRound();
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

    private void completed(WorkCompletion wc, List<RemoteWorker> touched) {
        long number = wc.wrId();
        if (number == RING) {
            readers.heard();
            return;
        }
        RemoteWorker remote = numbers.get(wc.qpn());
        int which = (int) number;
        if (number >= OPERATION) {
            if (remote != null && wc.ok()) {
                remote.operations().completed(which, slots);
            }
        } else if (number >= READ) {
            if (remote != null && wc.ok()) {
                onRead(remote, which);
            }
        } else if (number >= SEND) {
            if (remote != null) {
                slots.sent(which, remote);
            }
        } else {
            if (wc.ok()) {
                MemorySegment frame = slots.arrived(which);
                handlers.frame(which);
                if (remote != null) {
                    arrived(remote, frame, wc.byteLength());
                } else {
                    numbers.remember(wc.qpn(), frame.asSlice(0, wc.byteLength()));
                }
            }
            if (!wc.ok() || !handlers.hasFrame()) {
                slots.postReceive(which);
            }
        }
        if (remote != null) {
            if (!remote.isTouched) {
                remote.isTouched = true;
                touched.add(remote);
            }
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

    private void arrived(RemoteWorker from, MemorySegment frame, long bytes) {
        String wrong;
        try {
            wrong = from.peer().onFrame(frame, bytes);
        } catch (IllegalStateException e) { // the program has closed the memory of a receive at this moment
            wrong = String.valueOf(e.getMessage());
        }
        if (wrong != null) {
            lose(from, "the peer does not keep to the protocol: " + wrong);
        }
    }

    /// The handlers of these messages have returned: their frames can be used again.
    void handled(List<ActiveMessage> messages) {
        lock.lock();
        try {
            for (int i = 0; i < messages.size(); i++) {
                ActiveMessage message = messages.get(i);
                if (message.slot() >= 0) {
                    slots.postReceive(message.slot());
                    message.sender().peer().handled();
                }
            }
            for (int i = 0; i < messages.size(); i++) {
                if (messages.get(i).slot() >= 0) {
                    pump(messages.get(i).sender());
                }
            }
        } finally {
            lock.unlock();
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
