package verbena.tools.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EndedBy;

/// One end of an `rping` connection, with its memory. A ping: the client tells where its data are, the server READs
/// them and says so; the client tells where it wants them, the server WRITEs them there and says so. For one thread.
final class RpingEnd implements AutoCloseable {
    private static final int SEND_DEPTH = 16;
    private static final int RECEIVE_DEPTH = 2;
    private static final int FIRST = 'A';
    private static final int LAST = 'z';

    /// The settings of a ping, and the consumers of its lines.
    ///
    /// @param size bytes of the data, with a zero at the end
    /// @param count pings; 0 for no end
    /// @param ownQueuePair whether to make and move the queue pair without the connection manager
    /// @param timeout how long a peer may be silent before it is asked whether it lives
    record Settings(
            int size,
            int count,
            boolean verbose,
            boolean validate,
            boolean ownQueuePair,
            Duration timeout,
            Consumer<String> out,
            Consumer<String> err,
            Consumer<String> debug) {}

    private final ConnectionId id;
    private final CmChannel channel;
    private final Settings settings;
    private final String role;
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final WorkCompletion wc = new WorkCompletion();
    private final CompletionQueue cq;
    private final QueuePair qp;
    private final MemoryRegion received;
    private final MemoryRegion toSend;
    /// The region that the server reads into and writes from, and at the client the region that is written to.
    private final MemoryRegion data;
    private int pings;
    /// SENDs whose completion was not taken: until then their buffer stays as it is.
    private int sends;
    private final Thread watcher = Thread.ofVirtual().unstarted(this::watch);
    private final CompletableFuture<ConnectionEvent.Disconnected> end = new CompletableFuture<>();

