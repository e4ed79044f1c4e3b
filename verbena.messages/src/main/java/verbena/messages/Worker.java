package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Peer;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.Connection;

/// A program's end of all its messages and calls on one device. It has any number of peers ([RemoteWorker]), as
/// many as its options say at once. Its memory does not grow with them, and what they send has a budget. Peers
/// share its protection domain: a long message can be read by a peer that guesses its key while it is under
/// way.
///
/// A message goes into the oldest receive that it matches, and a receive takes the oldest message. Messages of
/// one peer match in the order in which they were sent. Safe for use by any thread. A thread that waits moves
/// the frames of all meanwhile; while none waits, a virtual thread does.
public final class Worker implements AutoCloseable {
    /// A mask for which each tag matches.
    public static final long ANY_TAG = 0;
    /// A mask for which a tag matches itself only.
    public static final long EXACT = -1;

    private final Context device;
    private final WorkerOptions options;
    private final Traffic traffic;
    private final ScheduledThreadPoolExecutor timer;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean isClosed;
    private final Set<SharedMemory> shared = ConcurrentHashMap.newKeySet();
    private volatile CallHandler handler = _ -> {
        throw new UnsupportedOperationException("no handler for calls");
    };

    private Worker(Context device, WorkerOptions options) {
        this.device = device;
        this.options = options;
        this.traffic = new Traffic(device, options);
        this.timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("verbena-time-limits").factory());
        timer.setRemoveOnCancelPolicy(true);
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
        return new Worker(device, options);
    }

    ScheduledThreadPoolExecutor timer() {
        return timer;
    }

    CallHandler handler() {
        return handler;
    }

    Traffic traffic() {
        return traffic;
    }

    // ---- peers

    /// Connects to the worker that listens at an address.
    ///
    /// @throws ConnectionException when no connection is made, or the peer is no worker; says why
    /// @throws verbena.verbs.InvalidStateException when the worker has as many peers as its options say
    public RemoteWorker connect(InetSocketAddress to) throws InterruptedException {
        if (!traffic.reserve()) {
            throw new InvalidStateException("connect: the worker has " + options.maxPeers()
                    + " peers already (WorkerOptions#withPeers), or is closed");
        }
        RemoteWorker made = null;
        try {
            made = adopt(Connection.connect(to, traffic.connection()));
            if (made == null) {
                throw new ConnectionException(
                        Reason.FAILED, "connect: what listens at " + to + " is no worker, or this one is closed");
            }
            return made;
        } finally {
            if (made == null) {
                traffic.giveBack();
            }
        }
    }

    /// Listens at an address of the device. Close the listener before the worker.
    ///
    /// @param at port 0 for any that is free
    /// @throws ConnectionException as [verbena.verbs.cm.ConnectionListener#bind]
    public WorkerListener listen(InetSocketAddress at) {
        return new WorkerListener(this, at);
    }

    /// Null when the other end is no worker, or this one is being closed.
    @Nullable
    RemoteWorker adopt(Connection connection) {
        Hello hello = Hello.of(connection.peer().privateData()).orElse(null);
        if (hello != null) {
            var remote = new RemoteWorker(this, traffic, connection, hello, options);
            if (remote.start()) {
                return remote;
            }
        }
        sendAway(connection);
        return null;
    }

    void sendAway(Connection connection) {
        int number = connection.queuePair().qpn();
        connection.close();
        traffic.forget(number);
    }

    // ---- messages

    /// Receives a message of any peer.
    ///
    /// @param tag what the message's tag has to be
    /// @param mask the bits of the tag that count: [#EXACT], [#ANY_TAG] or some
    /// @param into for the message, of any kind. A longer message fills it, and the receive tells so
    public Pending<Received> receive(long tag, long mask, MemorySegment into) {
        return receive(tag, mask, null, into);
    }

    Pending<Received> receive(long tag, long mask, @Nullable RemoteWorker from, MemorySegment into) {
        traffic.longMessages.requireWritable("into", into);
        var pending = new Pending<Received>(traffic.readers);
        var incoming = new Incoming() {
            @Override
            public MemorySegment memory() {
                return into;
            }

            @Override
            public void done(Peer peer, long itsTag, long length) {
                pending.complete(new Received(RemoteWorker.of(peer), itsTag, length, length > into.byteSize()));
            }

            @Override
            public void failed(String why) {
                pending.fail(new ConnectionException(Reason.DISCONNECTED, "receive: " + why));
            }
        };
        pending.withdrawnBy(() -> {
            traffic.lock.lock();
            try {
                boolean isTaken = traffic.matching.withdraw(incoming);
                if (isTaken) {
                    pending.cancelled();
                }
                return isTaken;
            } finally {
                traffic.lock.unlock();
            }
        });
        traffic.receive(tag, mask, from, incoming);
        return pending;
    }

    // ---- active messages

    /// Has the active messages of a number handled from now on.
    ///
    /// @param number 0 to 1023
    /// @param handler runs on the thread that reads what arrives: see there what it may do
    public void onActive(int number, ActiveHandler handler) {
        traffic.handlers.set(number, handler);
    }

    /// Reads what arrives, on this thread, until a condition is true; false when the time has passed before, or
    /// the worker is closed. With no time it takes what is there. So the thread that waits for a message runs
    /// its handler by itself.
    ///
    /// @param until something that handlers of this worker make true; it is looked at after each arrival, and must
    ///     neither wait nor use the worker
    public boolean await(BooleanSupplier until, Duration timeout) throws InterruptedException {
        return traffic.readers.attend(until, timeout.toNanos());
    }

    // ---- memory for peers

    /// Lets peers use memory by themselves ([RemoteWorker#memory]).
    ///
    /// @param memory native; it stays the program's, which sees at any time what peers write
    /// @param access what peers may do, as `REMOTE_READ`; or [Access#remoteAll()]
    public SharedMemory share(MemorySegment memory, Set<Access> access) {
        return new SharedMemory(traffic.longMessages.share(memory, access), shared);
    }

    // ---- what it holds

    /// What it holds that came unasked, and what waits for its peers. Counts of peers are of those that are there now.
    ///
    /// - `unexpected.messages` that no receive waits for, and `unexpected.bytes` of whole ones, with 128 for each
    /// - `unexpected.crowded`: how often peers were asked to offer
    /// - `unexpected.dropped`: messages of lost peers for which there was no room
    /// - `requests.bytes` of requests and active messages here, and `requests.waiting` at their senders
    /// - `offers.held`: messages of this end that wait until a peer takes more offers
    /// - `active.dropped`: active messages without a handler
    public SortedMap<String, Long> counters() {
        return traffic.counters();
    }

    // ---- calls

    /// Has the calls of all peers answered from now on.
    public void answerCalls(CallHandler by) {
        handler = by;
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
            traffic.shut();
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) { // each waits for its peer
                traffic.remotes().forEach(each -> threads.execute(each::close));
            }
            timer.shutdownNow();
            shared.forEach(SharedMemory::close);
            traffic.close();
        } finally {
            closing.unlock();
        }
    }

    @Override
    public String toString() {
        return "worker on " + device.device().name();
    }
}
