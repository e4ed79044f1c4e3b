package verbena.messages;

import java.lang.foreign.MemorySegment;
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
import verbena.messages.protocol.Rails;
import verbena.verbs.Context;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;

/// What moves frames between the devices of a worker and its peers: one thread at a time handles what has arrived
/// ([Readers], [Arrivals]). All peers share one queue of receives of each device. Each has as many of them as its
/// window, so every frame finds one, and the memory is claimed once.
final class Traffic {
    final ReentrantLock lock = new ReentrantLock();
    /// Something was sent or has come.
    private final Condition moved = lock.newCondition();
    final Matching matching;
    final Budget budget;
    final Handlers handlers;
    private final WorkerOptions options;
    final Slots slots;
    final List<Rail> rails = new ArrayList<>();
    private final Thread thread;
    final Arrivals arrivals;
    final Readers readers;
    /// Of all messages that left at once.
    final Pending<Void> sent;
    final LongMessages longMessages;
    final LostRails lostRails = new LostRails(this);
    final Departures departures;

    // Under the lock.
    private final Set<RemoteWorker> remotes = new LinkedHashSet<>();

    private int peers;
    private boolean isClosing;
    /// Whether threads of calls were started that the reader has not given way to.
    boolean hasBegunCalls;

    Traffic(List<Context> devices, WorkerOptions options) {
        this.options = options;
        this.matching = new Matching(Budget.leftMax(options));
        this.budget = new Budget(options);
        this.handlers = new Handlers(this, options);
        this.slots = new Slots(options, Rail.SPARE);
        this.departures = new Departures(this, slots);
        int count = devices.size();
        int told = count > 1 ? count + 1 : 0; // of lost rails, and of the token
        int requests = Departures.SENDS + Transfers.REQUESTS + Operations.UNDER_WAY + told + 1; // and of the end
        boolean done = false;
        try {
            for (Context each : devices) {
                rails.add(new Rail(rails.size(), count, each, options, slots, requests, Departures.RING));
            }
            done = true;
        } finally {
            if (!done) {
                rails.forEach(Rail::closeQueues);
                free();
            }
        }
        this.thread = Thread.ofPlatform().daemon().name("verbena-messages").unstarted(this::keep);
        this.arrivals = new Arrivals(this, rails);
        this.readers = new Readers(arrivals);
        this.sent = Pending.done(readers);
        this.longMessages = new LongMessages(rails, thread);
        thread.start();
        arrivals.start();
    }

    // ---- peers

