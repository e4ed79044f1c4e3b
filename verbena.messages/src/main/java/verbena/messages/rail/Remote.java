package verbena.messages.rail;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Budget;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Matching;
import verbena.messages.protocol.Peer;
import verbena.messages.protocol.PeerLimits;
import verbena.messages.protocol.PeerOwner;
import verbena.messages.protocol.Rails;
import verbena.messages.protocol.Session;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.RemoteMemory;

/// A peer, as a worker has it: the protocol, the connections, and what goes over them. Under the lock of the worker,
/// but for the token and the end of the connections.
public final class Remote implements PeerOwner {
    /// Frames to it under way at once.
    static final int SENDS = 32;
    /// The text of a loss that this side has caused: it closed the peer.
    public static final String CLOSED = "this side has closed it";
    /// The text of a loss that this side has caused: it closed the worker.
    public static final String WORKER_CLOSED = "the worker is closed";

    private final Peer peer;
    private final Ways ways;
    private final Session session;
    private final Transfers transfers;
    private final Operations operations;
    private final LongMessages longMessages;
    private final Budget<Remote> budget;
    private final Map<Integer, LongMessages.Exposed> exposed = new HashMap<>();
    // Set once, before the first connection.
    private @Nullable Recipient recipient;
    private @Nullable Object attachment;
    /// The token of both ends, by which further rails join.
    private final CompletableFuture<byte[]> token = new CompletableFuture<>();

    private final ReentrantLock closing = new ReentrantLock();
    private boolean isClosed;
    /// Messages of it that are being read.
    int readings;
    /// Whether the round of completions has touched it.
    boolean isTouched;

    public Remote(
            PeerLimits limits, int frameBytes, Matching matching, Budget<Remote> budget, LongMessages longMessages) {
        this.ways = new Ways(new Rails(limits.rails(), limits.window(), SENDS));
        this.transfers = new Transfers(ways, longMessages);
        this.operations = new Operations(ways, transfers, longMessages, frameBytes);
        this.longMessages = longMessages;
        this.budget = budget;
        this.peer = new Peer(this, matching, limits);
        this.session = new Session(peer, ways.rails());
    }

    /// Sets the recipient of messages that are for no receive, and the program's object for this peer.
    public void attach(Recipient to, Object programs) {
        recipient = to;
        attachment = programs;
    }

    /// Returns the program's object for this peer.
    public Object attachment() {
        return attached(attachment);
    }

    private Recipient recipient() {
        return attached(recipient);
    }

    private static <T> T attached(@Nullable T what) {
        if (what == null) {
            throw new IllegalStateException("nothing is attached to this peer");
        }
        return what;
    }

    public Peer peer() {
        return peer;
    }

    Session session() {
        return session;
    }

    public Ways ways() {
        return ways;
    }

    public Rails rails() {
        return ways.rails();
    }

    public Transfers transfers() {
        return transfers;
    }

    public Operations operations() {
        return operations;
    }

    /// Returns whether nothing is under way to it.
    public boolean isIdle() {
        return peer.isIdle() && operations.isIdle() && rails().isIdle();
    }

    // ---- what the protocol asks for

    @Override
    public Optional<Incoming> incoming(Kind kind, long tag, long length) {
        return recipient().incoming(kind, tag, length);
    }

    @Override
    public boolean active(int handler, MemorySegment frame, int at, int headerBytes, long dataBytes) {
        return recipient().active(handler, frame, at, headerBytes, dataBytes);
    }

    @Override
    public Optional<Incoming> active(int handler, byte[] header, long length) {
        return recipient().active(handler, header, length);
    }

    @Override
    public boolean admits(long length) {
        return budget.admits(this, length);
    }

    @Override
    public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
        LongMessages.Exposed memory = longMessages.expose(rails(), data, mayChange);
        exposed.put(offer, memory);
        return memory.registered().remote(memory.message(), rails().count());
    }

    @Override
    public void withdraw(int offer, boolean isRead) {
        LongMessages.Exposed memory = exposed.remove(offer);
        if (memory != null) {
            longMessages.registrations.end(memory.registered(), isRead && !memory.isCopied());
        }
    }

    // ---- rails

    /// Adds a connection: the first one, or a further one. False when it is not wanted any more.
    public boolean add(Way way) {
        if (!ways.add(way)) {
            return false;
        }
        if (way.rail.index == 0 && token.isDone()) {
            way.tell(token.join()); // before all others
            way.submit();
        }
        return way.isUsable();
    }

    /// Sets the token: it is this end's, and goes with the first frame.
    public void setToken(byte[] ours) {
        token.complete(ours);
    }

    /// Returns whether a frame is the peer's token.
    boolean takesToken(MemorySegment frame, long bytes) {
        byte[] theirs = Rails.token(frame, bytes);
        if (theirs != null) {
            token.complete(theirs);
        }
        return theirs != null;
    }

    /// Waits for the peer's token.
    public byte[] awaitToken(long nanos) throws InterruptedException {
        try {
            return token.get(nanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new ConnectionException(
                    Reason.FAILED, "connect: the peer has not told how to join its other rails", e);
        }
    }

    /// Moves all requests that went by a rail to the others.
    void loseRail(int rail, Slots slots) {
        transfers.loseRail(rail);
        operations.loseRail(rail, slots);
        exposed.values().forEach(each -> each.registered().close(rail));
    }

    // ---- the end

    /// Fails what is under way with it, once, and ends its connections.
    public void lose(String why) {
        if (peer.isLost()) {
            return;
        }
        ways.all().forEach(Way::disconnect);
        transfers.lose(why);
        peer.lose(why, List.of());
        operations.lose(why);
        if (recipient != null) {
            recipient.lost(why);
        }
        token.completeExceptionally(lost("connect", why));
    }

    /// Returns the reason of a loss: which side has ended it.
    public static Reason reason(String why) {
        return why.equals(CLOSED) || why.equals(WORKER_CLOSED) ? Reason.CLOSED : Reason.DISCONNECTED;
    }

    /// Returns the exception for a request that the loss of the peer has ended.
    public ConnectionException lost(String verb, String why) {
        return new ConnectionException(reason(why), verb + ": " + this + ": " + why);
    }

    /// Closes its connections, once. Without the lock of the worker: it waits for the device.
    ///
    /// @param closed what follows; other threads that close it wait for that
    public void close(Runnable closed) {
        closing.lock();
        try {
            if (!isClosed) {
                isClosed = true;
                ways.all().forEach(Way::close);
                closed.run();
            }
        } finally {
            closing.unlock();
        }
    }

    @Override
    public String toString() {
        Way first = ways.first();
        return "remote worker, by a " + (first == null ? "connection that is not made" : first.connection);
    }
}
