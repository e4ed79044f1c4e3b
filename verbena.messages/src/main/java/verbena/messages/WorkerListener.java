package verbena.messages;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Threads;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.WaitSource;
import verbena.verbs.Waitable;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.waiting.TimeLimits;

/// A listener for the peers of a [Worker], at a port of one device or of several. Any thread may accept, and several
/// at once. A [verbena.verbs.Waiter] waits for peers together with other sources.
///
/// A worker on one device has no thread that accepts: until a thread is in [#accept()], peers wait in
/// [Worker#connect], for as long as their options allow.
///
/// [Worker#listen] opens it. The program closes it, and the peers that it gave out stay. A worker that is closed closes
/// its listeners.
///
/// @since 0.1
public final class WorkerListener implements AutoCloseable, Waitable {
    private final Peers peers;
    private final Traffic traffic;
    private final WorkerOptions options;
    private final boolean hasHeaders;
    private final List<ConnectionListener> listeners = new ArrayList<>();
    /// The open listeners of the worker, from which this one takes itself out.
    private final Set<WorkerListener> open;

    // With several devices: a thread for each, and the peers whose rails are not all there.
    private final SecureRandom random = new SecureRandom();
    private final List<Thread> threads = new ArrayList<>();
    private final Map<String, RemoteWorker> joining = new ConcurrentHashMap<>();
    /// Empty when the listener is closed.
    private final LinkedBlockingQueue<Optional<RemoteWorker>> ready = new LinkedBlockingQueue<>();
    private final List<Runnable> waiters = new CopyOnWriteArrayList<>();
    /// The side for a waiter. The threads attend to the devices.
    private final WaitSource ofThreads = WaitSource.of(waiters, this::hasEnded);

    WorkerListener(Peers peers, WorkerOptions options, List<InetSocketAddress> at, Set<WorkerListener> open) {
        this.peers = peers;
        this.open = open;
        this.traffic = peers.traffic;
        this.options = options;
        this.hasHeaders = peers.hasObserver();
        var hello = Hello.of(options, at.size(), hasHeaders).privateData();
        boolean done = false;
        try {
            for (int i = 0; i < at.size(); i++) {
                Rail rail = traffic.devices.rails.get(i);
                listeners.add(ConnectionListener.bind(at.get(i), peers.connection(rail, hello)));
            }
            done = true;
        } finally {
            if (!done) {
                listeners.forEach(ConnectionListener::close);
            }
        }
        if (at.size() > 1) {
            for (int i = 0; i < at.size(); i++) {
                int rail = i;
                threads.add(Thread.ofVirtual().name("verbena-listener").start(() -> run(rail)));
            }
        }
    }

    /// Returns the address of the first device.
    public InetSocketAddress localAddress() {
        return listeners.getFirst().localAddress();
    }

    /// Returns the addresses of all devices, for [Worker#connect(List)].
    public List<InetSocketAddress> localAddresses() {
        return listeners.stream().map(ConnectionListener::localAddress).toList();
    }

    /// Waits for a peer. It refuses connections that are not a worker's, and peers for which the worker has no
    /// room ([WorkerOptions#maxPeers()]). Lost peers take no room, also those that the program has not closed.
    ///
    /// @throws ConnectionException when the listener is closed, also while waiting, or its device fails
    public RemoteWorker accept() throws InterruptedException {
        while (true) {
            Optional<RemoteWorker> next = accept(TimeLimits.FOREVER);
            if (next.isPresent()) {
                return next.get();
            }
        }
    }

    /// Waits for a peer; empty when `timeout` passed. With [Duration#ZERO] it does not wait, as [#poll()].
    /// Connections that are refused do not end the wait.
    ///
    /// @throws ConnectionException as [#accept()]
    public Optional<RemoteWorker> accept(Duration timeout) throws InterruptedException {
        return accept(TimeLimits.nanos(timeout));
    }

    private Optional<RemoteWorker> accept(long nanos) throws InterruptedException {
        if (!threads.isEmpty()) {
            Optional<RemoteWorker> next = ready.poll(nanos, TimeUnit.NANOSECONDS);
            return next == null ? Optional.empty() : taken("accept", next);
        }
        long start = System.nanoTime();
        return take(() -> listeners.getFirst().accept(Duration.ofNanos(TimeLimits.left(nanos, start))));
    }

    /// Takes a peer if one is ready; empty otherwise. Never waits. It may return empty although the listener was
    /// ready: a peer is then on its way, or was refused.
    ///
    /// @throws ConnectionException when the listener is closed, or its device fails
    public Optional<RemoteWorker> poll() {
        if (!threads.isEmpty()) {
            Optional<RemoteWorker> next = ready.poll();
            return next == null ? Optional.empty() : taken("poll", next);
        }
        return take(listeners.getFirst()::poll);
    }

    /// The connections to take.
    private interface Connections<X extends Exception> {
        /// Returns the next connection; empty when there is none.
        Optional<Connection> next() throws X;
    }

