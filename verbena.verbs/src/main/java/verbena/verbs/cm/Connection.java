package verbena.verbs.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// A reliable connection with all that belongs to it, as easy as a socket. It has a device, a protection
/// domain of its own (so that this peer reaches no other peer's memory), completion queues, and a queue
/// pair in RTS.
///
/// [#send], [#receive], [#write] and [#read] take one step at a time and return when it is done; one thread
/// may send while another receives. When the connection ends, a waiting thread gets a [ConnectionException]
/// that says why. Interrupting a thread that waits ends the connection, as with a channel of `java.nio`:
/// the next completion could no longer be told from the one that the thread waited for. For more requests
/// at once, use [#queuePair()] and the completion queues; do not mix the two on one queue.
public final class Connection implements AutoCloseable {
    /// Longer than any program waits.
    private static final Duration FOREVER = Duration.ofDays(36_500);
    /// How long closing waits for the peer to know.
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final ConnectionId id;
    private final ProtectionDomain domain;
    private final CompletionQueue sendCompletions;
    private final CompletionQueue receiveCompletions;
    private final QueuePair queuePair;
    private final ReentrantLock sending = new ReentrantLock();
    private final ReentrantLock receiving = new ReentrantLock();
    /// Held by the thread that closes. Others wait for it, and find nothing left to do.
    private final ReentrantLock closing = new ReentrantLock();
    private final WorkCompletion sent = new WorkCompletion();
    private final WorkCompletion received = new WorkCompletion();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private long sends;
    private long receives;
    /// The channel of its events; null while that is a listener's channel.
    private volatile @Nullable EventChannel own;
    private volatile @Nullable PeerParameters peer;
    private volatile boolean closed;

    private Connection(
            ConnectionId id,
            ProtectionDomain domain,
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            QueuePair queuePair) {
        this.id = id;
        this.domain = domain;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.queuePair = queuePair;
    }

    /// Connects to the program that listens at a port of a host; a host with several addresses is tried at each in
    /// turn.
    ///
    /// @param host a name or an address
    /// @throws ConnectionException when no connection is made; says why
    /// @throws IllegalArgumentException when `port` is not 1 to 65535
    public static Connection connect(String host, int port) throws InterruptedException {
        if (port < 1 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 1 to 65535, got " + port);
        }
        InetAddress[] addresses = addresses("connect", host);
        for (int i = 0; ; i++) {
            try {
                return connect(new InetSocketAddress(addresses[i], port), ConnectionOptions.defaults());
            } catch (ConnectionException e) {
                if (i + 1 == addresses.length) {
                    throw e;
                }
            }
        }
    }

    /// The addresses of a host: at least one.
    static InetAddress[] addresses(String verb, String host) {
        try {
            return InetAddress.getAllByName(Objects.requireNonNull(host, "host"));
        } catch (UnknownHostException e) {
            throw new ConnectionException(Reason.ADDRESS, verb + ": \"" + host + "\" is no known host", e);
        }
    }

    /// Connects with options.
    ///
    /// @param to its name has to be resolved
    /// @throws ConnectionException when no connection is made; says why
    /// @throws IllegalArgumentException when the name of the address was not resolved
    public static Connection connect(InetSocketAddress to, ConnectionOptions options) throws InterruptedException {
        EventChannel channel = options.device().map(EventChannel::open).orElseGet(EventChannel::openNearest);
        ConnectionId id = channel.createId(PortSpace.TCP);
        Connection made = null;
        boolean done = false;
        try {
            long deadline = System.nanoTime() + EventChannel.nanos(options.timeout());
            id.resolveAddress(to);
            expect(id, deadline, ConnectionEvent.AddressResolved.class);
            id.resolveRoute();
            expect(id, deadline, ConnectionEvent.RouteResolved.class);
            made = prepare(id, options);
            made.own = channel;
            id.connect(options.parameters());
            made.peer = expect(id, deadline, ConnectionEvent.Established.class).peer();
            done = true;
            return made;
        } finally {
            if (!done) {
                if (made == null) {
                    id.close();
                    channel.close();
                } else {
                    made.abandon();
                }
            }
        }
    }

