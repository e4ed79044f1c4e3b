package verbena.abi.rsocket;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Native;
import verbena.abi.Threads;
import verbena.abi.rsocket.RsocketOptions.Option;
import verbena.foreign.Memory;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamEnds;
import verbena.stream.protocol.StreamMessage;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PrivateData;

/// A socket of rsocket(7): a listener, or a connection with a [ByteStream]. Calls answer as those of sockets
/// do, with a negative errno when they fail. Safe for use by any thread.
final class Rsocket extends RsocketWaits {
    /// At exit(3) what is on its way gets so long to arrive.
    private static final long LEAVING_NANOS = 1_000_000_000;

    private final Backlog backlog = new Backlog(lock);
    private boolean isOutcomeUntold;
    private @Nullable Rsocket listener;

    Rsocket(ConnectionId id, RsocketOptions options, boolean isNonBlocking) {
        super(id, options, isNonBlocking);
    }

    @Override
    boolean hasAccepted() {
        return backlog.hasArrived();
    }

    // ---- the passive side

    @Override
    public long bind(InetSocketAddress address) {
        lock.lock();
        try {
            if (phase != Phase.NEW) {
                return Errno.EINVAL;
            }
            Threads.make(() -> {
                id.bind(address);
                return 0;
            });
            phase = Phase.BOUND;
            return 0;
        } finally {
            lock.unlock();
        }
    }

    long listen(int requests) {
        lock.lock();
        try {
            backlog.limit(requests);
            if (phase == Phase.LISTENING) {
                return 0;
            }
            if (phase != Phase.BOUND) {
                return Errno.EINVAL;
            }
            id.listen(backlog.requests());
            phase = Phase.LISTENING;
            settle();
            return 0;
        } finally {
            lock.unlock();
        }
    }

    /// Takes a peer's request, which is answered in its turn. By the thread of connections.
    void onRequest(ConnectionEvent.ConnectRequest request) {
        var hello = StreamMessage.Hello.parse(request.peer().privateData());
        boolean isTaken = false;
        lock.lock();
        try {
            if (phase == Phase.LISTENING && hello.isPresent()) {
                // accept(2): O_NONBLOCK is not inherited
                var made = new Rsocket(request.id(), new RsocketOptions(options), false);
                made.listener = this;
                made.phase = Phase.CONNECTING;
                Rsockets.arrives(made);
                backlog.ask(made, hello.get());
                isTaken = true;
            }
        } finally {
            lock.unlock();
        }
        if (!isTaken) {
            request.id().reject(PrivateData.NONE);
            request.id().close();
        }
        backlog.admit();
    }

    /// The listener has room for it.
    void answer(StreamMessage.Hello hello) {
        lock.lock();
        try {
            if (phase != Phase.CONNECTING) {
                return; // given up, or the listener is closed
            }
            ByteStream made = makeStream();
            id.accept(parameters(made));
            made.begin(hello); // what comes now is the peer's, which is ready
            return;
        } catch (VerbsException | IllegalArgumentException | OutOfMemoryError e) {
            Errno.of(e);
        } finally {
            lock.unlock();
        }
        giveUp();
    }

    private void giveUp() {
        Rsocket from = listener;
        if (from != null) {
            from.backlog.onGivenUp(this);
        }
        close();
    }

    private void onArrived(Rsocket connection) {
        lock.lock();
        try {
            if (backlog.onArrived(connection)) {
                settle();
            }
        } finally {
            lock.unlock();
        }
    }

    /// The oldest connection that the program has not accepted: its file descriptor. It gets that only now,
    /// because librspreload.so takes a number for its own just before, and needs that to be the lower one.
    long accept(Rsocket[] into) {
        long fd = take(into);
        backlog.admit();
        return fd;
    }

    private long take(Rsocket[] into) {
        lock.lock();
        try {
            if (phase != Phase.LISTENING) {
                return Errno.EINVAL;
            }
            if (!await(() -> backlog.hasArrived() || phase != Phase.LISTENING, isNonBlocking)) {
                return Errno.EAGAIN;
            }
            if (phase != Phase.LISTENING) {
                return Errno.EBADF;
            }
            into[0] = backlog.first();
            int fd = Rsockets.open(into[0]);
            backlog.removeFirst();
            settle();
            return fd;
        } finally {
            lock.unlock();
        }
    }