    /// Takes connections of the first device until one makes a peer; empty when there are none left.
    private <X extends Exception> Optional<RemoteWorker> take(Connections<X> connections) throws X {
        while (true) {
            Optional<Connection> connection = connections.next();
            if (connection.isEmpty()) {
                return Optional.empty();
            }
            RemoteWorker made = adopt(connection.get());
            if (made != null) {
                return Optional.of(made);
            }
        }
    }

    /// Returns the peer that was ready.
    private Optional<RemoteWorker> taken(String verb, Optional<RemoteWorker> next) {
        if (next.isEmpty()) {
            ready.add(next); // for other threads, too
            throw new ConnectionException(Reason.CLOSED, verb + ": the listener is closed");
        }
        return next;
    }

    /// Makes a peer of a connection of the first device; null when it was sent away, or has rails to come.
    private @Nullable RemoteWorker adopt(Connection connection) {
        Rail first = traffic.devices.rails.getFirst();
        Hello hello = Hello.of(connection.peer().privateData()).orElse(null);
        if (hello == null || hello.rails() > listeners.size() || !traffic.reserve()) {
            traffic.sendAway(first, connection);
            return null;
        }
        boolean isMade = false;
        try {
            RemoteWorker made = peers.make(hello, hello.rails(), hasHeaders);
            if (hello.rails() > 1) {
                expect(made); // before the peer has the token
            }
            isMade = traffic.join(made.remote, first, connection);
            return isMade && hello.rails() == 1 ? made : null;
        } finally {
            if (!isMade) {
                traffic.giveBack();
            }
        }
    }

    // ---- several devices

    /// Accepts the connections of a device until the listener is closed.
    private void run(int index) {
        try {
            while (true) {
                take(index, listeners.get(index).accept());
            }
        } catch (ConnectionException | InterruptedException e) { // nothing interrupts it
            if (index == 0) {
                give(Optional.empty());
            }
        }
    }

    private void give(Optional<RemoteWorker> next) {
        ready.add(next);
        waiters.forEach(Runnable::run);
    }

    private void take(int index, Connection connection) {
        Rail rail = traffic.devices.rails.get(index);
        try {
            if (index > 0) {
                join(rail, connection);
                return;
            }
            RemoteWorker made = adopt(connection);
            if (made != null) {
                give(Optional.of(made));
            }
        } catch (RuntimeException e) { // the device has no room for one more, or fails: others are accepted
            traffic.sendAway(rail, connection);
        }
    }

    /// Expects the further rails of a peer, which has as long for them as one connection may take. The peer is
    /// closed after that, so that a peer which stays away, or was lost on the way, keeps no room.
    private void expect(RemoteWorker peer) {
        byte[] bytes = new byte[Rails.TOKEN_BYTES];
        random.nextBytes(bytes);
        peer.remote.setToken(bytes);
        String token = HexFormat.of().formatHex(bytes);
        joining.put(token, peer);
        long nanos = TimeUnit.NANOSECONDS.convert(options.connectTimeout());
        var _ = peers.timer.schedule(() -> giveUp(token), nanos, TimeUnit.NANOSECONDS);
    }

    private void giveUp(String token) {
        RemoteWorker peer = joining.remove(token);
        if (peer != null) {
            Thread.startVirtualThread(peer::close);
        }
    }

    /// Adds a further connection to a peer.
    private void join(Rail rail, Connection connection) {
        Hello.Join hello = Hello.join(connection.peer().privateData()).orElse(null);
        if (hello == null || hello.rail() != rail.index) {
            traffic.sendAway(rail, connection);
            return;
        }
        RemoteWorker peer = joining.get(hello.token());
        if (peer == null) {
            traffic.sendAway(rail, connection);
        } else if (traffic.join(peer.remote, rail, connection)
                && traffic.ask(peer.remote.rails()::areAllJoined)
                && joining.remove(hello.token()) != null) {
            give(Optional.of(peer));
        }
    }

    // ---- for a waiter

    /// Returns whether [#poll()] has something to do. It may still return empty: a peer may be on its way.
    @Override
    public boolean isReady() {
        return threads.isEmpty() ? listeners.getFirst().isReady() : !ready.isEmpty();
    }

    /// Returns whether the threads have given all that they will give.
    private boolean hasEnded() {
        Optional<RemoteWorker> next = ready.peek();
        return next != null && next.isEmpty();
    }

    @Override
    public WaitSource waitSource() {
        return threads.isEmpty() ? listeners.getFirst().waitSource() : ofThreads;
    }

    // ---- the end

    /// Stops listening; peers stay. Threads in [#accept()] get a [ConnectionException]. Idempotent.
    @Override
    public void close() {
        open.remove(this);
        listeners.forEach(ConnectionListener::close);
        threads.forEach(Threads::join);
        try (var closing = Executors.newVirtualThreadPerTaskExecutor()) { // each waits for its peer
            joining.values().forEach(each -> closing.execute(each::close));
        }
    }

    @Override
    public String toString() {
        return "worker's " + listeners.getFirst();
    }
}