    /// Makes all that a connection needs before it is made.
    static Connection prepare(ConnectionId id, ConnectionOptions options) {
        Context context = id.context();
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue sendCompletions = null;
        CompletionQueue receiveCompletions = null;
        boolean done = false;
        try {
            QueuePairOptions.Sizes sizes = options.sizes();
            sendCompletions = context.createCompletionQueue(Math.max(1, sizes.maxSendWr()));
            receiveCompletions = context.createCompletionQueue(Math.max(1, sizes.maxReceiveWr()));
            QueuePair queuePair = id.createQueuePair(
                    domain,
                    QueuePairOptions.rc(sendCompletions)
                            .withReceiveCq(receiveCompletions)
                            .withSizes(sizes));
            done = true;
            return new Connection(id, domain, sendCompletions, receiveCompletions, queuePair);
        } finally {
            if (!done) {
                if (receiveCompletions != null) {
                    receiveCompletions.close();
                }
                if (sendCompletions != null) {
                    sendCompletions.close();
                }
                domain.close();
            }
        }
    }

    /// Waits for an event of this kind; any other that ends the attempt is an exception.
    private static <E extends ConnectionEvent> E expect(ConnectionId id, long deadline, Class<E> wanted)
            throws InterruptedException {
        while (true) {
            long left = deadline - System.nanoTime();
            Optional<ConnectionEvent> event =
                    left <= 0 ? Optional.empty() : id.channel().await(Duration.ofNanos(left));
            if (event.isEmpty()) {
                throw new ConnectionException(
                        Reason.TIMEOUT, "connect: " + id + ": the peer did not answer in the time that it was given");
            }
            if (wanted.isInstance(event.get())) {
                return wanted.cast(event.get());
            }
            ConnectionException end = failure("connect", event.get());
            if (end != null) {
                throw end;
            }
        }
    }

    /// The exception that an event is; null when the connection has not ended with it.
    static @Nullable ConnectionException failure(String verb, ConnectionEvent event) {
        return switch (event) {
            case ConnectionEvent.AddressError error -> failure(Reason.ADDRESS, verb, error.why());
            case ConnectionEvent.RouteError error -> failure(Reason.ADDRESS, verb, error.why());
            case ConnectionEvent.ConnectError error -> failure(Reason.FAILED, verb, error.why());
            case ConnectionEvent.Unreachable silence -> failure(Reason.UNREACHABLE, verb, silence.why());
            case ConnectionEvent.Rejected no ->
                failure(
                        no.reason() == ConnectionEvent.Rejected.CONSUMER_DEFINED ? Reason.REJECTED : Reason.REFUSED,
                        verb,
                        no.why());
            case ConnectionEvent.Disconnected end -> failure(Reason.DISCONNECTED, verb, end.why());
            case ConnectionEvent.DeviceRemoval gone -> failure(Reason.FAILED, verb, gone.why());
            case ConnectionEvent.AddressResolved e -> null;
            case ConnectionEvent.RouteResolved e -> null;
            case ConnectionEvent.ConnectRequest e -> null;
            case ConnectionEvent.ConnectResponse e -> null;
            case ConnectionEvent.Established e -> null;
            case ConnectionEvent.DatagramEstablished e -> null;
            case ConnectionEvent.MulticastJoined e -> null;
            case ConnectionEvent.MulticastError e -> null;
            case ConnectionEvent.TimewaitExit e -> null;
        };
    }

    private static ConnectionException failure(Reason reason, String verb, String why) {
        return new ConnectionException(reason, verb + ": " + why);
    }

    /// Passive: it is made, and leaves the listener's channel.
    void established(PeerParameters with, EventChannel channel) {
        peer = with;
        id.migrate(channel);
        own = channel;
    }

    // ---- what belongs to it

    /// What the peer has said of itself, with its private data.
    public PeerParameters peer() {
        PeerParameters known = peer;
        if (known == null) {
            throw new IllegalStateException("not connected yet");
        }
        return known;
    }

    public InetSocketAddress localAddress() {
        return id.localAddress().orElseThrow();
    }

    public InetSocketAddress peerAddress() {
        return id.peerAddress().orElseThrow();
    }

    public ConnectionId id() {
        return id;
    }

    /// Its own, and no other connection's.
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    /// The queue in which sends, writes and reads complete.
    public CompletionQueue sendCompletions() {
        return sendCompletions;
    }

    public CompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    /// Allocates memory to send from and receive into; peers cannot touch it. Freed with the connection, if not
    /// before.
    public MemoryRegion allocate(long bytes) {
        return allocate(bytes, Set.of(Access.LOCAL_WRITE));
    }

