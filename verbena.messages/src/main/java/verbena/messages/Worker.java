package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import verbena.messages.protocol.Rails;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Remote;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.TransportType;
import verbena.verbs.cm.Connection;

/// A program's end of all its messages and calls on one device. It has any number of peers ([RemoteWorker]), as
/// many as its options say at once. Its memory does not grow with them, and what they send has a budget. Peers
/// share its protection domain. A peer to which a long message was sent may read its memory later, when that is the
/// worker's own or of an automatic arena; another peer has to guess the key.
///
/// A message goes into the oldest receive that it matches, and a receive takes the oldest message. Messages of
/// one peer match in the order in which they were sent. Safe for use by any thread. A thread that waits moves
/// the frames of all meanwhile; while none waits, a thread of the worker does.
public final class Worker implements AutoCloseable {
    private final List<Context> devices;
    private final WorkerOptions options;
    private final Traffic traffic;
    private final Handlers handlers;
    private final Peers peers;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean isClosed;
    private final Set<SharedMemory> shared = ConcurrentHashMap.newKeySet();

    private Worker(List<Context> devices, WorkerOptions options) {
        if (devices.isEmpty() || devices.size() > Rails.MAX) {
            throw new IllegalArgumentException("devices: 1 to " + Rails.MAX + ", got " + devices.size());
        }
        for (Context each : devices) {
            if (devices.size() > 1 && each.device().transportType() == TransportType.IWARP) {
                throw new IllegalArgumentException(
                        "devices: no iWARP when there are several, because a WRITE that is done"
                                + " there may be lost with its connection, got "
                                + each.device().name());
            }
        }
        this.devices = List.copyOf(devices);
        this.options = options;
        this.traffic = new Traffic(this.devices, options);
        this.handlers = new Handlers(traffic, options.maxCallBytes());
        this.peers = new Peers(traffic, handlers, options);
        traffic.start(handlers::run);
    }

    /// Opens a worker with the default options.
    ///
    /// @param device with shared receive queues and a connection manager; closed after the worker, by the program
    public static Worker open(Context device) {
        return open(device, WorkerOptions.defaults());
    }

    /// Opens a worker.
    ///
    /// @throws verbena.verbs.ResourceLimitException when the device does not have so much; take fewer peers or a
    ///     smaller window
    public static Worker open(Context device, WorkerOptions options) {
        return open(List.of(device), options);
    }

    /// Opens a worker that reaches its peers by several devices, its rails. Long messages, puts and gets go by all
    /// at once. When one is lost, what was under way goes by the others.
    ///
    /// @param devices 1 to 8, the first of which has the short messages; none is iWARP when there are several
    /// @throws verbena.verbs.ResourceLimitException as [#open(Context, WorkerOptions)]
    public static Worker open(List<Context> devices, WorkerOptions options) {
        return new Worker(devices, options);
    }

    /// Returns the traffic, for tests.
    Traffic traffic() {
        return traffic;
    }

    // ---- peers

    /// Connects to the worker that listens at an address, by the first device.
    ///
    /// @throws ConnectionException when no connection is made, or the peer is no worker; says why
    /// @throws verbena.verbs.InvalidStateException when the worker has as many peers as its options say
    public RemoteWorker connect(InetSocketAddress to) throws InterruptedException {
        return connect(List.of(to));
    }

    /// Connects to a worker that listens at several addresses, by as many devices of this worker in their order.
    ///
    /// @param to the addresses of the peer's listener in its order, or the first of them
    /// @throws ConnectionException when one of the connections is not made; says why
    /// @throws verbena.verbs.InvalidStateException as [#connect(InetSocketAddress)]
    public RemoteWorker connect(List<InetSocketAddress> to) throws InterruptedException {
        int count = to.size();
        if (count < 1 || count > devices.size()) {
            throw new IllegalArgumentException("to: 1 to " + devices.size() + " addresses, got " + count);
        }
        if (!traffic.reserve()) {
            throw new InvalidStateException("connect: the worker has " + options.maxPeers()
                    + " peers already (WorkerOptions#withMaxPeers), or is closed");
        }
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(options.timeout());
        RemoteWorker made = null;
        try {
            Rail first = traffic.devices.rails.getFirst();
            Hello ours = Hello.of(options, count);
            Connection connection = Connection.connect(to.getFirst(), peers.connection(first, ours.privateData()));
            Hello theirs = Hello.of(connection.peer().privateData()).orElse(null);
            if (theirs != null && theirs.rails() >= count) {
                RemoteWorker peer = peers.make(theirs, count);
                made = traffic.join(peer.remote(), first, connection) ? peer : null;
            } else {
                traffic.sendAway(first, connection);
            }
            if (made == null) {
                throw new ConnectionException(
                        Reason.FAILED,
                        "connect: what listens at " + to.getFirst()
                                + " is no worker, or has fewer rails, or this one is" + " closed");
            }
        } finally {
            if (made == null) {
                traffic.giveBack();
            }
        }
        joinOthers(made, to, deadline);
        return made;
    }