    /// Takes room for one more peer; false when there is none, or the worker is being closed.
    boolean reserve() {
        lock.lock();
        try {
            if (isClosing || peers == options.maxPeers()) {
                return false;
            }
            countPeers(peers + 1);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// No peer came of it.
    void giveBack() {
        lock.lock();
        try {
            countPeers(peers - 1);
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void countPeers(int now) {
        rails.forEach(each -> each.need(now));
        peers = now;
    }

    /// A connection of a peer is there, its first or a further one; false when it is not wanted any more.
    boolean join(Way way) {
        RemoteWorker remote = way.remote;
        lock.lock();
        try {
            if (isClosing || way.rail.isClosed || remote.peer().isLost() || !remote.add(way)) {
                return false;
            }
            remotes.add(remote);
            for (byte[] frame : way.rail.numbers.add(way)) {
                MemorySegment whole = MemorySegment.ofArray(frame);
                arrived(way, whole, whole.asSlice(Math.min(frame.length, Rails.HEADER_BYTES)), frame.length);
            }
            departures.pump(remote);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// A connection is closed that is no peer's.
    void forget(Rail rail, int number) {
        lock.lock();
        try {
            rail.numbers.forget(number);
        } finally {
            lock.unlock();
        }
    }

    List<RemoteWorker> remotes() {
        lock.lock();
        try {
            return List.copyOf(remotes);
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
            remote.ways().forEach(Way::disconnect);
            remote.transfers().lose(why);
            remote.peer().lose(why, List.of());
            remote.operations().lose(why);
            remote.calls().lose(why);
            remote.lost(why);
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

    /// After its queue pairs are closed: what they have not completed is free.
    void remove(RemoteWorker remote) {
        lock.lock();
        try {
            if (remotes.remove(remote)) {
                remote.ways().forEach(each -> each.rail.numbers.remove(each));
                budget.forget(remote);
                countPeers(peers - 1);
                departures.forget(remote);
                moved.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- the budget

    /// Memory that came unasked is needed no more: more may be read.
    void release(long bytes) {
        lock.lock();
        try {
            budget.release(bytes).forEach(departures::pump);
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
                departures.pump(RemoteWorker.of(peer.owner()));
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
            all.put("rails.lost", lostRails.count());
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
        all.put(name, remotes.stream().map(RemoteWorker::peer).mapToLong(of).sum());
    }

    // ---- arrivals

    private void keep() {
        try {
            readers.keep();
        } catch (InterruptedException e) {
            throw new AssertionError("no program knows this thread", e);
        }
    }

    /// Handles completions of a rail.
    ///
    /// @param first null when there are only those of the batch
    /// @param n how many those are
    /// @param areAll whether these are all that were there when the round began
    /// @param touched an empty list, and left so
    void round(
            Rail rail,
            @Nullable WorkCompletion first,
            WorkCompletion[] batch,
            int n,
            boolean areAll,
            List<RemoteWorker> touched) {
        lock.lock();
        try {
            if (first != null) {
                completed(rail, first, touched);
            }
            for (int i = 0; i < n; i++) {
                completed(rail, batch[i], touched);
            }
            for (int i = 0; i < touched.size(); i++) {
                touched.get(i).isTouched = false;
                departures.pump(touched.get(i));
            }
            touched.clear();
            departures.feedStarved();
            if (areAll) {
                rail.numbers.endRound();
            }
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void failAll(String why) {
        remotes().forEach(each -> lose(each, why));
        lock.lock();
        try {
            matching.close(why);
        } finally {
            lock.unlock();
        }
    }

    private void completed(Rail rail, WorkCompletion wc, List<RemoteWorker> touched) {
        long number = wc.wrId();
        if (number == Departures.RING) {
            readers.heard();
            return;
        }
        Way way = rail.numbers.get(wc.qpn());
        if (Departures.isFrame(number)) {
            received(rail, way, wc, (int) number);
        } else if (way != null && way.isUsable() && wc.ok()) {
            RemoteWorker remote = way.remote;
            if (number >= Departures.TELL) {
                // its memory is not used again
            } else if (number >= Departures.OPERATION) {
                remote.operations().completed((int) number, slots);
            } else if (number >= Departures.PART) {
                partDone(remote, (int) number);
            } else {
                remote.rails().completed(rail.index);
                departures.freeSlots(remote);
            }
        }
        if (way != null) {
            RemoteWorker remote = way.remote;
            if (!remote.isTouched) {
                remote.isTouched = true;
                touched.add(remote);
            }
            if (number == Departures.END) {
                lostRails.ended(way);
            } else if (!wc.ok()) {
                lostRails.loseWay(way, wc.cause() + " (" + wc.status() + ")");
            }
        }
    }

    private void received(Rail rail, @Nullable Way way, WorkCompletion wc, int slot) {
        rail.taken();
        if (wc.ok()) {
            handlers.frame(rail, slot);
            if (way != null) {
                arrived(way, rail.arrived(slot), rail.behindHeader(slot), wc.byteLength());
            } else {
                rail.numbers.remember(wc.qpn(), rail.arrived(slot).asSlice(0, wc.byteLength()));
            }
        }
        if (!wc.ok() || !handlers.hasFrame()) {
            rail.give(slot);
        }
    }

    private void partDone(RemoteWorker from, int number) {
        try {
            from.transfers().completed(number);
        } catch (VerbsException | IllegalStateException e) { // the program has closed the memory at this moment
            lose(from, String.valueOf(e.getMessage()));
        }
    }

    /// @param behind the frame without the header that it has when there are several rails
    private void arrived(Way way, MemorySegment frame, MemorySegment behind, long bytes) {
        RemoteWorker from = way.remote;
        Rails itsRails = from.rails();
        if (from.peer().isLost() || !way.isUsable()) {
            return;
        }
        String wrong;
        try {
            if (!itsRails.areSeveral()) {
                wrong = from.peer().onFrame(frame, bytes);
            } else if (Rails.isTold(frame, bytes)) {
                wrong = lostRails.told(from, frame);
            } else if (from.takesToken(frame, bytes)) {
                wrong = null;
            } else {
                wrong = itsRails.onFrame(way.rail.index, frame, bytes);
                if (wrong == null) {
                    wrong = from.peer().onFrame(behind, bytes - Rails.HEADER_BYTES);
                }
                departures.freeSlots(from);
            }
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
                Rail rail = message.inbox();
                if (rail != null) {
                    if (!rail.isClosed) {
                        rail.give(message.slot());
                    }
                    message.sender().peer().handled();
                }
            }
            for (int i = 0; i < messages.size(); i++) {
                if (messages.get(i).inbox() != null) {
                    departures.pump(messages.get(i).sender());
                }
            }
            handlers.recycle(messages);
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
        rails.forEach(Rail::closeQueues);
        Readers.join(thread);
        rails.forEach(arrivals::join);
        longMessages.close();
        free();
    }

    private void free() {
        rails.forEach(Rail::closeMemory);
        rails.forEach(Rail::free);
        slots.close();
    }
}
