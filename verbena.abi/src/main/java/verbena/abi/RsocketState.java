package verbena.abi;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.abi.RsocketOptions.Option;
import verbena.foreign.rdma.SocketAddress;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionId;

/// What an [Rsocket] is at the moment, how that changes, and how calls wait for it.
///
/// A call looks at the completions first. A thread of the connection's own looks when no call does, so the file
/// descriptor is as ready as the socket is, and poll(2) needs to know nothing of rsockets.
abstract class RsocketState implements AnyRsocket {
    /// How far it has got.
    enum Phase {
        NEW,
        BOUND,
        LISTENING,
        /// Asked, or accepted and not confirmed.
        CONNECTING,
        CONNECTED,
        /// What has arrived can be read.
        ENDED,
        CLOSED
    }

    /// A call that waits looks for so long before it sleeps.
    private static final long LOOKING_NANOS = 20_000;
    /// Another thread takes the completions: look again after this, if not asked to before.
    private static final Duration PAUSE = Duration.ofMillis(1);

    final ConnectionId id;
    final RsocketOptions options;
    final ReentrantLock lock = new ReentrantLock();
    final Condition changed = lock.newCondition();
    volatile boolean isNonBlocking;

    // Guarded by the lock, all below.
    Phase phase = Phase.NEW;

    /// None while a connection waits to be accepted.
    private @Nullable PollableDescriptor descriptor;

    @Nullable
    ByteStream stream;

    private @Nullable Thread looker;
    boolean mayRead;
    boolean mayWrite;
    /// The peer knows that nothing more is sent.
    boolean hasSaidNoMore;
    /// A call was told to come again when more can be sent.
    boolean isWriterWaiting;
    /// For `SO_ERROR`, or the next call; negative.
    long error;

    RsocketState(ConnectionId id, RsocketOptions options, boolean isNonBlocking) {
        this.id = id;
        this.options = options;
        this.isNonBlocking = isNonBlocking;
    }

    /// Whether a listener has a connection for the program.
    abstract boolean hasAccepted();

    // ---- what it is

    @Override
    public int open() {
        lock.lock();
        try {
            descriptor = new PollableDescriptor();
            settle();
            return descriptor.fd();
        } finally {
            lock.unlock();
        }
    }

