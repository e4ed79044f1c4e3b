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
import verbena.verbs.Pending;
import verbena.verbs.TransportType;
import verbena.verbs.cm.Connection;
import verbena.verbs.internal.HostAddresses;
import verbena.verbs.waiting.TimeLimits;

/// A program's end of all its messages and calls on one device or several. It has as many peers ([RemoteWorker]) as
/// its options allow. Its memory does not grow with them, and a budget limits the bytes that they send unasked.
///
/// A message goes into the oldest receive that matches, and a receive takes the oldest message that matches. Messages
/// of one peer match in the order in which they were sent.
///
/// Any thread may use it. A thread that waits reads the arrivals of all meanwhile; while none waits, a thread
/// of the worker does. [#open] makes a worker. The program closes it before its devices. A handler that is set
/// on a closed worker is never called.
///
/// Peers share its protection domain. A peer that was sent a long message may read its memory later, when that is the
/// worker's own or of an automatic arena. Another peer would have to guess the key.
///
/// @since 0.1
public final class Worker implements AutoCloseable {
    private final List<Context> devices;
    private final WorkerOptions options;
    private final Traffic traffic;
    private final Handlers handlers;
    private final Peers peers;
    private final MessageCounters.OfWorker counted;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean isClosed;
    private final Set<WorkerListener> listeners = ConcurrentHashMap.newKeySet();
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
        this.counted = new MessageCounters.OfWorker(
                this::counters, () -> traffic.remotes().size());
        traffic.start(handlers::run);
        MessageCounters.SUMS.add(counted);
    }

    /// Opens a worker with the default options.
    ///
    /// @param device with shared receive queues and a connection manager; the program closes it after the worker
    /// @throws verbena.verbs.ResourceLimitException as [#open(Context, WorkerOptions)]
    public static Worker open(Context device) {
        return open(device, WorkerOptions.defaults());
    }

    /// Opens a worker.
    ///
    /// @throws verbena.verbs.ResourceLimitException when the options ask for more than the device has; take fewer
    ///     peers or a smaller window
    /// @throws verbena.verbs.UnsupportedException when the device has no shared receive queues or no connection
    ///     manager
    public static Worker open(Context device, WorkerOptions options) {
        return open(List.of(device), options);
    }

    /// Opens a worker that reaches its peers by several devices, its rails. Long messages, WRITEs and READs use
    /// all at once. When a rail is lost, its operations continue on the others.
    ///
    /// @param devices 1 to 8; the first carries the short messages, and none is iWARP when there are several
    /// @throws IllegalArgumentException when there are other numbers of devices, or iWARP is among several
    /// @throws verbena.verbs.ResourceLimitException as [#open(Context, WorkerOptions)]
    public static Worker open(List<Context> devices, WorkerOptions options) {
        return new Worker(devices, options);
    }

    /// Returns the traffic, for tests.
    Traffic traffic() {
        return traffic;
    }

    // ---- peers

    /// Connects to the worker that listens at a port of a host, by the first device. When the host has several
    /// addresses, it tries each in turn. Otherwise as [#connect(InetSocketAddress)].
    ///
    /// @param host a name or an address
    public RemoteWorker connect(String host, int port) throws InterruptedException {
        return HostAddresses.tryEach("connect", host, port, this::connect);
    }

    /// Connects to the worker that listens at an address, by the first device. It returns after the other
    /// program has called [WorkerListener#accept()], and waits for that until [WorkerOptions#connectTimeout()] has
    /// passed.
    ///
    /// @throws ConnectionException when no connection is made, or the peer is no worker; the message has the reason
    /// @throws verbena.verbs.InvalidStateException when the worker has as many peers as its options allow, or is
    ///     closed. Lost peers do not count
    public RemoteWorker connect(InetSocketAddress to) throws InterruptedException {
        return connect(List.of(to));
    }

    /// Connects to a worker that listens at several addresses. Address and device of the same index belong
    /// together. It waits for the other program as [#connect(InetSocketAddress)] does.
    ///
    /// @param to the addresses of the peer's listener in its order, or the first of them
    /// @throws ConnectionException when one of the connections is not made; the message has the reason
    /// @throws IllegalArgumentException when there are no addresses, or more than devices
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
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(options.connectTimeout());
        RemoteWorker made = null;
        try {
            Rail first = traffic.devices.rails.getFirst();
            boolean hasHeaders = peers.hasObserver();
            Hello ours = Hello.of(options, count, hasHeaders);
            Connection connection = Connection.connect(to.getFirst(), peers.connection(first, ours.privateData()));
            Hello theirs = Hello.of(connection.peer().privateData()).orElse(null);
            if (theirs != null && theirs.rails() >= count) {
                RemoteWorker peer = peers.make(theirs, count, hasHeaders);
                made = traffic.join(peer.remote, first, connection) ? peer : null;
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
                byte[] token = made.remote.awaitToken(deadline - System.nanoTime());
                Rail rail = traffic.devices.rails.get(i);
                var left = Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
                var options = peers.connection(rail, Hello.join(i, token)).withConnectTimeout(left);
                if (!traffic.join(made.remote, rail, Connection.connect(to.get(i), options))) {
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

    /// Listens at a port on all devices of the worker, at the first address of each.
    ///
    /// @param port 0 for any that is free
    /// @throws ConnectionException as [verbena.verbs.cm.ConnectionListener#bind]
    /// @throws IllegalArgumentException when `port` is not 0 to 65535
    public WorkerListener listen(int port) {
        return listen(devices.stream()
                .map(each -> new InetSocketAddress(each.gid(1, 0).gid().address(), port))
                .toList());
    }

    /// Listens at a port of an address, on the first device only.
    ///
    /// @param host an address, or a name, whose addresses it tries in turn
    /// @param port 0 for any that is free
    /// @throws ConnectionException as [verbena.verbs.cm.ConnectionListener#bind]
    public WorkerListener listen(String host, int port) {
        return HostAddresses.tryEach("listen", host, port, this::listen);
    }

    /// Listens at an address, on the first device only.
    ///
    /// @param at port 0 for any that is free
    /// @throws ConnectionException as [verbena.verbs.cm.ConnectionListener#bind]
    public WorkerListener listen(InetSocketAddress at) {
        return listen(List.of(at));
    }

    /// Listens at an address of each device, in their order.
    ///
    /// @throws ConnectionException as [#listen(InetSocketAddress)]
    /// @throws IllegalArgumentException when there are no addresses, or more than devices
    /// @throws InvalidStateException when the worker is closed
    public WorkerListener listen(List<InetSocketAddress> at) {
        if (at.isEmpty() || at.size() > devices.size()) {
            throw new IllegalArgumentException("at: 1 to " + devices.size() + " addresses, got " + at.size());
        }
        closing.lock();
        try {
            if (isClosed) {
                throw new InvalidStateException("listen: the worker is closed");
            }
            var made = new WorkerListener(peers, options, at, listeners);
            listeners.add(made);
            return made;
        } finally {
            closing.unlock();
        }
    }

    /// Sets the listener for the loss of rails, in place of an earlier one. It is called once for each rail of a
    /// peer that has others left. It is not called for the last or only one: the peer is lost with that, and its
    /// operations fail ([RemoteWorker]).
    ///
    /// @param listener gets the peer, on a virtual thread
    public void onRailLost(Consumer<RemoteWorker> listener) {
        traffic.onRailLost(lost -> listener.accept(RemoteWorker.of(lost)));
    }

    /// Stops the use of one of several devices. Its rails are lost, and all operations use the others. The program
    /// may then close the device.
    ///
    /// @throws IllegalArgumentException when the device is none of this worker's, or the last one
    /// @throws InvalidStateException in an [ActiveHandler], which must not wait
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

    /// Posts a receive for a message of any peer. The call does not wait. The result fails with a
    /// [ConnectionException] when the worker is closed, and with Java's `CancellationException` after
    /// [Pending#cancel()].
    ///
    /// @param into memory of any kind for the message. A longer message fills it, and [Received#isTruncated()] is
    ///     true
    public Pending<Received> postReceive(TagFilter tags, MemorySegment into) {
        return RemoteWorker.postReceive(traffic, tags, null, into);
    }

    // ---- active messages

    /// Sets the handler of the active messages of a number, in place of an earlier one.
    ///
    /// @param number 0 to 1023
    /// @param handler runs on the thread that reads the arrivals; [ActiveHandler] has its rules
    /// @throws IllegalArgumentException when `number` is out of range
    public void onActive(int number, ActiveHandler handler) {
        handlers.set(number, handler);
    }

    /// Reads arrivals on this thread until a condition is true. So the thread that waits for a message also runs
    /// its handler. With [Duration#ZERO] it takes the arrivals that are there.
    ///
    /// @param until a condition that handlers of this worker make true. It is evaluated after each arrival, and
    ///     must neither wait nor use the worker
    /// @return false when the time passed before
    /// @throws InvalidStateException when the worker is closed or its devices have failed, also while waiting;
    ///     and in an [ActiveHandler]
    public boolean await(BooleanSupplier until, Duration timeout) throws InterruptedException {
        return attend(until, TimeUnit.NANOSECONDS.convert(timeout));
    }

    /// Reads arrivals on this thread until a condition is true, without a time limit. Otherwise as
    /// [#await(BooleanSupplier, Duration)].
    public void await(BooleanSupplier until) throws InterruptedException {
        boolean _ = attend(until, TimeLimits.FOREVER);
    }

    private boolean attend(BooleanSupplier until, long nanos) throws InterruptedException {
        boolean isTrue = traffic.readers.attend(until, nanos);
        if (!isTrue && traffic.readers.hasEnded()) {
            throw new InvalidStateException("await: " + this + " is closed, or its devices have failed");
        }
        return isTrue;
    }

    // ---- memory

    /// Allocates memory for messages that are longer than a frame, which are fastest between such memory. Over
    /// `shm` the receiver maps the data, and needs neither packets nor system calls.
    ///
    /// @param bytes at least 1
    /// @return zeroed memory for all threads, valid until the worker is closed. No part of it is freed before, so a
    ///     program allocates once
    /// @throws IllegalArgumentException when `bytes` is less than 1
    /// @throws verbena.verbs.ResourceLimitException when the device does not have so much
    public MemorySegment allocate(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes: at least 1, got " + bytes);
        }
        return traffic.allocate(bytes);
    }

    /// Shares memory with peers for one-sided access ([RemoteWorker#memory]). Over `shm` memory of [#allocate] is
    /// fastest.
    ///
    /// @param memory native; it stays the program's, which sees at any time what peers write
    /// @param access rights of the peers, as `REMOTE_READ`; or [Access#remoteAll()]
    /// @throws IllegalArgumentException when the memory is not native (an array), or confined to one thread
    public SharedMemory share(MemorySegment memory, Set<Access> access) {
        return new SharedMemory(memory, traffic.devices.longMessages.share(memory, access), shared);
    }

    // ---- what it holds

    /// Returns counters of messages that arrived unasked, and of messages that wait for peers. Counters of peers
    /// cover the present peers.
    ///
    /// - `unexpected.messages` that no receive waits for, and `unexpected.bytes` of whole ones, with 128 for each
    /// - `unexpected.crowded`: requests to peers to offer messages before sending them
    /// - `unexpected.dropped`: messages of lost peers for which there was no room
    /// - `requests.bytes` of requests and active messages here, and `requests.waiting` at their senders
    /// - `offers.held`: messages of this end that wait until a peer takes more offers
    /// - `active.dropped`: active messages without a handler
    /// - `rails.lost`: connections of peers that have others left
    public SortedMap<String, Long> counters() {
        return traffic.counters(handlers::dropped);
    }

    // ---- calls

    /// Sets the handler for calls from any peer. Each call runs on its own virtual thread. There is one handler:
    /// this replaces that of an earlier [#answerCalls] or [#answerCallsAtOnce]. Without one, each call fails.
    public void answerCalls(CallHandler by) {
        handlers.answer(by, false);
    }

    /// Sets the handler for calls from any peer, which runs on the thread that reads the arrivals. That saves the
    /// start of a thread, which takes longer than a short call. It replaces an earlier handler, of either kind.
    ///
    /// The handler must return at once, and the rules of an [ActiveHandler] hold: handlers run one at a time,
    /// nothing else arrives meanwhile, and they must not wait. A caller that gives up does not interrupt them.
    public void answerCallsAtOnce(CallHandler by) {
        handlers.answer(by, true);
    }

    /// Sets an observer of the calls to and from peers, which may send a header with each. It sees the calls of
    /// peers that [#connect] or [#listen] makes from now on.
    public void observeCalls(CallObserver by) {
        peers.observe(by);
    }

    // ---- the end

    /// Closes all listeners and peers, and frees all memory of the worker, that of [#allocate] included. Outstanding
    /// operations fail. Idempotent.
    ///
    /// @throws InvalidStateException in an [ActiveHandler]
    @Override
    public void close() {
        traffic.readers.requireMayWait();
        closing.lock();
        try {
            if (isClosed) {
                return;
            }
            isClosed = true;
            List.copyOf(listeners).forEach(WorkerListener::close);
            List<Remote> left = traffic.shut();
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) { // each waits for its peer
                left.forEach(each -> threads.execute(() -> RemoteWorker.of(each).close()));
            }
            peers.timer.shutdownNow();
            shared.forEach(SharedMemory::close);
            MessageCounters.SUMS.remove(counted);
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