    private void joinOthers(RemoteWorker made, List<InetSocketAddress> to, long deadline) throws InterruptedException {
        boolean done = false;
        try {
            for (int i = 1; i < to.size(); i++) {
                byte[] token = made.remote().awaitToken(deadline - System.nanoTime());
                Rail rail = traffic.devices.rails.get(i);
                var left = Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
                var options = peers.connection(rail, Hello.join(i, token)).withTimeout(left);
                if (!traffic.join(made.remote(), rail, Connection.connect(to.get(i), options))) {
                    throw new ConnectionException(Reason.FAILED, "connect: the peer was lost before all was made");
                }
            }
            done = true;
        } finally {
            if (!done) {
                made.close();
            }
        }
    }

    /// Listens at a port of the first address that each device has. Close the listener before the worker.
    ///
    /// @param port 0 for any that is free
    /// @throws ConnectionException as [verbena.verbs.cm.ConnectionListener#bind]
    /// @throws IllegalArgumentException when `port` is not 0 to 65535
    public WorkerListener listen(int port) {
        return listen(devices.stream()
                .map(each -> new InetSocketAddress(each.gid(1, 0).gid().address(), port))
                .toList());
    }

    /// Listens at an address of the first device. Close the listener before the worker.
    ///
    /// @param at port 0 for any that is free
    /// @throws ConnectionException as [verbena.verbs.cm.ConnectionListener#bind]
    public WorkerListener listen(InetSocketAddress at) {
        return listen(List.of(at));
    }

    /// Listens at an address of each device, in their order.
    ///
    /// @throws ConnectionException as [#listen(InetSocketAddress)]
    public WorkerListener listen(List<InetSocketAddress> at) {
        if (at.isEmpty() || at.size() > devices.size()) {
            throw new IllegalArgumentException("at: 1 to " + devices.size() + " addresses, got " + at.size());
        }
        return new WorkerListener(peers, options, at);
    }

    /// Sets a listener that is called for each rail that is lost, once. A peer is lost with its last rail, and
    /// everything that is under way with it fails.
    ///
    /// @param listener gets the peer, on a virtual thread
    public void onRailLost(Consumer<RemoteWorker> listener) {
        traffic.onRailLost(lost -> listener.accept(RemoteWorker.of(lost)));
    }