    /// Allocates memory that the peer may touch as `access` says.
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        synchronized (regions) { // so that none is made behind the back of a close
            MemoryRegion region = domain.allocate(bytes, access);
            regions.removeIf(MemoryRegion::isClosed);
            regions.add(region);
            return region;
        }
    }

    // ---- one step after the other

    /// Sends a message and waits until the peer has it; longer when it has posted no receive yet.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer refuses the message
    public void send(MemoryRegion region, long offset, int length) throws InterruptedException {
        request("send", () -> queuePair.postSend(++sends, region, offset, length));
    }

    /// Waits for a message, which fills the first of `length` bytes of `region` from `offset` on.
    ///
    /// @return bytes received
    /// @throws ConnectionException when the connection has ended, or the message is longer than `length`
    public int receive(MemoryRegion region, long offset, int length) throws InterruptedException {
        receiving.lockInterruptibly();
        try {
            checkOpen("receive");
            queuePair.postReceive(++receives, region, offset, length);
            await("receive", receiveCompletions, received, receives);
            return (int) received.byteLength();
        } catch (VerbsException e) {
            throw asConnectionException("receive", e);
        } finally {
            receiving.unlock();
        }
    }

    /// Writes into the peer's memory, from byte `at` of `to` on, and waits until that is done there.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer does not allow it
    public void write(MemoryRegion region, long offset, int length, RemoteMemory to, long at)
            throws InterruptedException {
        RemoteMemory part = to.slice(at, length);
        request("write", () -> queuePair.postWrite(++sends, region, offset, length, part.address(), part.rkey()));
    }

    /// Reads from the peer's memory, from byte `at` of `from` on.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer does not allow it
    public void read(MemoryRegion region, long offset, int length, RemoteMemory from, long at)
            throws InterruptedException {
        RemoteMemory part = from.slice(at, length);
        request("read", () -> queuePair.postRead(++sends, region, offset, length, part.address(), part.rkey()));
    }

    private void request(String verb, Runnable post) throws InterruptedException {
        sending.lockInterruptibly();
        try {
            checkOpen(verb);
            post.run();
            await(verb, sendCompletions, sent, sends);
        } catch (VerbsException e) {
            throw asConnectionException(verb, e);
        } finally {
            sending.unlock();
        }
    }

    private void await(String verb, CompletionQueue queue, WorkCompletion done, long wrId) throws InterruptedException {
        boolean heard = false;
        try {
            do {
                heard = queue.await(done, FOREVER);
            } while (!heard || done.wrId() != wrId);
        } finally {
            if (!heard) {
                id.disconnect(); // interrupted, or closed
            }
        }
        if (!done.ok()) {
            throw new ConnectionException(
                    done.status() == WcStatus.WR_FLUSH_ERR ? Reason.DISCONNECTED : Reason.FAILED,
                    verb + ": " + this + ": " + (done.cause().isEmpty() ? "it has ended" : done.cause()) + " ("
                            + done.status() + ")");
        }
    }

    private void checkOpen(String verb) {
        if (closed) {
            throw new ConnectionException(Reason.CLOSED, verb + ": " + this + " is closed");
        }
    }

    private VerbsException asConnectionException(String verb, VerbsException e) {
        return closed && e instanceof InvalidStateException
                ? new ConnectionException(Reason.CLOSED, verb + ": " + this + " was closed meanwhile", e)
                : e;
    }

    /// Disconnects and gives everything back, the memory of [#allocate] included. Waits for the peer to know, but
    /// never longer than a second. Idempotent; threads that wait on it get a [ConnectionException]. When
    /// several threads close it, each returns when it is closed.
    @Override
    public void close() {
        closed = true; // threads that wait are told
        closing.lock();
        try {
            if (id.state() == ConnectionId.State.CONNECTED) {
                id.disconnect();
                farewell();
            }
            abandon();
        } finally {
            closing.unlock();
        }
    }

    private void farewell() {
        long deadline = System.nanoTime() + FAREWELL.toNanos();
        try {
            while (id.state() != ConnectionId.State.DISCONNECTED) {
                if (id.channel()
                        .await(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))
                        .isEmpty()) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Gives everything back.
    void abandon() {
        queuePair.close();
        sendCompletions.close();
        receiveCompletions.close();
        synchronized (regions) {
            regions.forEach(MemoryRegion::close);
            regions.clear();
            domain.close();
        }
        id.close(); // and with the last of them the device
        EventChannel channel = own;
        if (channel != null) {
            channel.close();
        }
    }

    @Override
    public String toString() {
        return "connection to " + id.peerAddress().map(ConnectionId::text).orElse("no peer");
    }
}
