package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Budget;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Matching;
import verbena.messages.protocol.Outgoing;
import verbena.messages.protocol.Peer;
import verbena.messages.protocol.PeerLimits;
import verbena.messages.rail.Departures;
import verbena.messages.rail.LongMessages;
import verbena.messages.rail.Operations;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Reception;
import verbena.messages.rail.Remote;
import verbena.messages.rail.Threads;
import verbena.messages.rail.Way;
import verbena.messages.rail.WorkerDevices;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;

/// The lock of a worker: what programs ask for, and what has arrived, is carried out here one after the other. All
/// that is below, the devices and the protocol, is reached only from here, and takes no lock. One thread at a time
/// handles what has arrived ([Readers], [Arrivals]).
final class Traffic {
    /// Something to do under the lock.
    ///
    /// @param <T> with what, so that the action can be one for all
    /// @param <X> what it throws
    interface Action<T, X extends Exception> {
        /// Does it.
        void on(T subject) throws X;
    }

    private final ReentrantLock lock = new ReentrantLock();
    /// Something was sent or has come.
    private final Condition moved = lock.newCondition();
    private final WorkerOptions options;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("verbena-messages").unstarted(this::keep);
    final WorkerDevices devices;
    final Budget<Remote> budget;
    final Readers readers;
    /// The outcome of each message that left at once.
    final PendingOperation<Void> sent;
    private final Matching matching;
    private final Departures departures;
    private final Reception reception;
    private final Arrivals arrivals;
    private final Set<Remote> remotes = new LinkedHashSet<>();
    private int peers;
    private boolean isClosing;

    Traffic(List<Context> devices, WorkerOptions options) {
        this.options = options;
        this.matching = new Matching(Budget.leftMax(options.budgetBytes()));
        this.budget = new Budget<>(options.budgetBytes());
        this.devices = new WorkerDevices(devices, options.maxPeers(), options.window(), options.frameBytes(), thread);
        this.departures = new Departures(this.devices.slots);
        this.arrivals = new Arrivals(new Arrived(), this.devices.rails);
        this.readers = new Readers(arrivals);
        this.sent = PendingOperation.done(readers);
        this.reception = new Reception(
                this.devices, departures, readers::heard, ended -> Thread.startVirtualThread(() -> closeIfLost(ended)));
    }

    /// Begins to read.
    ///
    /// @param afterRead runs on the thread that reads, after each read that brought something, without the lock
    void start(Runnable afterRead) {
        arrivals.start(afterRead);
        thread.start();
    }

    private void keep() {
        try {
            readers.keep();
        } catch (InterruptedException e) {
            throw new AssertionError("no program knows this thread", e);
        }
    }

    // ---- what others do under the lock

    /// Does something under the lock.
    <T, X extends Exception> void locked(T subject, Action<T, X> action) throws X {
        lock.lock();
        try {
            action.on(subject);
        } finally {
            lock.unlock();
        }
    }

    private void locked(Runnable what) {
        locked(what, Runnable::run);
    }

    /// Finds something out under the lock.
    <T> T ask(Supplier<T> what) {
        lock.lock();
        try {
            return what.get();
        } finally {
            lock.unlock();
        }
    }

    /// Sends what a peer's protocol has to send. Under the lock.
    void pump(Remote to) {
        assert lock.isHeldByCurrentThread();
        departures.pump(to);
    }

    // ---- peers

    /// Returns a peer that has no connection yet.
    Remote remote(PeerLimits limits) {
        return new Remote(limits, options.frameBytes(), matching, budget, devices.longMessages);
    }

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