    /// Gives one of several devices back: its rails are lost, and all goes by the others. The program can close it
    /// then.
    ///
    /// @throws IllegalArgumentException when it is none of this worker's, or the last one
    public void leave(Context device) {
        traffic.readers.requireMayWait();
        closing.lock();
        try {
            List<Rail> open = traffic.devices.rails.stream()
                    .filter(each -> !each.isClosed)
                    .toList();
            Rail leaving = open.stream()
                    .filter(each -> each.device == device)
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("device: one of " + this + ", got " + device));
            if (open.size() == 1) {
                throw new IllegalArgumentException("device: not the last one; close the worker in place of that");
            }
            shared.forEach(each -> each.withdraw(leaving.index));
            traffic.leave(leaving);
        } finally {
            closing.unlock();
        }
    }

    // ---- messages

    /// Receives a message of any peer.
    ///
    /// @param into for the message, of any kind. A longer message fills it, and the receive tells so
    public Pending<Received> receive(TagFilter tags, MemorySegment into) {
        return RemoteWorker.receive(traffic, tags, null, into);
    }

    // ---- active messages

    /// Sets the handler for the active messages of a number.
    ///
    /// @param number 0 to 1023
    /// @param handler runs on the thread that reads what arrives: see there what it may do
    public void onActive(int number, ActiveHandler handler) {
        handlers.set(number, handler);
    }

    /// Reads what arrives, on this thread, until a condition is true; false when the time has passed before, or
    /// the worker is closed. With no time it takes what is there. So the thread that waits for a message runs
    /// its handler by itself.
    ///
    /// @param until something that handlers of this worker make true; it is looked at after each arrival, and must
    ///     neither wait nor use the worker
    public boolean await(BooleanSupplier until, Duration timeout) throws InterruptedException {
        return traffic.readers.attend(until, TimeUnit.NANOSECONDS.convert(timeout));
    }

    /// Reads what arrives, on this thread, until a condition is true, without a time limit; false when the worker
    /// is closed. Otherwise as [#await(BooleanSupplier, Duration)].
    public boolean await(BooleanSupplier until) throws InterruptedException {
        return traffic.readers.attend(until, Long.MAX_VALUE);
    }

    // ---- memory

    /// Allocates memory for messages that are longer than a frame: they go fastest from there and into it. Over
    /// `shm` the receiver maps what it reads, and needs neither packets nor the system.
    ///
    /// @param bytes at least 1
    /// @return zeroed memory for all threads. It ends with the worker, and must not be used any more then. No part
    ///     is given back before, so a program allocates once
    /// @throws verbena.verbs.ResourceLimitException when the device does not have so much
    public MemorySegment allocate(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes: at least 1, got " + bytes);
        }
        return traffic.allocate(bytes);
    }

    /// Lets peers use memory by themselves ([RemoteWorker#memory]).
    ///
    /// @param memory native; it stays the program's, which sees at any time what peers write
    /// @param access what peers may do, as `REMOTE_READ`; or [Access#remoteAll()]
    public SharedMemory share(MemorySegment memory, Set<Access> access) {
        return new SharedMemory(memory, traffic.devices.longMessages.share(memory, access), shared);
    }

    // ---- what it holds

    /// Returns counters of the messages that came unasked and of the messages that wait for its peers. Counts of
    /// peers are of the peers that are there now.
    ///
    /// - `unexpected.messages` that no receive waits for, and `unexpected.bytes` of whole ones, with 128 for each
    /// - `unexpected.crowded`: how often peers were asked to offer
    /// - `unexpected.dropped`: messages of lost peers for which there was no room
    /// - `requests.bytes` of requests and active messages here, and `requests.waiting` at their senders
    /// - `offers.held`: messages of this end that wait until a peer takes more offers
    /// - `active.dropped`: active messages without a handler
    /// - `rails.lost`: connections of peers that have others left
    public SortedMap<String, Long> counters() {
        return traffic.counters(handlers::dropped);
    }

    // ---- calls

    /// Sets the handler for calls from any peer. Each call runs on its own virtual thread.
    public void answerCalls(CallHandler by) {
        handlers.answer(by, false);
    }

    /// Sets the handler for calls from any peer, which runs on the thread that reads the arrivals. That saves the
    /// start of a thread, which takes longer than a short call. It is for handlers that return at once, with the
    /// rules of an [ActiveHandler]: they run one at a time, nothing else arrives meanwhile, and they must not wait.
    /// A caller that gives up does not interrupt them.
    public void answerCallsAtOnce(CallHandler by) {
        handlers.answer(by, true);
    }

    // ---- the end

    /// Closes all peers, and gives everything back. What is under way fails. Idempotent.
    @Override
    public void close() {
        traffic.readers.requireMayWait();
        closing.lock();
        try {
            if (isClosed) {
                return;
            }
            isClosed = true;
            List<Remote> left = traffic.shut();
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) { // each waits for its peer
                left.forEach(each -> threads.execute(() -> RemoteWorker.of(each).close()));
            }
            peers.timer.shutdownNow();
            shared.forEach(SharedMemory::close);
            traffic.close();
        } finally {
            closing.unlock();
        }
    }

    @Override
    public String toString() {
        return "worker on " + devices.stream().map(each -> each.device().name()).collect(Collectors.joining(" and "));
    }
}