    void closeDescriptor() {
        if (descriptor != null) {
            descriptor.close();
        }
    }

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
        return phase == Phase.CONNECTED;
    }

    @Override
    public boolean isListening() {
        return phase == Phase.LISTENING;
    }

    @Override
    public int takeError() {
        lock.lock();
        try {
            progress();
            long taken = error;
            error = 0;
            return (int) -taken;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long setOption(long level, long name, long value, long length) {
        lock.lock();
        try {
            long answer = options.set(level, name, value, length, stream != null);
            if (looker != null
                    && Option.of(level, name)
                            .filter(RsocketState::isOfKeepAlive)
                            .isPresent()) {
                looker.interrupt(); // it sleeps for so long
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    private static boolean isOfKeepAlive(Option option) {
        return option == Option.KEEP_ALIVE || option == Option.KEEP_IDLE;
    }

    @Override
    public long getOption(long level, long name, long into, long lengthPointer) {
        return options.get(level, name, into, lengthPointer, this);
    }

    // ---- completions

    /// There is a connection: from now on its thread looks.
    void connected(ByteStream made) {
        phase = Phase.CONNECTED;
        mayRead = true;
        mayWrite = true;
        looker = Threads.start("verbena-abi-rsocket", () -> look(made));
        progress();
        settle();
    }

    /// The connection's thread.
    private void look(ByteStream made) {
        try {
            while (true) {
                lock.lock();
                try {
                    if (phase != Phase.CONNECTED) {
                        return;
                    }
                    made.arm();
                    progress();
                    settle();
                } finally {
                    lock.unlock();
                }
                try {
                    lookOnce(made);
                } catch (InterruptedException e) {
                    // other options
                }
            }
        } catch (InvalidStateException e) {
            // closed
        }
    }

    private void lookOnce(ByteStream made) throws InterruptedException {
        boolean isCompletion = made.sleep(keepAlive());
        boolean isTaken;
        lock.lock();
        try {
            isTaken = progress() == 0;
            settle();
            if (!isCompletion && made.isSent() && made.hasControl() && phase == Phase.CONNECTED) {
                made.sendControl(StreamMessage.KEEP_ALIVE); // without an answer the connection ends
            }
        } finally {
            lock.unlock();
        }
        if (isCompletion && isTaken) {
            boolean ignored = made.sleep(PAUSE);
        }
    }

    private Duration keepAlive() {
        return options.get(Option.KEEP_ALIVE) != 0
                ? Duration.ofSeconds(options.get(Option.KEEP_IDLE))
                : EventPipe.ALWAYS;
    }

    /// Takes what has completed, and sees what has become of the connection.
    ///
    /// @return how many completions there were
    int progress() {
        ByteStream made = stream;
        if (made == null || phase == Phase.CLOSED) {
            return 0;
        }
        int count = made.progress();
        if (made.peerSendsNoMore()) {
            mayRead = false;
        }
        boolean bothHaveEnded = hasSaidNoMore && made.peerSendsNoMore() && made.isSent();
        if (phase == Phase.CONNECTED && (bothHaveEnded || made.isOver() || made.failure() != 0)) {
            if (!made.isOver()) {
                error = made.failure();
            }
            end();
        }
        if (count > 0) {
            changed.signalAll();
        }
        return count;
    }

    /// The file descriptor tells what has changed, and calls that wait look.
    void settle() {
        if (phase == Phase.CLOSED) {
            return;
        }
        if (descriptor != null) {
            settle(descriptor);
        }
        changed.signalAll();
    }

    private void settle(PollableDescriptor descriptor) {
        ByteStream made = stream;
        boolean isEnded = phase == Phase.ENDED;
        descriptor.readable(hasAccepted()
                || isEnded
                || (phase == Phase.CONNECTED && !mayRead)
                || (made != null && made.available() > 0));
        if (isWriterWaiting && (isEnded || (phase == Phase.CONNECTED && (!mayWrite || canSend(made))))) {
            isWriterWaiting = false;
        }
        descriptor.writable(!isWriterWaiting);
        if (isEnded && (made == null || made.available() == 0)) {
            descriptor.hangUp(); // many a program does not read what there is from one that is hung up
        }
    }

    private static boolean canSend(@Nullable ByteStream made) {
        return made != null && made.canSend();
    }

    /// Waits, without the lock, until there is what is wanted: false when it may not wait.
    boolean await(BooleanSupplier wanted, boolean mayNotWait) {
        progress();
        if (wanted.getAsBoolean()) {
            return true;
        }
        if (mayNotWait) {
            return false;
        }
        ByteStream made = stream;
        if (made != null && made.hasBegun()) {
            long until = System.nanoTime() + LOOKING_NANOS;
            while (System.nanoTime() < until) {
                if (progress() > 0 && wanted.getAsBoolean()) {
                    return true;
                }
                lock.unlock(); // for other threads
                Thread.onSpinWait();
                lock.lock();
            }
        }
        while (!wanted.getAsBoolean()) {
            if (phase != Phase.CLOSED && made != null && made.hasBegun()) {
                made.arm();
                progress();
                if (wanted.getAsBoolean()) {
                    return true;
                }
            }
            changed.awaitUninterruptibly();
            if (phase != Phase.CLOSED) {
                progress();
            }
        }
        return true;
    }

    /// Nothing comes any more, and nothing can be sent.
    void end() {
        phase = Phase.ENDED;
        mayRead = false;
        mayWrite = false;
        settle();
    }

    // ---- waiting

    long takeErrorOr(long otherwise) {
        long answer = error == 0 ? otherwise : error;
        error = 0;
        return answer;
    }

    long awaitRoom(ByteStream made, BooleanSupplier hasRoom, boolean nonBlocking) {
        if (!await(() -> hasRoom.getAsBoolean() || !mayWrite || phase == Phase.CLOSED, nonBlocking)) {
            isWriterWaiting = true;
            return Errno.EAGAIN;
        }
        if (phase == Phase.CLOSED) {
            return Errno.EBADF;
        }
        return mayWrite ? 0 : takeErrorOr(phase == Phase.ENDED && !made.isOver() ? Errno.ECONNRESET : Errno.EPIPE);
    }

    /// Waits for what is wanted, while there is a connection.
    ///
    /// @param until a time of `System.nanoTime`
    /// @return false when it has passed, or the connection has ended
    boolean awaitUntil(BooleanSupplier wanted, long until) {
        ByteStream made = stream;
        while (made != null && phase == Phase.CONNECTED && !wanted.getAsBoolean()) {
            made.arm();
            if (progress() > 0) {
                continue;
            }
            long left = until - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            try {
                long ignored = changed.awaitNanos(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            progress();
        }
        return phase == Phase.CONNECTED;
    }

    /// 0 when it is connected, or was.
    long awaitConnected(boolean nonBlocking) {
        if (!await(() -> phase != Phase.CONNECTING, nonBlocking)) {
            return Errno.EAGAIN;
        }
        return switch (phase) {
            case CONNECTED, ENDED -> 0;
            case CLOSED -> Errno.EBADF;
            default -> Errno.ENOTCONN;
        };
    }
}
