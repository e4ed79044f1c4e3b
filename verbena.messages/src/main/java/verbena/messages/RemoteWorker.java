package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Outgoing;
import verbena.messages.protocol.Peer;
import verbena.messages.protocol.PeerLimits;
import verbena.messages.protocol.PeerOwner;
import verbena.messages.protocol.Rails;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.RemoteMemory;
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
    private final Peer peer;
    private final Rails rails;
    private final @Nullable Way[] ways;
    private final Transfers transfers;
    private final long maxActiveBytes;
    private final Calls calls;
    private final Operations operations;
    /// Of the two, by which further rails join.
    private final CompletableFuture<byte[]> token = new CompletableFuture<>();

    private final ReentrantLock closing = new ReentrantLock();
    private boolean isClosed;

    // Under the lock of the traffic.
    private final Map<Integer, LongMessages.Exposed> exposed = new HashMap<>();
    /// Messages of it that are being read.
    int readings;
    /// Whether the round of completions has touched it.
    boolean isTouched;

    /// @param count of the rails
    RemoteWorker(Worker worker, Traffic traffic, Hello theirs, WorkerOptions ours, int count) {
        this.worker = worker;
        this.traffic = traffic;
        PeerLimits limits = theirs.limits(ours, count);
        this.rails = new Rails(count, limits.window(), Departures.SENDS);
        this.ways = new Way[count];
        this.transfers = new Transfers(this, traffic.longMessages);
        this.peer = new Peer(new Owner(), traffic.matching, limits);
        this.calls = new Calls(this, worker, traffic, ours, Math.min(theirs.calls(), ours.maxCalls()));
        this.operations = new Operations(this, traffic, ours);
        this.maxActiveBytes = theirs.requestBytes();
    }

    /// What the protocol asks for.
    private final class Owner implements PeerOwner {
        private RemoteWorker remote() {
            return RemoteWorker.this;
        }

        @Override
        public Optional<Incoming> incoming(Kind kind, long tag, long length) {
            return calls.incoming(kind, tag, length);
        }

        @Override
        public boolean active(int handler, MemorySegment frame, int at, int headerBytes, long dataBytes) {
            return traffic.handlers.arrived(RemoteWorker.this, handler, frame, at, headerBytes, dataBytes);
        }

        @Override
        public Optional<Incoming> active(int handler, byte[] header, long length) {
            return traffic.handlers.offered(RemoteWorker.this, handler, header, length);
        }

        @Override
        public boolean admits(long length) {
            return traffic.budget.admits(RemoteWorker.this, length);
        }

        @Override
        public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
            LongMessages.Exposed memory = traffic.longMessages.expose(RemoteWorker.this, data, mayChange);
            exposed.put(offer, memory);
            return memory.registered().remote(memory.message(), rails.count());
        }

        @Override
        public void withdraw(int offer, boolean isRead) {
            LongMessages.Exposed memory = exposed.remove(offer);
            if (memory != null) {
                traffic.longMessages.registrations.end(memory.registered(), isRead && !memory.isCopied());
            }
        }
    }

    static RemoteWorker of(PeerOwner owner) {
        return ((Owner) owner).remote();
    }

    // ---- rails

    /// Adds a connection: the first one, or a further one. False when it is not wanted any more.
    boolean join(Rail rail, Connection connection) {
        var way = new Way(this, traffic, rail, connection);
        boolean isJoined = traffic.join(way);
        if (isJoined) {
            way.start();
        } else {
            int number = way.number();
            way.close();
            traffic.forget(rail, number);
        }
        return isJoined;
    }

    /// False when there is one already. Under the lock.
    boolean add(Way way) {
        int rail = way.rail.index;
        if (rail >= ways.length || ways[rail] != null) {
            return false;
        }
        ways[rail] = way;
        rails.join(rail);
        if (rail == 0 && token.isDone()) {
            way.tell(token.join()); // before all others
            way.submit();
        }
        return rails.isUsable(rail);
    }

    boolean areAllJoined() {
        traffic.lock.lock();
        try {
            return rails.areAllJoined();
        } finally {
            traffic.lock.unlock();
        }
    }

    /// The token is this end's, and goes with the first frame.
    void setToken(byte[] ours) {
        token.complete(ours);
    }

    /// Whether a frame is the peer's token.
    boolean takesToken(MemorySegment frame, long bytes) {
        byte[] theirs = Rails.token(frame, bytes);
        if (theirs != null) {
            token.complete(theirs);
        }
        return theirs != null;
    }

    /// Waits for the peer's token.
    byte[] awaitToken(long nanos) throws InterruptedException {
        try {
            return token.get(nanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new ConnectionException(
                    Reason.FAILED, "connect: the peer has not told how to join its other rails", e);
        }
    }

    Rails rails() {
        return rails;
    }

    /// Its connection over a rail that was joined.
    Way way(int rail) {
        Way way = ways[rail];
        if (way == null) {
            throw new IllegalStateException("rail " + rail + " of " + this + " is not there");
        }
        return way;
    }

    /// All connections that it has or had.
    Stream<Way> ways() {
        return Arrays.stream(ways).flatMap(Stream::ofNullable);
    }

    /// Lets the requests of all its connections leave.
    void submit() {
        for (int i = 0; i < ways.length; i++) {
            Way way = ways[i];
            if (way != null) {
                way.submit();
            }
        }
    }

    /// What peers read goes by the other rails.
    void withdraw(int rail) {
        exposed.values().forEach(each -> each.registered().close(rail));
    }

    Transfers transfers() {
        return transfers;
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
        return peer.isIdle() && operations.isIdle() && rails.isIdle();
    }

    /// Why it was lost. Under the lock.
    void lost(String why) {
        token.completeExceptionally(lost("connect", why));
    }

    // ---- by the program

    /// Of the first rail.
    public InetSocketAddress localAddress() {
        return way(0).connection.localAddress();
    }

    /// Of the first rail.
    public InetSocketAddress peerAddress() {
        return way(0).connection.peerAddress();
    }

    /// Connections to it that work now; more than one when both workers have several devices.
    public int railCount() {
        traffic.lock.lock();
        try {
            return peer.isLost() ? 0 : rails.usable();
        } finally {
            traffic.lock.unlock();
        }
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
        if (sendAtOnce(Kind.TAGGED, tag, MemorySegment.NULL, data)) {
            return traffic.sent;
        }
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
        requireOpen(data); // also when it cannot leave
        return sendAtOnce(Kind.ACTIVE, Outgoing.activeTag(number, (int) header.byteSize()), header, data);
    }

    private boolean sendAtOnce(Kind kind, long tag, MemorySegment header, MemorySegment data) {
        traffic.lock.lock();
        try {
            return traffic.departures.sendAtOnce(this, kind, tag, header, data);
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

    /// Calls the peer's [CallHandler]. Waits while as many calls are under way as the options of both workers say,
    /// but not beyond the time limit: the call has failed then.
    ///
    /// @param request as in [#send(long, MemorySegment)]; with a time limit a long one is copied
    /// @param timeLimit after which the call fails, counted from now; zero for none
    public Pending<byte[]> callAsync(MemorySegment request, Duration timeLimit) throws InterruptedException {
        return calls.begin(request, timeLimit);
    }

    /// Calls the peer's [CallHandler], and has its answer put into memory of the program.
    ///
    /// @param into for the answer; a longer one fills it. With a time limit a long answer is copied into it
    ///     when it is there; without, the device puts it there
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
            traffic.departures.pump(this);
        } finally {
            traffic.lock.unlock();
        }
    }

    ConnectionException lost(String verb, String why) {
        return new ConnectionException(Reason.DISCONNECTED, verb + ": " + this + ": " + why);
    }

    /// The same memory, or a copy when it belongs to one thread.
    ///
    /// @throws IllegalStateException when it is closed, or another thread's
    MemorySegment forAllThreads(MemorySegment data) {
        requireOpen(data);
        return traffic.longMessages.isForAllThreads(data) ? data : MemorySegment.ofArray(bytes(data));
    }

    private static void requireOpen(MemorySegment data) {
        if (!data.scope().isAlive()) {
            throw new IllegalStateException("its memory is closed: " + data);
        }
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
        ways().forEach(Way::interrupt);
        traffic.lose(this, "this side has closed it");
        release();
    }

    /// After one of its connections has ended.
    void releaseIfLost() {
        if (isLost()) {
            release();
        }
    }

    private void release() {
        closing.lock();
        try {
            if (!isClosed) {
                isClosed = true;
                ways().forEach(Way::close);
                traffic.remove(this);
            }
        } finally {
            closing.unlock();
        }
    }

    @Override
    public String toString() {
        Way first = ways[0];
        return "remote worker, by a " + (first == null ? "connection that is not made" : first.connection);
    }
}
