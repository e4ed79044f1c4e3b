package verbena.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// A carrier that begins by TCP, and goes on by RDMA when the connection keeps its [Pace].
///
/// Each direction moves by itself. An end that moves writes nothing more by TCP, shuts TCP's output down, and goes on
/// by the stream. A reader that comes to the end of TCP goes on reading from the stream. So the bytes keep their
/// order, and a thread or selector that waits in the kernel wakes.
///
/// An end of TCP is the end of the data, unless this side knows of a stream. So each side knows of it before its peer
/// moves. The client asks through the stream first, and from then on the end of TCP waits for the answer. The server
/// takes the stream, answers, and moves; the client moves when it has the answer. If the answer is lost, the client
/// cannot tell what an end of TCP means, and reports a reset.
///
/// Threads as [Carrier] has them.
final class Moving implements Carrier {
    /// The part of this end that is different at client and server.
    interface Side {
        /// Handles a connection that is busy, and again each time that its use has doubled.
        void onBusy(Moving it);

        /// Handles a connection that is closed, or whose data has ended.
        void onOver(Moving it);
    }

    private enum State {
        BY_TCP,
        /// The client has asked, and has no answer yet.
        ASKED,
        /// The same, and a reader that does not wait has come to the end of TCP.
        HELD,
        /// The client has asked, and will never know the answer.
        UNKNOWN,
        MOVED,
        /// Its data has ended by TCP, where it stays.
        OVER,
        CLOSED
    }

    /// The continuation behind the end of TCP.
    private enum Next {
        END,
        STREAM,
        /// The answer of the peer has to come first.
        LATER
    }

    private final Carrier tcp;
    private final TcpAddresses addresses;
    private final Use use;
    private final Side side;
    /// Held by a thread that writes by TCP, or moves the output.
    private final ReentrantLock writing;

    private final ReentrantLock lock;
    private final Condition changed;

    // Written under the lock, all below.
    private volatile State state = State.BY_TCP;
    private volatile @Nullable Carrier stream;
    private volatile boolean isInMoved;
    private volatile boolean isOutMoved;
    private boolean isInputShut;
    private boolean isOutputShut;
    private boolean waits = true;
    /// Null until the connection becomes the program's. A stream may be taken before.
    private volatile @Nullable Runnable listener;

    /// @param isClient whether this side has made the connection
    Moving(Carrier tcp, boolean isClient, Pace pace, Side side) throws IOException {
        this(tcp, isClient, pace, side, new ReentrantLock(), new ReentrantLock());
    }

    /// Makes one with locks of these, for a world that explores how threads meet.
    Moving(Carrier tcp, boolean isClient, Pace pace, Side side, Supplier<ReentrantLock> locks) throws IOException {
        this(tcp, isClient, pace, side, locks.get(), locks.get());
    }

    private Moving(Carrier tcp, boolean isClient, Pace pace, Side side, ReentrantLock writing, ReentrantLock lock)
            throws IOException {
        InetSocketAddress local = Objects.requireNonNull(tcp.local());
        InetSocketAddress remote = Objects.requireNonNull(tcp.remote());
        this.tcp = tcp;
        this.addresses = isClient ? new TcpAddresses(local, remote) : new TcpAddresses(remote, local);
        this.use = new Use(pace);
        this.side = side;
        this.writing = writing;
        this.lock = lock;
        this.changed = lock.newCondition();
    }

    TcpAddresses addresses() {
        return addresses;
    }

    // ---- moving

    /// Notes that the client asks now. Returns false when it is too late.
    boolean asks() {
        lock.lock();
        try {
            boolean mayAsk = state == State.BY_TCP;
            state = mayAsk ? State.ASKED : state;
            return mayAsk;
        } finally {
            lock.unlock();
        }
    }