    // ---- the active side

    @Override
    public long connect(InetSocketAddress to) {
        lock.lock();
        try {
            switch (phase) {
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
            phase = Phase.CONNECTING;
            isWriterWaiting = true;
            settle();
            if (!await(() -> phase != Phase.CONNECTING, isNonBlocking)) {
                isOutcomeUntold = true;
                return Errno.EINPROGRESS;
            }
            long answer = error;
            error = 0;
            return answer;
        } finally {
            lock.unlock();
        }
    }

    /// After `EINPROGRESS` the next call tells what has become of it, once, as Linux has it.
    private long takeOutcome(long otherwise) {
        if (!isOutcomeUntold) {
            return otherwise;
        }
        isOutcomeUntold = false;
        ByteStream made = stream;
        return made != null && made.hasBegun() ? 0 : takeErrorOr(Errno.ECONNABORTED);
    }

    private ConnectionParameters parameters(ByteStream made) {
        return ConnectionParameters.defaults()
                .withPrivateData(made.hello().privateData())
                .withTrafficClass(options.get(Option.TOS) & 0xFF);
    }

    // ---- by the thread of connections

    void onEvent(ConnectionEvent event) {
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
        lock.lock();
        try {
            ByteStream made = stream;
            if (phase != Phase.CONNECTING || made == null) {
                return;
            }
            if (hello.isEmpty()) {
                id.disconnect();
                error = Errno.EPROTO;
                end();
                return;
            }
            if (!made.hasBegun()) {
                made.begin(hello.get());
            }
            connected(made);
            from = listener;
        } finally {
            lock.unlock();
        }
        if (from != null) {
            from.onArrived(this);
        }
    }

    /// The connection has ended, or there will be none.
    ///
    /// @param why 0 when one side has wanted it
    private void onFailed(long why) {
        Rsocket from;
        lock.lock();
        try {
            progress();
            from = phase == Phase.CONNECTING ? listener : null;
            if (phase == Phase.CONNECTING || phase == Phase.CONNECTED) {
                error = phase == Phase.CONNECTING && why == 0 ? Errno.ECONNREFUSED : why;
                end();
            }
        } finally {
            lock.unlock();
        }
        if (from != null) {
            giveUp();
            from.backlog.admit();
        }
    }

    // ---- data

    /// One piece of memory after the other, as many bytes as there are; waits for the first, or for all.
    @Override
    public long receive(Pieces into, boolean isPeek, boolean wantsAll, boolean mayNotWait, Arrival arrival) {
        long count = receive(into, isPeek, wantsAll, mayNotWait);
        if (count > 0) {
            arrival.from = id.peerAddress().orElse(null);
        }
        return count;
    }

    private long receive(Pieces into, boolean isPeek, boolean wantsAll, boolean mayNotWait) {
        lock.lock();
        try {
            boolean nonBlocking = mayNotWait || isNonBlocking;
            long answer = awaitConnected(nonBlocking);
            ByteStream made = stream;
            if (answer != 0 || made == null || into.bytes() == 0) {
                return answer;
            }
            long done = 0;
            do {
                if (!await(
                        reads, () -> made.available() > 0 || !ends.mayRead() || phase == Phase.CLOSED, nonBlocking)) {
                    return done > 0 ? done : Errno.EAGAIN;
                }
                if (phase == Phase.CLOSED) {
                    return done > 0 ? done : Errno.EBADF;
                }
                if (made.available() == 0) {
                    return done > 0 ? done : takeErrorOr(0);
                }
                done += into.forEach(
                        done, (at, length, before) -> made.receive(Memory.ALL, at, length, isPeek, before));
            } while (wantsAll && !isPeek && done < into.bytes());
            return done;
        } finally {
            finish();
        }
    }

    /// All of it; or as much as there is room for, when it may not wait. A name is for sockets without connections.
    @Override
    public long send(Pieces from, @Nullable InetSocketAddress to, boolean mayNotWait) {
        if (to != null) {
            return Errno.EISCONN;
        }
        lock.lock();
        try {
            boolean nonBlocking = mayNotWait || isNonBlocking;
            long answer = awaitConnected(nonBlocking);
            ByteStream made = stream;
            if (answer != 0 || made == null) {
                return answer;
            }
            long done = 0;
            while (done < from.bytes()) {
                long refused = awaitRoom(made, made::canSend, nonBlocking);
                if (refused != 0) {
                    return done > 0 ? done : refused;
                }
                done += made.send(from, done, from.bytes());
            }
            return done;
        } finally {
            finish();
        }
    }

    /// To what the peer has mapped: as much as is mapped there.
    long write(long from, long length, long offset, boolean mayNotWait) {
        lock.lock();
        try {
            boolean nonBlocking = mayNotWait || isNonBlocking;
            long answer = awaitConnected(nonBlocking);
            ByteStream made = stream;
            if (answer != 0 || made == null) {
                return answer;
            }
            long done = 0;
            while (done < length) {
                long refused = awaitRoom(made, made::canWrite, nonBlocking);
                if (refused != 0) {
                    return done > 0 ? done : refused;
                }
                long written = made.mappings().write(Memory.ALL, from + done, length - done, offset + done);
                if (written < 0) {
                    return done;
                }
                done += written;
            }
            return done;
        } finally {
            finish();
        }
    }

    long map(long address, long length, boolean isForPeer, long offset) {
        lock.lock();
        try {
            ByteStream made = stream;
            if (made == null || phase != Phase.CONNECTED) {
                return Errno.ENOTCONN;
            }
            long at = offset == -1 ? address : offset;
            return made.mappings().map(Native.at(address, length), isForPeer, at) ? at : Errno.ENOMEM;
        } finally {
            lock.unlock();
        }
    }

    long unmap(long address, long length) {
        lock.lock();
        try {
            ByteStream made = stream;
            return made != null && made.mappings().unmap(address, length) ? 0 : Errno.EINVAL;
        } finally {
            lock.unlock();
        }
    }

    // ---- the end

    /// Waits until all that was sent has arrived.
    @Override
    public long shutdown(int how) {
        lock.lock();
        try {
            return shutdown(how, Long.MAX_VALUE);
        } finally {
            lock.unlock();
        }
    }

    private long shutdown(int how, long nanos) {
        progress();
        ByteStream made = stream;
        if (phase == Phase.ENDED) {
            return 0;
        }
        if (phase != Phase.CONNECTED || made == null) {
            return Errno.ENOTCONN;
        }
        int what = ends.shutdown(how != SHUT_WR, how != SHUT_RD);
        boolean isAll = ends.isAll();
        long until = System.nanoTime() + nanos;
        if (what != StreamEnds.NOTHING) {
            if (awaitConnected(made::hasControl, until)) {
                ends.say(what, made);
            }
            awaitConnected(made::isSent, until);
        }
        if (isAll) {
            id.disconnect();
            if (phase == Phase.CONNECTED) {
                end();
            }
        }
        settle();
        return 0;
    }

    @Override
    public void leave() {
        lock.lock();
        try {
            if (phase == Phase.CONNECTED) {
                shutdown(SHUT_RDWR, LEAVING_NANOS);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long close() {
        List<Rsocket> orphans;
        lock.lock();
        try {
            if (phase == Phase.CLOSED) {
                return Errno.EBADF;
            }
            if (phase == Phase.CONNECTED) {
                shutdown(SHUT_RDWR, Long.MAX_VALUE);
            }
            phase = Phase.CLOSED;
            orphans = backlog.clear();
            wakeAll();
            Rsockets.remove(this);
            closeStream();
            id.close();
            closeDescriptor();
        } finally {
            lock.unlock();
        }
        orphans.forEach(Rsocket::close);
        return 0;
    }
}
