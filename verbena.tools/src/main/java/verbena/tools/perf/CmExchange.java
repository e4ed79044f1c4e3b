package verbena.tools.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CmEvents;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;

/// The exchange by SEND over a reliable connection of its own, which the connection manager has made; and, with
/// `-R`, the connections that are measured, which are made by the same port after it. For one thread.
final class CmExchange implements Exchange {
    /// The time to wait for the peer to end as well.
    private static final Duration LINGER = Duration.ofSeconds(1);

    /// The longest message.
    private static final int MESSAGE_BYTES = Math.max(PerfPeer.STRUCTURE_BYTES, TERMS_BYTES);

    private static final RnrTimer RNR_TIMER = new RnrTimer(12);
    private static final int RNR_RETRY_UNLIMITED = 7;
    /// A server of C listens anew for the connections that are measured, and its client may be faster.
    private static final int ATTEMPTS = 20;

    private static final long ATTEMPT_MILLIS = 100;

    private final Options options;
    private final CmChannel channel;
    private final List<ConnectionId> measured = new ArrayList<>();
    private final Set<ConnectionId> ended = new HashSet<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private @Nullable ConnectionId listener;
    private ConnectionId id;
    private CompletionQueue sendCq;
    private CompletionQueue receiveCq;
    private QueuePair qp;
    private MemoryRegion toSend;
    private MemoryRegion received;
    private final WorkCompletion wc = new WorkCompletion();
    /// The time for the next message of the peer; null for no limit.
    private @Nullable Duration timeout;
    private boolean sending;
    /// The reason why a send of this end failed; null when none did.
    private @Nullable WcStatus lost;