    /// Notes that the client was refused, or will never know whether it was.
    void stays(boolean isKnown) {
        lock.lock();
        try {
            if (hasAsked()) {
                state = isKnown ? State.BY_TCP : State.UNKNOWN;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        tell();
    }

    private void tell() {
        Runnable to = listener;
        if (to != null) {
            to.run();
        }
    }

    private boolean hasAsked() {
        return state == State.ASKED || state == State.HELD;
    }

    /// Takes the stream, to which the peer moves too. Returns false when it is too late.
    ///
    /// @param answer what the peer is told, by the server; empty at the client, which has been told
    boolean take(Carrier by, ByteBuffer answer) throws IOException {
        lock.lock();
        try {
            boolean isServer = answer.hasRemaining();
            if (isServer ? state != State.BY_TCP : !hasAsked()) {
                return false;
            }
            by.configureBlocking(false);
            if (by.write(answer) < answer.limit()) {
                return false;
            }
            stream = by;
            state = State.MOVED;
            by.configureBlocking(waits);
            by.begin(this::tell);
            if (isInputShut) {
                by.shutdownInput();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            moveOutput();
        } catch (IOException e) {
            // TCP has failed: the next read or write says so
        }
        return true;
    }

    private void moveOutput() throws IOException {
        writing.lock();
        try {
            lock.lock();
            try {
                if (state == State.CLOSED) {
                    return;
                }
                if (isOutputShut) {
                    byRdma().shutdownOutput();
                } else {
                    tcp.shutdownOutput();
                }
                isOutMoved = true;
            } finally {
                lock.unlock();
            }
        } finally {
            writing.unlock();
        }
        onDirectionMoved();
    }

    /// Closes TCP when both directions have moved. The kernel still delivers what it has.
    private void onDirectionMoved() throws IOException {
        lock.lock(); // both directions may have moved at once, by two threads
        try {
            if (isInMoved && isOutMoved && tcp.isOpen()) {
                tcp.setOption(StandardSocketOptions.SO_LINGER, -1);
                tcp.close(-1, false);
            }
        } finally {
            lock.unlock();
        }
        tell();
    }

    private Carrier byRdma() {
        return Objects.requireNonNull(stream);
    }

    /// Returns what follows the end of TCP, which a reader has come to.
    private Next afterTcp() throws IOException {
        lock.lock();
        try {
            while (hasAsked() && waits) {
                changed.await();
            }
            return switch (state) {
                case CLOSED -> throw new AsynchronousCloseException();
                case UNKNOWN -> throw new SocketException("Connection reset");
                case ASKED, HELD -> {
                    state = State.HELD;
                    yield Next.LATER;
                }
                case MOVED -> {
                    isInMoved = !isInputShut;
                    yield isInputShut ? Next.END : Next.STREAM;
                }
                case BY_TCP, OVER -> {
                    state = State.OVER;
                    yield Next.END;
                }
            };
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close(-1, false);
            throw new ClosedByInterruptException();
        } finally {
            lock.unlock();
        }
    }

    /// A read or a write, by the carrier whose turn it is. Those of one buffer are no lambdas: the first lambda of a
    /// process takes it longer than the connection.
    @FunctionalInterface
    private interface Step {
        long by(Carrier carrier) throws IOException;
    }

    private record Read(ByteBuffer into) implements Step {
        @Override
        public long by(Carrier carrier) throws IOException {
            return carrier.read(into);
        }
    }

    private record Write(ByteBuffer from) implements Step {
        @Override
        public long by(Carrier carrier) throws IOException {
            return carrier.write(from);
        }
    }

    // ---- reading

    private long read(Step one) throws IOException {
        if (!isInMoved) {
            long done = readByTcp(one);
            if (done >= 0) {
                return done;
            }
            switch (afterTcp()) {
                case END -> {
                    side.onOver(this);
                    return done;
                }
                case LATER -> {
                    return 0;
                }
                case STREAM -> onDirectionMoved();
            }
        }
        return one.by(byRdma());
    }

    /// Returns -1 at the end of TCP, or when another thread has come there and closed it.
    private long readByTcp(Step one) throws IOException {
        try {
            long done = one.by(tcp);
            if (use.isBusyAfterRead(done)) {
                side.onBusy(this);
            }
            return done;
        } catch (ClosedChannelException e) {
            if (isInMoved) {
                return -1;
            }
            throw e;
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return isInMoved ? byRdma().read(into) : (int) read(new Read(into));
    }

    @Override
    public int read(byte[] into, int offset, int length, int millis) throws IOException {
        return (int) read(carrier -> carrier.read(into, offset, length, millis));
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        return isInMoved ? byRdma().read(into, offset, length) : read(carrier -> carrier.read(into, offset, length));
    }

    @Override
    public int available() throws IOException {
        return isInMoved ? byRdma().available() : tcp.available();
    }

    // ---- writing

    private long write(Step one) throws IOException {
        writing.lock();
        try {
            if (!isOutMoved) {
                long done = one.by(tcp);
                if (use.isBusyAfterWrite(done)) {
                    side.onBusy(this);
                }
                return done;
            }
        } finally {
            writing.unlock();
        }
        return one.by(byRdma());
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return isOutMoved ? byRdma().write(from) : (int) write(new Write(from));
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return isOutMoved
                ? byRdma().write(from, offset, length)
                : write(carrier -> carrier.write(from, offset, length));
    }

    // ---- the rest

    @Override
    public void shutdownInput() throws IOException {
        lock.lock();
        try {
            isInputShut = true;
            Carrier moved = stream;
            if (moved != null) {
                moved.shutdownInput();
            }
            if (!isInMoved) {
                tcp.shutdownInput();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        lock.lock(); // and not the other: a thread that writes may wait for a peer that reads nothing more
        try {
            if (isOutMoved) {
                byRdma().shutdownOutput();
            } else {
                isOutputShut = true;
                tcp.shutdownOutput();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void configureBlocking(boolean block) throws IOException {
        lock.lock();
        try {
            waits = block;
            Carrier moved = stream;
            if (moved != null) {
                moved.configureBlocking(block);
            }
        } finally {
            lock.unlock();
        }
        if (tcp.isOpen()) {
            try {
                tcp.configureBlocking(block);
            } catch (ClosedChannelException e) {
                if (!isInMoved) {
                    throw e;
                }
            }
        }
    }

    @Override
    public boolean isOpen() {
        Carrier moved = stream;
        return (tcp.isOpen() || (isInMoved && isOutMoved)) && (moved == null || moved.isOpen());
    }

    @Override
    public @Nullable InetSocketAddress local() throws IOException {
        return tcp.local();
    }

    @Override
    public @Nullable InetSocketAddress remote() throws IOException {
        return tcp.remote();
    }

    @Override
    public int readyOps(int interestOps) {
        Carrier moved = stream;
        int by = (isInMoved ? SelectionKey.OP_READ : 0) | (isOutMoved ? SelectionKey.OP_WRITE : 0);
        return moved == null ? 0 : moved.readyOps(interestOps & by);
    }

    @Override
    public int kernelOps(int interestOps) {
        int by = (isInMoved || state == State.HELD ? 0 : SelectionKey.OP_READ)
                | (isOutMoved ? 0 : SelectionKey.OP_WRITE);
        return interestOps & by;
    }

    @Override
    public @Nullable SocketChannel kernel() {
        return isInMoved && isOutMoved ? null : tcp.kernel();
    }

    @Override
    public @Nullable StreamChannel stream() {
        Carrier moved = stream;
        return moved == null ? null : moved.stream();
    }

    @Override
    public void begin(Runnable listener) throws IOException {
        lock.lock();
        try {
            this.listener = listener;
        } finally {
            lock.unlock();
        }
        tcp.begin(listener);
        if (use.pace().isAtOnce()) {
            side.onBusy(this);
        }
    }

    @Override
    public <T> void setOption(SocketOption<T> name, T value) throws IOException {
        if (kernel() != null) {
            tcp.setOption(name, value);
        }
    }

    @Override
    public void close(int lingerSeconds, boolean mayWait) throws IOException {
        Carrier moved;
        lock.lock();
        try {
            state = State.CLOSED;
            moved = stream;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        side.onOver(this);
        if (moved != null) {
            moved.close(lingerSeconds, mayWait);
        }
        tcp.close(lingerSeconds, mayWait);
    }

    @Override
    public String toString() {
        Carrier moved = stream;
        return moved == null ? tcp.toString() : "begun by TCP, " + moved;
    }
}