    /// Gives the room back: no peer came of it.
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
        assert lock.isHeldByCurrentThread() && now >= 0 && now <= options.maxPeers() : now;
        devices.rails.forEach(each -> each.need(now));
        peers = now;
    }

    /// Adds a connection of a peer, its first or a further one; false when it is not wanted any more.
    boolean join(Remote remote, Rail rail, Connection connection) {
        var way = new Way(rail, connection, remote.rails(), () -> end(remote, rail));
        boolean isJoined = join(remote, way);
        if (isJoined) {
            way.start();
        } else {
            int number = way.number();
            way.close();
            forget(rail, number);
        }
        return isJoined;
    }

    private boolean join(Remote remote, Way way) {
        lock.lock();
        try {
            if (isClosing || way.rail.isClosed || remote.peer().isLost() || !remote.add(way)) {
                return false;
            }
            remotes.add(remote);
            reception.join(remote, way);
            departures.pump(remote);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// Closes a connection that is no peer's.
    void sendAway(Rail rail, Connection connection) {
        int number = connection.queuePair().qpn();
        connection.close();
        forget(rail, number);
    }

    private void forget(Rail rail, int number) {
        locked(() -> reception.numbers(rail).forget(number));
    }

    /// Returns the peers that have a connection.
    List<Remote> remotes() {
        return ask(() -> List.copyOf(remotes));
    }

    /// Fails what is under way with a peer, once, and ends the connection.
    void lose(Remote remote, String why) {
        locked(() -> remote.lose(why));
    }

    /// Ends a peer. What was sent has so long to arrive; what is under way then fails.
    void close(Remote remote, long nanos) {
        try {
            drain(remote, nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closes at once
        }
        remote.ways().all().forEach(Way::interrupt);
        lose(remote, Remote.CLOSED);
        remote.close(() -> remove(remote));
    }

    private void drain(Remote remote, long nanos) throws InterruptedException {
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

    private void closeIfLost(Remote remote) {
        if (ask(remote.peer()::isLost)) {
            remote.close(() -> remove(remote));
        }
    }

    /// Removes a peer after its queue pairs are closed: whatever they have not completed is free.
    private void remove(Remote remote) {
        lock.lock();
        try {
            if (remotes.remove(remote)) {
                remote.ways().all().forEach(each -> reception.numbers(each.rail).remove(each.number(), remote));
                budget.forget(remote);
                countPeers(peers - 1);
                departures.forget(remote);
                moved.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- rails that are lost

    /// Sets who is told of each rail that is lost.
    void onRailLost(Consumer<Remote> listener) {
        reception.lostRails.tell(listener);
    }

    /// Ends a connection. Frames of it may have arrived that no thread has read; so the end comes by the same
    /// queue, behind them.
    private void end(Remote remote, Rail rail) {
        Way way = remote.ways().way(rail.index);
        lock.lock();
        try {
            if (!remote.peer().isLost() && way.isUsable()) {
                way.postEnd();
                return;
            }
        } catch (VerbsException e) {
            loseWay(remote, rail, "device " + rail.index + " of the worker has failed: " + e.getMessage());
        } finally {
            lock.unlock();
        }
        closeIfLost(remote);
    }

    private void loseWay(Remote remote, Rail rail, String why) {
        locked(() -> reception.lostRails.lose(remote, rail.index, why));
    }

    /// Handles a device that has failed, or is given back.
    private void loseRail(Rail rail, String why) {
        locked(() -> rail.isClosed = true);
        peersOf(rail).forEach(each -> loseWay(each, rail, why));
    }

    private List<Remote> peersOf(Rail rail) {
        return ask(() -> reception.numbers(rail).all());
    }

    /// Gives a device back.
    void leave(Rail rail) {
        loseRail(rail, "this side has left its device " + rail.index);
        for (Remote each : peersOf(rail)) {
            Way way = each.ways().way(rail.index);
            way.interrupt();
            way.close();
            locked(() -> reception.numbers(rail).remove(way.number(), each));
        }
        rail.closeQueues();
        arrivals.join(rail);
        locked(() -> devices.longMessages.registrations.loseRail(rail.index));
        rail.closeMemory();
    }

    // ---- messages

    /// Sends a message, at once or when its turn comes.
    void post(Remote to, Outgoing message) {
        lock.lock();
        try {
            to.peer().send(message);
            departures.pump(to);
        } finally {
            lock.unlock();
        }
    }

    /// Sends a message that can leave at once; false when it cannot, and is not sent.
    boolean sendAtOnce(Remote to, Kind kind, long tag, MemorySegment header, MemorySegment data) {
        lock.lock();
        try {
            return departures.sendAtOnce(to, kind, tag, header, data);
        } finally {
            lock.unlock();
        }
    }

    /// Begins an operation when its turn comes.
    void begin(Remote to, Operations.Operation operation) {
        lock.lock();
        try {
            if (to.peer().isLost()) {
                operation.lost(to.peer().whyLost());
            } else {
                to.operations().add(operation);
                departures.pump(to);
            }
        } finally {
            lock.unlock();
        }
    }

    /// Posts a receive.
    void receive(long tag, long mask, @Nullable Remote from, Incoming incoming) {
        lock.lock();
        try {
            Peer peer = matching.receive(tag, mask, from == null ? null : from.peer(), incoming);
            if (peer != null) {
                departures.pump((Remote) peer.owner());
            }
        } finally {
            lock.unlock();
        }
    }

    /// Takes a receive back; false when it has a message already.
    boolean withdraw(Incoming incoming, Runnable withdrawn) {
        lock.lock();
        try {
            boolean isTaken = matching.withdraw(incoming);
            if (isTaken) {
                withdrawn.run();
            }
            return isTaken;
        } finally {
            lock.unlock();
        }
    }

    // ---- memory

    /// Gives memory back that came unasked: more may be read.
    void release(long bytes) {
        lock.lock();
        try {
            budget.release(bytes).forEach(departures::pump);
        } finally {
            lock.unlock();
        }
    }

    /// Allocates memory for messages, until the end. Holds no lock while it is made: that may take long.
    MemorySegment allocate(long bytes) {
        MemoryRegion region = devices.longMessages.allocate(bytes);
        if (region == null) {
            return LongMessages.allocateHere(bytes);
        }
        locked(region, devices.longMessages::add);
        return region.segment();
    }

    /// Returns the counters of [Worker#counters].
    ///
    /// @param activeDropped active messages without a handler
    SortedMap<String, Long> counters(Supplier<Long> activeDropped) {
        lock.lock();
        try {
            var all = new TreeMap<String, Long>();
            all.put("unexpected.messages", (long) matching.unexpectedCount());
            all.put("unexpected.dropped", matching.dropped());
            all.put("requests.bytes", budget.requestBytes());
            all.put("active.dropped", activeDropped.get());
            all.put("rails.lost", reception.lostRails.count());
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
        all.put(name, remotes.stream().map(Remote::peer).mapToLong(of).sum());
    }

    // ---- arrivals

    /// The listener of the threads that read.
    private final class Arrived implements Arrivals.Owner {
        @Override
        public void round(Rail rail, @Nullable WorkCompletion first, WorkCompletion[] batch, int n, boolean areAll) {
            lock.lock();
            try {
                reception.round(rail, first, batch, n, areAll);
                moved.signalAll();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void heard() {
            readers.heard();
        }

        @Override
        public void lost(Rail rail, String why) {
            loseRail(rail, why);
        }

        @Override
        public void over(String why) {
            remotes().forEach(each -> lose(each, why));
            locked(() -> matching.close(why));
        }
    }

    // ---- the end

    /// Takes no more peers. Those that are there are the caller's to close.
    List<Remote> shut() {
        lock.lock();
        try {
            isClosing = true;
            return List.copyOf(remotes);
        } finally {
            lock.unlock();
        }
    }

    /// Closes the rails, after all peers were closed.
    void close() {
        lock.lock();
        try {
            while (peers > 0) { // a connection is being made, and will be refused
                moved.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
        devices.closeQueues();
        Threads.join(thread);
        devices.rails.forEach(arrivals::join);
        devices.close();
    }
}
