package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Outgoing;
import verbena.messages.protocol.Peer;
import verbena.messages.protocol.PeerOwner;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;

/// A peer of a [Worker]. Messages to it leave in the order in which they were sent, and arrive once.
///
/// When the peer is lost, all that is under way with it fails with a [ConnectionException], and so does all
/// that is asked for later. Messages of it that have arrived whole can still be received. Safe for use by any
/// thread.
public final class RemoteWorker implements AutoCloseable {
    private static final long FAREWELL_NANOS = 1_000_000_000;

    private final Worker worker;
    private final Traffic traffic;
    private final Connection connection;
    private final Peer peer;
    private final long maxActiveBytes;
    private final Calls calls;
    private final Operations operations;
    private final Thread watcher;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean isClosed;

    // Under the lock of the traffic.
    private final Map<Integer, MemoryRegion> exposed = new HashMap<>();
    /// Frames that are under way.
    int sending;

    int readings;
    /// Whether the round of completions has touched it.
    boolean isTouched;

    RemoteWorker(Worker worker, Traffic traffic, Connection connection, Hello theirs, WorkerOptions ours) {
        this.worker = worker;
        this.traffic = traffic;
        this.connection = connection;
        this.calls = new Calls(this, worker, traffic, ours);
        this.operations = new Operations(this, traffic, ours);
        this.maxActiveBytes = theirs.requestBytes();
        this.peer = new Peer(new Owner(), traffic.matching, theirs.limits(ours));
        this.watcher = Thread.ofVirtual().name("verbena-peer").unstarted(this::watch);
    }

    /// What the protocol asks for.
    private final class Owner implements PeerOwner {
        private RemoteWorker remote() {
            return RemoteWorker.this;
        }

        @Override
        public Optional<Incoming> incoming(Peer from, Kind kind, long tag, long length) {
            return calls.incoming(kind, tag, length);
        }

        @Override
        public boolean active(Peer from, int handler, MemorySegment frame, int at, int headerBytes, long dataBytes) {
            return traffic.handlers.arrived(RemoteWorker.this, handler, frame, at, headerBytes, dataBytes);
        }

        @Override
        public Optional<Incoming> active(Peer from, int handler, byte[] header, long length) {
            return traffic.handlers.offered(RemoteWorker.this, handler, header, length);
        }

        @Override
        public boolean admits(Peer from, long length) {
            return traffic.budget.admits(RemoteWorker.this, length);
        }

        @Override
        public RemoteMemory expose(Peer to, int offer, MemorySegment data) {
            MemoryRegion region = traffic.longMessages.expose(data);
            exposed.put(offer, region);
            return region.remote();
        }

        @Override
        public void withdraw(Peer to, int offer) {
            MemoryRegion region = exposed.remove(offer);
            if (region != null) {
                region.close();
            }
        }
    }

    static RemoteWorker of(Peer peer) {
        return ((Owner) peer.owner()).remote();
    }

    /// False when the worker is being closed.
    boolean start() {
        boolean isAdded = traffic.add(this);
        if (isAdded) {
            watcher.start();
        }
        return isAdded;
    }

    /// Takes events until the connection has ended.
    private void watch() {
        try {
            while (connection.id().state() == verbena.verbs.cm.ConnectionId.State.CONNECTED) {
                connection.id().channel().await(Duration.ofDays(36_500));
            }
        } catch (InterruptedException e) {
            return; // it is being closed
        } catch (InvalidStateException e) {
            // closed
        }
        traffic.lose(this, "the peer has left, or is gone");
        release();
    }

    Connection connection() {
        return connection;
    }

    Peer peer() {
        return peer;
    }

    Calls calls() {
        return calls;
    }

    Operations operations() {
        return operations;
    }

    /// Whether nothing is under way to it. Under the lock.
    boolean isIdle() {
        return peer.isIdle() && operations.isIdle() && sending == 0;
    }

    int number() {
        return connection.queuePair().qpn();
    }

    // ---- by the program

    public InetSocketAddress localAddress() {
        return connection.localAddress();
    }

    public InetSocketAddress peerAddress() {
        return connection.peerAddress();
    }

    /// Whether the peer is lost, or this is closed.
    public boolean isLost() {
        traffic.lock.lock();
        try {
            return peer.isLost();
        } finally {
            traffic.lock.unlock();
        }
    }

    /// Sends a message. It is done when the memory is the program's again: a message that fits into a frame
    /// soon, a longer one when the peer has read it.
    ///
    /// @param tag by which the peer receives it
    /// @param data of any kind; memory that is no array's and belongs to no single thread is not copied when it is
    ///     long
    public Pending<Void> send(long tag, MemorySegment data) {
        var pending = new Pending<Void>(traffic.readers);
        post(new Outgoing(Kind.TAGGED, tag, forAllThreads(data)) {
            @Override
            @SuppressWarnings("NullAway") // a Void has no other value
            public void done() {
                pending.complete(null);
            }

            @Override
            public void failed(String why) {
                pending.fail(lost("send", why));
            }
        });
        return pending;
    }

    /// Sends an array.
    public Pending<Void> send(long tag, byte[] data) {
        return send(tag, MemorySegment.ofArray(data));
    }

    /// Sends text in UTF-8.
    public Pending<Void> send(long tag, String text) {
        return send(tag, text.getBytes(StandardCharsets.UTF_8));
    }

