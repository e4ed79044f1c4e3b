package verbena.abi.rsocket;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Threads;
import verbena.abi.rsocket.RsocketOptions.Option;
import verbena.abi.rsocket.RsocketState.Phase;
import verbena.foreign.rdma.SocketAddress;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamEnds;
import verbena.stream.protocol.StreamMessage;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// A socket of rsocket(7): a listener, or a connection with a [ByteStream]. Calls answer as those of sockets
/// do, with a negative errno when they fail. Safe for use by any thread.
final class Rsocket implements AnyRsocket, RsocketIds.Owner {
    /// The time that data on its way gets to arrive at exit(3).
    private static final long LEAVING_NANOS = 1_000_000_000;

    final ConnectionId id;
    final Attention attention;
    private final RsocketOptions options;
    private final RsocketState state = new RsocketState();
    private final Backlog<Rsocket> backlog = new Backlog<>(state.lock, Rsocket::answer);
    private final Readiness readiness = new Readiness(state, backlog::hasArrived);
    private final RsocketWaits waits;
    private final RsocketData data;
    private final KeepAlive keepAlive;
    private volatile boolean isNonBlocking;
    private boolean isOutcomeUntold;
    private @Nullable Rsocket listener;

    private Rsocket(ConnectionId id, RsocketOptions options, boolean isNonBlocking) {
        this.id = id;
        this.options = options;
        this.isNonBlocking = isNonBlocking;
        attention = new Attention(state, readiness);
        waits = new RsocketWaits(state, readiness, attention);
        data = new RsocketData(state, attention, waits);
        keepAlive = new KeepAlive(state, options, attention);
    }

    static Rsocket create(int domain, boolean isNonBlocking) {
        var made = new Rsocket(RsocketIds.create(PortSpace.TCP), new RsocketOptions(domain), isNonBlocking);
        RsocketIds.put(made.id, made);
        return made;
    }

    @Override
    public int open() {
        state.lock.lock();
        try {
            int fd = readiness.open();
            attention.settle();
            return fd;
        } finally {
            state.lock.unlock();
        }
    }

    // ---- the passive side

    @Override
    public long bind(InetSocketAddress address) {
        state.lock.lock();
        try {
            if (state.phase != Phase.NEW) {
                return Errno.EINVAL;
            }
            Threads.make(() -> {
                id.bind(address);
                return 0;
            });
            state.enter(Phase.BOUND);
            return 0;
        } finally {
            state.lock.unlock();
        }
    }

    long listen(int requests) {
        state.lock.lock();
        try {
            backlog.limit(requests);
            if (state.phase == Phase.LISTENING) {
                return 0;
            }
            if (state.phase != Phase.BOUND) {
                return Errno.EINVAL;
            }
            id.listen(backlog.requests());
            state.enter(Phase.LISTENING);
            attention.settle();
            return 0;
        } finally {
            state.lock.unlock();
        }
    }

    /// Takes a peer's request, which is answered in its turn. By the thread of connections.
    private void onRequest(ConnectionEvent.ConnectRequest request) {
        var hello = StreamMessage.Hello.parse(request.peer().privateData());
        boolean isTaken = false;
        state.lock.lock();
        try {
            if (state.phase == Phase.LISTENING && hello.isPresent()) {
                // accept(2): O_NONBLOCK is not inherited
                var made = new Rsocket(request.id(), new RsocketOptions(options), false);
                made.listener = this;
                made.state.enter(Phase.CONNECTING);
                RsocketIds.put(made.id, made);
                backlog.ask(made, hello.get());
                isTaken = true;
            }
        } finally {
            state.lock.unlock();
        }
        if (!isTaken) {
            request.id().reject(PrivateData.NONE);
            request.id().close();
        }
        backlog.admit();
    }

    /// Accepts a request for which the listener has room.
    private void answer(StreamMessage.Hello hello) {
        state.lock.lock();
        try {
            if (state.phase != Phase.CONNECTING) {
                return; // given up, or the listener is closed
            }
            ByteStream made = makeStream();
            id.accept(parameters(made));
            made.begin(hello); // what comes now is the peer's, which is ready
            return;
        } catch (VerbsException | IllegalArgumentException | OutOfMemoryError e) {
            Errno.of(e);
        } finally {
            state.lock.unlock();
        }
        giveUp();
    }

    /// Makes the stream, when the address is resolved.
    private ByteStream makeStream() {
        attention.join(id.context());
        boolean done = false;
        try {
            var made = new ByteStream(
                    id.context(), id::createQueuePair, options.sizes(), Optional.empty(), attention::createQueue);
            state.stream = made;
            done = true;
            return made;
        } finally {
            if (!done) {
                attention.leave();
            }
        }
    }

    private void giveUp() {
        Rsocket from = listener;
        if (from != null) {
            from.backlog.onGivenUp(this);
        }
        close();
    }