    /// Makes the queue pair of a connection, with a receive posted.
    ///
    /// @param id of `channel`; its route is resolved, or it is a request. Closed by the caller, after this
    /// @param role `client` or `server`
    RpingEnd(ConnectionId id, CmChannel channel, Settings settings, String role) {
        this.id = id;
        this.channel = channel;
        this.settings = settings;
        this.role = role;
        Context context = id.context();
        try {
            ProtectionDomain domain = opened(context.allocateProtectionDomain());
            received = opened(domain.allocate(RpingInfo.BYTES, Access.local()));
            toSend = opened(domain.allocate(RpingInfo.BYTES, Set.of()));
            data = opened(domain.allocate(settings.size(), Access.remoteAll()));
            cq = opened(context.createCompletionQueue(2 * SEND_DEPTH));
            qp = opened(queuePair(domain));
            postReceive();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private QueuePair queuePair(ProtectionDomain domain) {
        QueuePairOptions options =
                QueuePairOptions.rc(cq).withDepth(SEND_DEPTH, RECEIVE_DEPTH).withSge(1, 1);
        if (!settings.ownQueuePair()) {
            return id.createQueuePair(domain, options);
        }
        QueuePair own = domain.createQueuePair(options);
        own.modify(new Transition.ToInit(Access.remoteAll()));
        id.describeQueuePair(QpType.RC, own.qpn());
        return own;
    }

    // As the C program has it: one READ at a time, retries as many as there are.
    private ConnectionParameters parameters() {
        return ConnectionParameters.defaults().withReads(1, 1).withKeepAlive(settings.timeout());
    }

    /// Asks the server for a connection, as the client.
    ///
    /// @throws CommandFailed when it says no, or nothing
    void connect() throws InterruptedException {
        String what = "connect to " + Addresses.peer(id);
        id.connect(parameters());
        if (settings.ownQueuePair()) {
            channel.await(ConnectionEvent.ConnectResponse.class, what);
            toReadyToSend();
            id.establish();
        } else {
            channel.await(ConnectionEvent.Established.class, what);
        }
        settings.debug().accept("rdma_connect successful");
        watcher.start();
    }

    /// Accepts the connection, as the server.
    ///
    /// @throws CommandFailed when the client has gone meanwhile
    void accept() throws InterruptedException {
        settings.debug().accept("accepting client connection request");
        if (settings.ownQueuePair()) {
            toReadyToSend();
        }
        id.accept(parameters());
        channel.await(ConnectionEvent.Established.class, "accept " + Addresses.peer(id));
        watcher.start();
    }

    private void toReadyToSend() {
        qp.modify(id.modification(QpState.RTR, parameters()));
        qp.modify(id.modification(QpState.RTS, parameters()));
    }

    /// Pings to the end and disconnects, as the client.
    ///
    /// @throws CommandFailed when something is not as it should be
    void ping() throws InterruptedException {
        try (MemoryRegion start = data.protectionDomain().allocate(settings.size(), Access.remoteAll())) {
            while (settings.count() == 0 || pings < settings.count()) {
                fill(start.segment(), pings);
                tell(start);
                require(WcOpcode.RECV);
                tell(data);
                require(WcOpcode.RECV);
                long wrong = start.segment().mismatch(data.segment());
                if (settings.validate() && wrong >= 0) {
                    throw new CommandFailed("data mismatch! Of ping " + pings + ", byte " + wrong + " of "
                            + settings.size() + " is not what was sent; has the server another -S?");
                }
                pings++;
                if (settings.verbose()) {
                    settings.out().accept("ping data: " + text());
                }
            }
            disconnect();
            disconnected();
        }
    }

    /// Serves until the client ends the connection.
    ///
    /// @throws CommandFailed when the connection ends otherwise
    void serve() throws InterruptedException {
        while (await(WcOpcode.RECV)) {
            RpingInfo source = told();
            int bytes = fitting(source);
            qp.postRead(0, source.memory(bytes), data.slice(0, bytes));
            require(WcOpcode.RDMA_READ);
            if (settings.verbose()) {
                settings.out().accept("server ping data: " + text());
            }
            goAhead();
            require(WcOpcode.RECV);
            RpingInfo sink = told();
            int length = Math.min(text().length() + 1, settings.size());
            qp.postWrite(0, data.slice(0, length), sink.memory(length));
            require(WcOpcode.RDMA_WRITE);
            goAhead();
            pings++;
        }
        ConnectionEvent.Disconnected event = disconnected();
        if (event.by() != EndedBy.PEER) {
            throw new CommandFailed("the connection ended after " + pings + " pings: " + event.why());
        }
        disconnect();
    }

    private int fitting(RpingInfo source) {
        if (Integer.compareUnsigned(source.size(), settings.size()) > 0) {
            throw new CommandFailed("the client pings with " + Integer.toUnsignedString(source.size())
                    + " bytes, here are " + settings.size() + ": give -S at both ends");
        }
        return source.size();
    }

    private RpingInfo told() {
        settings.debug().accept("Received " + RpingInfo.from(received.segment()) + " from peer");
        RpingInfo info = RpingInfo.from(received.segment());
        postReceive();
        return info;
    }

    private void tell(MemoryRegion region) {
        RpingInfo info = RpingInfo.of(region);
        info.writeTo(toSend.segment());
        settings.debug().accept("RDMA " + info);
        qp.postSend(0, toSend.slice(0, RpingInfo.BYTES));
        sends++;
    }

    // What the message holds does not matter.
    private void goAhead() {
        qp.postSend(0, toSend.slice(0, RpingInfo.BYTES));
        sends++;
    }

    private void postReceive() {
        qp.postReceive(0, received.slice(0, RpingInfo.BYTES));
    }

    /// Waits for the next completion that is not of a SEND, and for those of all SENDs, whose buffer is used again;
    /// returns false when the connection has ended.
    private boolean await(WcOpcode wanted) throws InterruptedException {
        boolean isFound = false;
        while (!isFound || sends > 0) {
            cq.await(wc);
            if (wc.status() == WcStatus.WR_FLUSH_ERR) {
                return false;
            }
            if (!wc.ok()) {
                throw new CommandFailed(
                        "cq completion failed status " + wc.status().code() + " after " + pings + " pings: "
                                + ((Completion.Failure) wc.snapshot()).explanation());
            }
            settings.debug().accept(wc.opcode() + " completion");
            if (wc.opcode() == WcOpcode.SEND) {
                sends--;
            } else {
                check(wanted);
                isFound = true;
            }
        }
        return true;
    }

    private void check(WcOpcode wanted) {
        if (wc.opcode() != wanted) {
            throw new CommandFailed("wait for " + wanted + ", got " + wc.opcode() + ": the peer is no rping");
        }
        if (wanted == WcOpcode.RECV && wc.byteLength() != RpingInfo.BYTES) {
            throw new CommandFailed("Received bogus data, size " + wc.byteLength() + ": the peer is no rping");
        }
    }

    private void require(WcOpcode wanted) throws InterruptedException {
        if (!await(wanted)) {
            throw new CommandFailed("the connection ended within ping " + pings + ": "
                    + disconnected().why());
        }
        if (wanted == WcOpcode.RECV && role.equals("client")) {
            postReceive();
        }
    }

    private void disconnect() throws InterruptedException {
        if (settings.ownQueuePair()) {
            qp.modify(new Transition.ToError());
        }
        id.disconnect();
    }

    // Beside the thread that waits for completions: when the connection ends they come, by a flush.
    private void watch() {
        try {
            while (!end.isDone()) {
                if (channel.awaitAny() instanceof ConnectionEvent.Disconnected event) {
                    settings.err().accept(role + " DISCONNECT EVENT...");
                    if (settings.ownQueuePair()) {
                        qp.modify(new Transition.ToError());
                    }
                    end.complete(event);
                }
            }
        } catch (InterruptedException _) {
            // This end is being closed.
        }
    }

    private ConnectionEvent.Disconnected disconnected() throws InterruptedException {
        try {
            return end.get(settings.timeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new CommandFailed(
                    "disconnect from " + Addresses.peer(id) + ": nothing heard for "
                            + settings.timeout().toSeconds() + " s",
                    e);
        }
    }

    /// Writes the text of a ping, with a zero at its end.
    static void fill(MemorySegment buffer, int ping) {
        byte[] head = ("rdma-ping-" + ping + ": ").getBytes(StandardCharsets.US_ASCII);
        int last = (int) buffer.byteSize() - 1;
        int letters = LAST - FIRST + 1;
        int headLength = Math.min(head.length, last);
        MemorySegment.copy(head, 0, buffer, ValueLayout.JAVA_BYTE, 0, headLength);
        for (int i = headLength; i < last; i++) {
            buffer.set(ValueLayout.JAVA_BYTE, i, (byte) (FIRST + (ping % letters + i - headLength) % letters));
        }
        buffer.set(ValueLayout.JAVA_BYTE, last, (byte) 0);
    }

    // Up to the zero; a peer need not have sent one.
    private String text() {
        byte[] bytes = data.segment().toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.ISO_8859_1);
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    // The channel that it waits on is closed next.
    private void endWatcher() {
        watcher.interrupt();
        Closing.join(watcher);
    }

    @Override
    public void close() {
        endWatcher();
        Closing.all(opened);
    }
}