    /// Sends an active message: the peer's [ActiveHandler] of a number gets it. Done as [#send(long,
    /// MemorySegment)] is. Messages that fit into a frame are handled in the order in which they were sent;
    /// longer ones when they are read.
    ///
    /// @param number of the handler; a peer that has none drops the message, and counts it
    /// @param header copied at once; of at most [#maxHeaderBytes()] bytes
    /// @param data of at most [#maxActiveBytes()]
    public Pending<Void> sendActive(int number, MemorySegment header, MemorySegment data) {
        requireActive(number, header, data);
        var pending = new Pending<Void>(traffic.readers);
        post(new Outgoing(number, bytes(header), forAllThreads(data)) {
            @Override
            @SuppressWarnings("NullAway") // a Void has no other value
            public void done() {
                pending.complete(null);
            }

            @Override
            public void failed(String why) {
                pending.fail(lost("send", why));
            }
        });
        return pending;
    }

    /// Sends an active message when it can leave at once; its memory is the program's again when this returns.
    /// It makes no object. False when the message is too long for a frame, or has to wait for others or for the
    /// peer, or when the peer is lost: then it is not sent, and [#sendActive] can take it.
    public boolean trySendActive(int number, MemorySegment header, MemorySegment data) {
        requireActive(number, header, data);
        traffic.lock.lock();
        try {
            int slot = traffic.slots.peek();
            if (slot < 0 || sending >= Traffic.SENDS) {
                return false;
            }
            int bytes = peer.pollActive(traffic.slots.toSend(slot), number, header, data);
            if (bytes > 0) {
                traffic.slots.send(this, Traffic.SEND | slot, slot, bytes);
            }
            return bytes > 0;
        } catch (VerbsException e) {
            traffic.lose(this, String.valueOf(e.getMessage()));
            return false;
        } finally {
            traffic.lock.unlock();
        }
    }

    private void requireActive(int number, MemorySegment header, MemorySegment data) {
        if (number < 0 || number >= Handlers.NUMBERS) {
            throw new IllegalArgumentException("number: 0 to " + (Handlers.NUMBERS - 1) + ", got " + number);
        }
        if (header.byteSize() > maxHeaderBytes()) {
            throw new IllegalArgumentException(
                    "header: at most " + maxHeaderBytes() + " bytes, got " + header.byteSize());
        }
        if (data.byteSize() > maxActiveBytes()) {
            throw new IllegalArgumentException("data: at most " + maxActiveBytes() + " bytes, got " + data.byteSize());
        }
    }

    /// The longest header of an active message to this peer.
    public int maxHeaderBytes() {
        return peer.headerBytesMax();
    }

    /// The longest data of an active message to this peer: as long as its requests
    /// ([WorkerOptions#maxCallBytes]).
    public long maxActiveBytes() {
        return maxActiveBytes;
    }

    /// Receives a message of this peer; else as [Worker#receive(long, long, MemorySegment)].
    public Pending<Received> receive(long tag, long mask, MemorySegment into) {
        return worker.receive(tag, mask, this, into);
    }

    /// Calls the peer's [CallHandler]. Waits while as many calls are under way as the options say.
    ///
    /// @param request as in [#send(long, MemorySegment)]
    /// @param timeLimit after which the call fails; zero for none
    public Pending<byte[]> callAsync(MemorySegment request, Duration timeLimit) throws InterruptedException {
        return calls.begin(request, timeLimit);
    }

    /// Calls the peer's [CallHandler], and has its answer put into memory of the program.
    ///
    /// @param into for the answer; a longer one fills it
    /// @return gives the length of the answer
    public Pending<Long> callAsync(MemorySegment request, MemorySegment into, Duration timeLimit)
            throws InterruptedException {
        return calls.begin(request, into, timeLimit);
    }

    /// Calls the peer's [CallHandler] and waits for its answer.
    ///
    /// @throws CallException when it has none
    /// @throws ConnectionException when the peer is lost
    public byte[] call(byte[] request, Duration timeLimit) throws InterruptedException {
        return callAsync(MemorySegment.ofArray(request), timeLimit).await();
    }

    /// Calls with text, and gets text.
    public String call(String request, Duration timeLimit) throws InterruptedException {
        return new String(call(request.getBytes(StandardCharsets.UTF_8), timeLimit), StandardCharsets.UTF_8);
    }

    /// Memory that the peer shares ([Worker#share]).
    ///
    /// @param token from the peer, by a message or in any other way
    public PeerMemory memory(byte[] token) {
        return new PeerMemory(operations, SharedMemory.of(token));
    }

    // ---- within

    void post(Outgoing message) {
        traffic.lock.lock();
        try {
            peer.send(message);
            traffic.pump(this);
        } finally {
            traffic.lock.unlock();
        }
    }

    ConnectionException lost(String verb, String why) {
        return new ConnectionException(Reason.DISCONNECTED, verb + ": " + this + ": " + why);
    }

    /// The same memory, or a copy when it belongs to one thread.
    MemorySegment forAllThreads(MemorySegment data) {
        return traffic.longMessages.isForAllThreads(data) ? data : MemorySegment.ofArray(bytes(data));
    }

    static byte[] bytes(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    // ---- the end

    /// Ends it. What was sent has up to a second to arrive; what is under way then fails. Idempotent.
    @Override
    public void close() {
        traffic.readers.requireMayWait();
        try {
            traffic.drain(this, FAREWELL_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closes at once
        }
        watcher.interrupt();
        Readers.join(watcher);
        traffic.lose(this, "this side has closed it");
        release();
    }

    private void release() {
        closing.lock();
        try {
            if (!isClosed) {
                isClosed = true;
                connection.close();
                traffic.remove(this);
            }
        } finally {
            closing.unlock();
        }
    }

    @Override
    public String toString() {
        return "remote worker, by a " + connection;
    }
}