    private void onArrived(Rsocket connection) {
        state.lock.lock();
        try {
            if (backlog.onArrived(connection)) {
                attention.settle();
            }
        } finally {
            state.lock.unlock();
        }
    }

    /// Accepts the oldest connection that the program has not accepted, and returns its file descriptor. The number
    /// is chosen only now, because librspreload.so takes a number for its own just before, and needs that to be the
    /// lower one.
    long accept(Rsocket[] into) {
        long fd = take(into);
        backlog.admit();
        return fd;
    }

    private long take(Rsocket[] into) {
        state.lock.lock();
        try {
            if (state.phase != Phase.LISTENING) {
                return Errno.EINVAL;
            }
            if (!waits.await(() -> backlog.hasArrived() || state.phase != Phase.LISTENING, isNonBlocking)) {
                return Errno.EAGAIN;
            }
            if (state.phase != Phase.LISTENING) {
                return Errno.EBADF;
            }
            into[0] = backlog.first();
            int fd = Rsockets.open(into[0]);
            backlog.removeFirst();
            attention.settle();
            return fd;
        } finally {
            state.lock.unlock();
        }
    }

    // ---- the active side

    @Override
    public long connect(InetSocketAddress to) {
        state.lock.lock();
        try {
            switch (state.phase) {
                case NEW, BOUND -> {}
                case CONNECTING -> {
                    return Errno.EALREADY;
                }
                case CONNECTED -> {
                    return takeOutcome(Errno.EISCONN);
                }
                case ENDED -> {
                    return takeOutcome(Errno.EINVAL);
                }
                case LISTENING, CLOSED -> {
                    return Errno.EINVAL;
                }
            }
            Threads.make(() -> {
                id.resolveAddress(to);
                return 0;
            });
            if (id.state() != ConnectionId.State.ADDRESS_RESOLVED) {
                return Errno.ENETUNREACH;
            }
            id.resolveRoute();
            if (id.state() != ConnectionId.State.ROUTE_RESOLVED) {
                return Errno.EHOSTUNREACH;
            }
            ByteStream made = makeStream();
            id.connect(parameters(made));
            state.enter(Phase.CONNECTING);
            readiness.writerWaits();
            attention.settle();
            if (!waits.await(() -> state.phase != Phase.CONNECTING, isNonBlocking)) {
                isOutcomeUntold = true;
                return Errno.EINPROGRESS;
            }
            return state.takeErrorOr(0);
        } finally {
            state.lock.unlock();
        }
    }

    /// Takes the outcome of connecting: after `EINPROGRESS` the next call tells what has become of it, once, as
    /// Linux has it.
    private long takeOutcome(long otherwise) {
        if (!isOutcomeUntold) {
            return otherwise;
        }
        isOutcomeUntold = false;
        ByteStream made = state.stream;
        return made != null && made.hasBegun() ? 0 : state.takeErrorOr(Errno.ECONNABORTED);
    }

    private ConnectionParameters parameters(ByteStream made) {
        return ConnectionParameters.defaults()
                .withPrivateData(made.hello().privateData())
                .withTrafficClass(options.get(Option.TOS) & 0xFF);
    }

    // ---- by the thread of connections

    @Override
    public void onEvent(ConnectionEvent event) {
        switch (event) {
            case ConnectionEvent.ConnectRequest request -> onRequest(request);
            case ConnectionEvent.Established it ->
                onEstablished(StreamMessage.Hello.parse(it.peer().privateData()));
            case ConnectionEvent.Rejected _, ConnectionEvent.ConnectError _ -> onFailed(Errno.ECONNREFUSED);
            case ConnectionEvent.Unreachable _ -> onFailed(Errno.ETIMEDOUT);
            case ConnectionEvent.DeviceRemoval _ -> onFailed(Errno.ENODEV);
            case ConnectionEvent.Disconnected _ -> onFailed(0);
            default -> {} // steps on the way
        }
    }

    private void onEstablished(Optional<StreamMessage.Hello> hello) {
        Rsocket from;
        state.lock.lock();
        try {
            ByteStream made = state.stream;
            if (state.phase != Phase.CONNECTING || made == null) {
                return;
            }
            if (hello.isEmpty()) {
                id.disconnect();
                state.error = Errno.EPROTO;
                end();
                return;
            }
            if (!made.hasBegun()) {
                made.begin(hello.get());
            }
            state.connected();
            keepAlive.update();
            attention.begin();
            from = listener;
        } finally {
            state.lock.unlock();
        }
        if (from != null) {
            from.onArrived(this);
        }
    }

    /// Handles a connection that has ended or could not be made.
    ///
    /// @param why 0 when one side has wanted it
    private void onFailed(long why) {
        Rsocket from;
        state.lock.lock();
        try {
            attention.progress();
            from = state.phase == Phase.CONNECTING ? listener : null;
            if (state.phase == Phase.CONNECTING || state.phase == Phase.CONNECTED) {
                state.error = state.phase == Phase.CONNECTING && why == 0 ? Errno.ECONNREFUSED : why;
                end();
            }
        } finally {
            state.lock.unlock();
        }
        if (from != null) {
            giveUp();
            from.backlog.admit();
        }
    }