    private CmExchange(Options options, Consumer<InetSocketAddress> listening) throws InterruptedException {
        this.options = options;
        timeout = options.timeout();
        channel = new CmChannel(options.device, options.timeout(), event -> {});
        boolean done = false;
        try {
            id = options.isClient() ? toServer(channel.newId(PortSpace.TCP)) : awaitClient(listening);
            Context context = id.context();
            ProtectionDomain domain = opened(context.allocateProtectionDomain());
            toSend = opened(domain.allocate(MESSAGE_BYTES, Access.local()));
            received = opened(domain.allocate(MESSAGE_BYTES, Access.local()));
            sendCq = opened(context.createCompletionQueue(1));
            receiveCq = opened(context.createCompletionQueue(1));
            qp = opened(id.createQueuePair(
                    domain,
                    QueuePairOptions.rc(sendCq)
                            .withReceiveCq(receiveCq)
                            .withDepth(1, 1)
                            .withSge(1, 1)
                            .withInline(0)));
            qp.postReceive(0, received.slice(0, MESSAGE_BYTES));
            if (options.isClient()) {
                id.connect(parameters(0));
            } else {
                id.accept(parameters(0));
            }
            ConnectionEvent _ = channel.await(ConnectionEvent.Established.class, "connect with " + peer());
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /// @param listening told where, once clients can connect; port 0 was any. Of no use to a client
    static CmExchange open(Options options, Consumer<InetSocketAddress> listening) throws InterruptedException {
        return new CmExchange(options, listening);
    }

    private ConnectionParameters parameters(int reads) {
        return ConnectionParameters.defaults()
                .withReads(Math.min(reads, 128), Math.min(reads, 128))
                .withRetries(new AckTimeout(options.ackTimeout), options.retryCount, RNR_RETRY_UNLIMITED)
                .withMinRnrTimer(RNR_TIMER)
                .withTrafficClass(options.typeOfService == null ? 0 : options.typeOfService);
    }

    private void resolve(ConnectionId asking) {
        InetSocketAddress to = address(Objects.requireNonNull(options.host), options.port);
        source().ifPresentOrElse(own -> asking.resolveAddress(own, to), () -> asking.resolveAddress(to));
    }

    private ConnectionId toServer(ConnectionId asking) throws InterruptedException {
        opened.add(asking);
        resolve(asking);
        ConnectionEvent _ = channel.await(ConnectionEvent.AddressResolved.class, "resolve " + options.host);
        asking.resolveRoute();
        ConnectionEvent _ = channel.await(ConnectionEvent.RouteResolved.class, "find the way to " + options.host);
        return asking;
    }

    private Optional<InetSocketAddress> source() {
        return Optional.ofNullable(options.sourceIp).map(own -> address(own, 0));
    }

    private static InetSocketAddress address(String host, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new CommandFailed("unknown host " + host, e);
        }
    }

    private ConnectionId awaitClient(Consumer<InetSocketAddress> listening) throws InterruptedException {
        ConnectionId made = listen(PortSpace.TCP, options.port);
        listener = made;
        listening.accept(whereClientsConnect(made.localAddress().orElseThrow()));
        while (true) {
            if (channel.awaitAny() instanceof ConnectionEvent.ConnectRequest request) {
                return opened(request.id());
            }
        }
    }

    // A device of choice has addresses of its own.
    private InetSocketAddress whereClientsConnect(InetSocketAddress bound) {
        return channel.address()
                .filter(_ -> bound.getAddress().isAnyLocalAddress())
                .map(own -> new InetSocketAddress(own, bound.getPort()))
                .orElse(bound);
    }

    private ConnectionId listen(PortSpace space, int port) {
        ConnectionId made = opened(channel.newId(space));
        made.bind(address(options.sourceIp == null ? "0.0.0.0" : options.sourceIp, port));
        made.listen(Math.max(2, options.queuePairs));
        return made;
    }

    // ---- what is said

    @Override
    public byte[] swap(byte[] mine) throws InterruptedException {
        if (options.isClient()) {
            send(mine);
            return receive(mine.length);
        }
        byte[] theirs = receive(mine.length);
        send(mine);
        return theirs;
    }

    @Override
    public PerfPeer swap(PerfPeer mine) throws InterruptedException {
        try {
            return PerfPeer.ofStructure(swap(mine.structure()));
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("the program at " + peer() + " is no perftest: " + e.getMessage(), e);
        }
    }

    private void send(byte[] message) throws InterruptedException {
        // Not awaited at once: the end that hears the last word ends the connection, perhaps before it is acknowledged.
        if (sending) {
            await(sendCq);
            if (!wc.ok()) {
                lost = wc.status(); // what the peer has said last may be there still, for receive()
                return;
            }
        }
        MemorySegment.copy(message, 0, toSend.segment(), ValueLayout.JAVA_BYTE, 0, message.length);
        qp.postSend(0, toSend.slice(0, message.length));
        sending = true;
    }

    private byte[] receive(int bytes) throws InterruptedException {
        await(receiveCq);
        if (!wc.ok()) {
            WcStatus cause = lost == null ? wc.status() : lost;
            throw new CommandFailed("the peer at " + peer() + " ended the connection (" + cause.label()
                    + "); its own message tells why");
        }
        if (wc.byteLength() != bytes) {
            throw new CommandFailed("the program at " + peer() + " is no perftest: it sent " + wc.byteLength()
                    + " bytes where " + bytes + " were due");
        }
        byte[] message = received.segment().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        qp.postReceive(0, received.slice(0, MESSAGE_BYTES));
        return message;
    }

    private void await(CompletionQueue cq) throws InterruptedException {
        Duration limit = timeout;
        if (limit == null) {
            cq.await(wc);
        } else if (!cq.await(wc, limit)) {
            throw new CommandFailed("the peer at " + peer() + " is connected but says nothing");
        }
    }

    // ---- the connections that are measured

    /// Makes a queue pair for each, and connects them.
    void connect(PerfEnd end) throws InterruptedException {
        boolean isDatagram = options.type == QpType.UD;
        PortSpace space = isDatagram ? PortSpace.UDP : PortSpace.TCP;
        if (!options.isClient()) {
            if (isDatagram) {
                int port = Objects.requireNonNull(listener)
                        .localAddress()
                        .orElseThrow()
                        .getPort();
                listener = listen(space, port);
            }
            PerfPeer _ = swap(PerfPeer.NONE);
            acceptAll(end, isDatagram);
        } else {
            PerfPeer _ = swap(PerfPeer.NONE);
            for (int i = 0; i < options.queuePairs; i++) {
                connectOne(end, i, space);
            }
        }
        PerfPeer _ = swap(PerfPeer.NONE);
    }

    private void acceptAll(PerfEnd end, boolean isDatagram) throws InterruptedException {
        int established = 0;
        while (measured.size() < options.queuePairs || (!isDatagram && established < options.queuePairs)) {
            ConnectionEvent event =
                    channel.await("connection " + (measured.size() + 1) + " of " + options.queuePairs + " (-q)");
            switch (event) {
                case ConnectionEvent.ConnectRequest request
                when measured.size() < options.queuePairs -> {
                    ConnectionId asking = request.id();
                    measured.add(asking);
                    end.makeQueuePair(asking);
                    if (isDatagram && end.sends()) {
                        end.postAddressReceive(measured.size() - 1);
                    }
                    asking.accept(parameters(end.readsOfPeer()));
                }
                case ConnectionEvent.ConnectRequest request -> request.id().close();
                case ConnectionEvent.Established _ -> established++;
                case ConnectionEvent.Disconnected _, ConnectionEvent.DeviceRemoval _, ConnectionEvent.ConnectError _ ->
                    throw new CommandFailed(CmEvents.line(event));
                default -> {}
            }
        }
        for (int i = 0; i < options.queuePairs && isDatagram && end.sends(); i++) {
            end.takeAddress();
        }
    }

    private void connectOne(PerfEnd end, int i, PortSpace space) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            ConnectionId asking = channel.newId(space);
            measured.add(asking);
            resolve(asking);
            ConnectionEvent _ = channel.await(ConnectionEvent.AddressResolved.class, "resolve " + options.host);
            asking.resolveRoute();
            ConnectionEvent _ = channel.await(ConnectionEvent.RouteResolved.class, "find the way to " + options.host);
            end.makeQueuePair(asking);
            asking.connect(parameters(end.readsOfPeer()));
            ConnectionEvent event = channel.await("connect to " + peer());
            switch (event) {
                case ConnectionEvent.Established _ -> {
                    return;
                }
                case ConnectionEvent.DatagramEstablished found -> {
                    end.peer(i, found.path(), found.peer().qpn(), found.peer().qkey());
                    if (options.isLatency || options.bidirectional) {
                        end.sendAddress(i);
                    }
                    return;
                }
                default -> {
                    boolean notYet =
                            event instanceof ConnectionEvent.Rejected || event instanceof ConnectionEvent.Unreachable;
                    if (!notYet || attempt == ATTEMPTS) {
                        throw new CommandFailed(CmEvents.line(event));
                    }
                    end.dropQueuePair();
                    measured.removeLast().close();
                    Thread.sleep(ATTEMPT_MILLIS);
                }
            }
        }
    }

    // ---- the end

    @Override
    public void waitWithoutLimit() {
        timeout = null;
    }

    @Override
    public boolean hasEnded() {
        try {
            channel.await(Duration.ZERO).ifPresent(this::saw);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return !ended.isEmpty();
    }

    private void saw(ConnectionEvent event) {
        if (event instanceof ConnectionEvent.Disconnected end) {
            ended.add(end.id());
        }
    }

    @Override
    public void part(boolean done) throws InterruptedException {
        if (sending) {
            boolean _ = sendCq.await(wc, LINGER);
        }
        Set<ConnectionId> left = new HashSet<>(measured);
        if (options.type == QpType.UD) {
            left.clear(); // nothing to end
        }
        left.add(id);
        left.removeAll(ended);
        if (options.isClient()) {
            left.forEach(ConnectionId::disconnect);
        }
        long deadline = System.nanoTime() + LINGER.toNanos();
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            channel.await(LINGER).ifPresent(this::saw);
            left.removeAll(ended);
        }
    }

    @Override
    public InetAddress localAddress() {
        return id.localAddress().orElseThrow().getAddress();
    }

    @Override
    public InetAddress remoteAddress() {
        return id.peerAddress().orElseThrow().getAddress();
    }

    @Override
    public Optional<Context> context() {
        return Optional.of(id.context());
    }

    @Override
    public String peer() {
        return Addresses.peer(id);
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    @Override
    public void close() {
        measured.forEach(ConnectionId::close);
        Closing.all(opened);
        channel.close();
    }
}