    // ---- data

    @Override
    public long receive(Pieces into, boolean isPeek, boolean wantsAll, boolean mayNotWait, Arrival arrival) {
        long count = data.receive(into, isPeek, wantsAll, mayNotWait || isNonBlocking);
        if (count > 0) {
            arrival.from = id.peerAddress().orElse(null);
        }
        return count;
    }

    /// Sends bytes; a name is for sockets without connections.
    @Override
    public long send(Pieces from, @Nullable InetSocketAddress to, boolean mayNotWait) {
        return to != null ? Errno.EISCONN : data.send(from, mayNotWait || isNonBlocking);
    }

    long write(long from, long length, long offset, boolean mayNotWait) {
        return data.write(from, length, offset, mayNotWait || isNonBlocking);
    }

    long map(long address, long length, boolean isForPeer, long offset) {
        return data.map(address, length, isForPeer, offset);
    }

    long unmap(long address, long length) {
        return data.unmap(address, length);
    }

    // ---- the end

    /// Waits until all that was sent has arrived.
    @Override
    public long shutdown(int how) {
        state.lock.lock();
        try {
            return shutdown(how, Long.MAX_VALUE);
        } finally {
            state.lock.unlock();
        }
    }

    private long shutdown(int how, long nanos) {
        attention.progress();
        ByteStream made = state.stream;
        if (state.phase == Phase.ENDED) {
            return 0;
        }
        if (state.phase != Phase.CONNECTED || made == null) {
            return Errno.ENOTCONN;
        }
        int what = state.ends.shutdown(how != SHUT_WR, how != SHUT_RD);
        boolean isAll = state.ends.isAll();
        long until = System.nanoTime() + nanos;
        if (what != StreamEnds.NOTHING) {
            if (waits.awaitConnected(made::hasControl, until)) {
                state.ends.say(what, made);
            }
            waits.awaitConnected(made::isSent, until);
        }
        if (isAll) {
            id.disconnect();
            if (state.phase == Phase.CONNECTED) {
                end();
            }
        }
        attention.settle();
        return 0;
    }

    @Override
    public void leave() {
        state.lock.lock();
        try {
            if (state.phase == Phase.CONNECTED) {
                shutdown(SHUT_RDWR, LEAVING_NANOS);
            }
        } finally {
            state.lock.unlock();
        }
    }

    @Override
    public long close() {
        List<Rsocket> orphans;
        state.lock.lock();
        try {
            if (state.phase == Phase.CLOSED) {
                return Errno.EBADF;
            }
            if (state.phase == Phase.CONNECTED) {
                shutdown(SHUT_RDWR, Long.MAX_VALUE);
            }
            state.enter(Phase.CLOSED);
            orphans = backlog.clear();
            attention.wakeAll();
            RsocketIds.remove(id);
            Rsockets.remove(this);
            if (state.stream != null) {
                state.stream.close(); // a thread that sleeps wakes
                attention.leave();
            }
            id.close();
            keepAlive.end();
            readiness.close();
        } finally {
            state.lock.unlock();
        }
        orphans.forEach(Rsocket::close);
        return 0;
    }

    /// Ends the stream: no more bytes arrive, and none can be sent.
    private void end() {
        state.end();
        attention.settle();
    }

    // ---- what it is

    @Override
    public InetSocketAddress noName() {
        return new InetSocketAddress(SocketAddress.any(options.get(Option.DOMAIN)), 0);
    }

    @Override
    public Optional<InetSocketAddress> localName() {
        return id.localAddress();
    }

    @Override
    public Optional<InetSocketAddress> peerName() {
        return isConnected() ? id.peerAddress() : Optional.empty();
    }

    @Override
    public boolean isNonBlocking() {
        return isNonBlocking;
    }

    @Override
    public void nonBlocking(boolean wanted) {
        isNonBlocking = wanted;
    }

    @Override
    public boolean isConnected() {
        return state.phase == Phase.CONNECTED;
    }

    @Override
    public boolean isListening() {
        return state.phase == Phase.LISTENING;
    }

    @Override
    public int takeError() {
        state.lock.lock();
        try {
            attention.progress();
            return (int) -state.takeErrorOr(0);
        } finally {
            attention.finish();
        }
    }

    @Override
    public long setOption(long level, long name, long value, long length) {
        state.lock.lock();
        try {
            long answer = options.set(level, name, value, length, state.stream != null);
            if (state.phase == Phase.CONNECTED
                    && Option.of(level, name).filter(KeepAlive::isConcernedBy).isPresent()) {
                keepAlive.update();
            }
            return answer;
        } finally {
            state.lock.unlock();
        }
    }

    @Override
    public long getOption(long level, long name, long into, long lengthPointer) {
        return options.get(level, name, into, lengthPointer, this);
    }
}
