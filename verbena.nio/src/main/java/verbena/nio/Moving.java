package verbena.nio;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import verbena.nio.MoveState.Phase;
import verbena.stream.StreamChannel;

/// A carrier that begins by TCP, goes on by RDMA when the connection keeps its [Pace], and goes back when it is idle.
/// The TCP connection stays open meanwhile.
///
/// The client asks through a stream that names the connection. Then each end tells the other how many bytes it has
/// written by TCP, and writes on by the stream:
///
/// ```
/// client                               server
///   name                          ->
///                                 <-     bytes so far; from here it writes nothing
///   whether I want a mark, bytes  ->     knows where my TCP ends
///                                 <-     whether I want a mark; from here it writes by the stream
///   from here it writes by the stream
/// ```
///
/// A reader reads that many bytes from TCP, and then from the stream. If it may wait in the kernel, the peer writes one
/// more byte by TCP, the mark, which wakes it and is no data. A peer that does not agree closes the stream, and both
/// stay with TCP.
///
/// On the way back each direction goes by itself: the end of the stream means that TCP goes on. So the end of the data
/// is always that of TCP, and a program that ends its data ends both.
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

    /// The time in which a peer has to say what comes next. It does so at once.
    private static final int ANSWER_MILLIS = 10_000;
    /// The time that the server waits for a thread that writes; the client waits less, because the server waits for it.
    private static final long SERVER_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long CLIENT_NANOS = Duration.ofSeconds(1).toNanos();

    /// The time after which TCP asks whether its peer is there, so that what stands between both does not forget it.
    private static final int KEEP_SECONDS = 60;

    /// The answers of a peer, the first of which wants a mark.
    private static final byte WAKE_ME = 1;
    private static final byte AWAKE = 2;

    private final Carrier tcp;
    private final TcpAddresses addresses;
    private final Use use;
    private final Side side;
    private final MoveState state;
    private final MovingInput in;
    private final MovingOutput out;
    /// Null while both directions go by TCP. Written under the lock of the state, as the next two are.
    private volatile @Nullable Carrier stream;

    private boolean isInputShut;
    /// Null until the connection becomes the program's. A stream may be taken before.
    private volatile @Nullable Runnable listener;

    /// @param isClient whether this side has made the connection
    Moving(Carrier tcp, boolean isClient, Pace pace, Side side) throws IOException {
        this(tcp, isClient, pace, side, new ReentrantLock(), new ReentrantLock(), new ReentrantLock());
    }

    /// Makes one with these locks, for a world that explores how threads meet.
    Moving(
            Carrier tcp,
            boolean isClient,
            Pace pace,
            Side side,
            ReentrantLock reading,
            ReentrantLock writing,
            ReentrantLock lock)
            throws IOException {
        InetSocketAddress local = Objects.requireNonNull(tcp.local());
        InetSocketAddress remote = Objects.requireNonNull(tcp.remote());
        this.tcp = tcp;
        this.addresses = isClient ? new TcpAddresses(local, remote) : new TcpAddresses(remote, local);
        this.use = new Use(pace);
        this.side = side;
        this.state = new MoveState(lock);
        this.in = new MovingInput(tcp, state, use, reading);
        this.out = new MovingOutput(tcp, state, use, writing);
    }

    TcpAddresses addresses() {
        return addresses;
    }

    // ---- moving to RDMA

    /// Asks the peer through a stream whether it moves there, and moves if so; by the client. Returns false if not;
    /// the stream is of no use then. Waits for the peer.
    boolean ask(Carrier by) throws IOException, InterruptedException {
        say(by, addresses.name());
        ByteBuffer said = hear(by, 1 + Long.BYTES, ANSWER_MILLIS);
        if (said == null || !hold(CLIENT_NANOS)) {
            return false;
        }
        Phase next = Phase.LOST; // whatever fails from here on, the peer may have moved, or not
        try {
            byte wanted = in.endsAfter(said.getLong(1)) ? WAKE_ME : AWAKE;
            ByteBuffer last = null;
            if (!state.is(Phase.CLOSED)) {
                sayBytes(by, wanted);
                last = hear(by, 1, Integer.MAX_VALUE);
            }
            if (last != null) {
                move(by, last.get(0) == WAKE_ME);
            }
            next = last == null ? Phase.BY_TCP : Phase.MOVED;
        } catch (IOException e) {
            // the next call of the program says so
        } finally {
            settle(next, by);
        }
        return next != Phase.BY_TCP;
    }

    /// Moves to the stream through which the client has asked; by the server. Returns false if it does not; the
    /// stream is of no use then. Waits for the peer.
    boolean agree(Carrier by) throws IOException, InterruptedException {
        if (!hold(SERVER_NANOS)) {
            return false;
        }
        Phase next = Phase.BY_TCP;
        try {
            sayBytes(by, AWAKE);
            ByteBuffer said = hear(by, 1 + Long.BYTES, ANSWER_MILLIS);
            byte answer = said != null && in.endsAfter(said.getLong(1)) ? WAKE_ME : AWAKE;
            if (said != null && !state.is(Phase.CLOSED)) {
                next = Phase.LOST;
                say(by, ByteBuffer.wrap(new byte[] {answer}));
                move(by, said.get(0) == WAKE_ME);
                next = Phase.MOVED;
            }
        } finally {
            settle(next, by);
        }
        return next != Phase.BY_TCP;
    }

    /// Says something. If the peer has closed the stream meanwhile, the end of the stream is its answer.
    private static void say(Carrier by, ByteBuffer what) {
        try {
            int _ = by.write(what);
        } catch (IOException e) {
            // the next read tells whether the stream has ended or failed
        }
    }

    private void sayBytes(Carrier by, byte first) {
        say(
                by,
                ByteBuffer.allocate(1 + Long.BYTES)
                        .put(first)
                        .putLong(out.sent())
                        .flip());
    }

    /// Hears so many bytes; null when the stream ends before.
    private static @Nullable ByteBuffer hear(Carrier by, int count, int millis) throws IOException {
        byte[] said = new byte[count];
        for (int at = 0; at < count; ) {
            int read = by.read(said, at, count - at, millis);
            if (read < 0) {
                return null;
            }
            at += read;
        }
        return ByteBuffer.wrap(said);
    }

    /// Writes nothing from now on. Returns false when the connection stays with TCP, because it has moved already, its
    /// data have ended in one direction, or a write takes long.
    private boolean hold(long nanos) throws InterruptedException {
        if (!out.lock(nanos)) {
            return false;
        }
        try {
            state.lock();
            try {
                boolean mayMove = state.is(Phase.BY_TCP) && !out.isShut() && !isInputShut && !in.isOver();
                if (mayMove) {
                    state.set(Phase.HELD);
                }
                return mayMove;
            } finally {
                state.unlock();
            }
        } finally {
            out.unlock();
        }
    }

    /// Lets the program go on, in the phase that has come of it.
    private void settle(Phase next, Carrier by) throws IOException {
        switch (next) {
            case BY_TCP -> stay();
            case LOST -> lose(by);
            default -> {}
        }
    }

    private void stay() throws IOException {
        in.doesNotEnd();
        state.lock();
        try {
            state.set(Phase.BY_TCP);
            out.endIfShut();
        } finally {
            state.unlock();
        }
        tell();
    }

    private void lose(Carrier by) throws IOException {
        state.lock();
        try {
            state.set(Phase.LOST);
        } finally {
            state.unlock();
        }
        by.close(-1, false);
        tell();
    }

    private void move(Carrier by, boolean hasMark) throws IOException, InterruptedException {
        try {
            state.lock();
            try {
                by.configureBlocking(state.waits());
                by.begin(this::tell);
                if (isInputShut) {
                    by.shutdownInput();
                }
                stream = by;
                in.follow(by);
                out.follow(by, hasMark);
                if (state.is(Phase.CLOSED)) {
                    by.close(-1, false);
                }
                state.set(Phase.MOVED);
            } finally {
                state.unlock();
            }
        } catch (IOException e) {
            lose(by);
            return;
        }
        tell();
        try {
            out.mark(hasMark);
            keepAlive();
        } catch (IOException e) {
            // TCP has failed: the next call there finds out
        }
        if (use.pace().goesBack()) {
            lookLater(new WeakReference<>(this), use.pace().idleNanos(), -1);
        }
    }

    /// Keeps TCP known to what stands between the ends: nothing goes there for a while.
    private void keepAlive() throws IOException {
        SocketChannel own = tcp.kernel();
        if (own != null && own.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
            SocketChannel _ = own.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_SECONDS)
                    .setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        }
    }

    /// Returns whether a move sets this option for itself: what the program has set is known elsewhere.
    static boolean isOwn(SocketOption<?> name) {
        return name.equals(StandardSocketOptions.SO_KEEPALIVE) || name.equals(ExtendedSocketOptions.TCP_KEEPIDLE);
    }

    private void tell() {
        Runnable to = listener;
        if (to != null) {
            to.run();
        }
    }

    // ---- going back to TCP

    private static void lookLater(WeakReference<Moving> at, long nanos, long seen) {
        Executor after = CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS);
        after.execute(() -> Thread.ofVirtual().name("verbena-nio-idle").start(() -> {
            Moving it = at.get();
            if (it != null && it.look(seen)) {
                lookLater(at, nanos, it.use.total());
            }
        }));
    }

    /// Goes back to TCP if the use is what it was, or the peer has gone back. Returns whether to look again.
    private boolean look(long seen) {
        try {
            boolean hasPeerGone = !in.hasStream() && !in.isOver();
            goBack(hasPeerGone || use.total() == seen);
        } catch (IOException e) {
            // the next read or write says so
        }
        return state.is(Phase.MOVED);
    }

    /// Goes back to TCP with what this end reads, if its peer has.
    ///
    /// @param writes whether also with what it writes, as an idle end does
    void goBack(boolean writes) throws IOException {
        if (writes) {
            out.goBack();
        }
        in.lookBack();
        onDirectionBack();
    }

    /// Closes the stream when both directions have gone back.
    private void onDirectionBack() throws IOException {
        Carrier over = null;
        state.lock();
        try {
            if (state.is(Phase.MOVED) && !in.hasStream() && !out.isMoved()) {
                over = stream;
                stream = null;
                use.begin();
                state.set(Phase.BY_TCP);
            }
        } finally {
            state.unlock();
        }
        if (over != null) {
            over.close(-1, false);
        }
        tell();
    }

    // ---- reading

    private long read(MovingInput.Read one) throws IOException {
        try {
            long done = in.read(one);
            while (done == MovingInput.AGAIN) {
                onDirectionBack();
                done = in.read(one);
            }
            if (done < 0) {
                side.onOver(this);
            } else if (stream == null && use.isBusy()) {
                side.onBusy(this);
            }
            return done;
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        } finally {
            if (in.takeNews()) {
                tell();
            }
        }
    }

    private ClosedByInterruptException closedByInterrupt() throws IOException {
        Thread.currentThread().interrupt();
        close(-1, false);
        return new ClosedByInterruptException();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int done = in.readStream(into);
        return done >= 0 ? done : (int) read(new Reads.One(into));
    }

    @Override
    public int read(byte[] into, int offset, int length, int millis) throws IOException {
        return (int) read(Reads.of(into, offset, length, millis));
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        long done = in.readStream(into, offset, length);
        return done >= 0 ? done : read(Reads.of(into, offset, length));
    }

    @Override
    public int available() throws IOException {
        int now = in.available();
        if (now > 0 || !in.hasStream()) {
            return now;
        }
        try {
            goBack(false); // the stream is next perhaps, or has ended, which only a read would find out
        } catch (IOException e) {
            return 0; // the next read says so
        }
        return in.available();
    }

    // ---- writing

    @Override
    public int write(ByteBuffer from) throws IOException {
        try {
            return (int) wrote(out.write(from));
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        }
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        try {
            return wrote(out.write(from, offset, length));
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        }
    }

    private long wrote(long done) {
        if (done == 0 && state.is(Phase.HELD)) {
            tell(); // so that selectors no longer ask the kernel whether it can be written
        }
        if (stream == null && use.isBusy()) {
            side.onBusy(this);
        }
        return done;
    }

    // ---- the rest

    @Override
    public void shutdownInput() throws IOException {
        state.lock();
        try {
            isInputShut = true;
            Carrier moved = stream;
            if (moved != null) {
                moved.shutdownInput();
            }
            tcp.shutdownInput();
        } finally {
            state.unlock();
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        out.shutdown();
    }

    @Override
    public void configureBlocking(boolean block) throws IOException {
        state.lock();
        try {
            state.setWaits(block);
            Carrier moved = stream;
            if (moved != null) {
                moved.configureBlocking(block);
            }
        } finally {
            state.unlock();
        }
        tcp.configureBlocking(block);
    }

    @Override
    public boolean isOpen() {
        Carrier moved = stream;
        return tcp.isOpen() && (moved == null || moved.isOpen());
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
        int kept = in.hasKept() ? interestOps & SelectionKey.OP_READ : 0;
        if (moved == null) {
            return state.is(Phase.LOST) ? interestOps & OPS : kept;
        }
        int by = (in.looksMoved() ? SelectionKey.OP_READ : 0) | (out.isMoved() ? SelectionKey.OP_WRITE : 0);
        // A selector that finds a stream ready does not ask the kernel each time, and the end is ready from now on.
        int ended = in.isOver() ? interestOps & SelectionKey.OP_READ : 0;
        return kept | ended | moved.readyOps(interestOps & by);
    }

    @Override
    public int kernelOps(int interestOps) {
        int by = (in.looksMoved() || in.isWaiting() ? 0 : SelectionKey.OP_READ)
                | (out.isMoved() || state.is(Phase.HELD) ? 0 : SelectionKey.OP_WRITE);
        return interestOps & by;
    }

    @Override
    public @Nullable SocketChannel kernel() {
        return in.isMoved() && out.isMoved() ? null : tcp.kernel();
    }

    @Override
    public @Nullable StreamChannel stream() {
        Carrier moved = stream;
        return moved == null ? null : moved.stream();
    }

    @Override
    public void begin(Runnable listener) throws IOException {
        state.lock();
        try {
            this.listener = listener;
        } finally {
            state.unlock();
        }
        tcp.begin(listener);
        if (use.pace().isAtOnce()) {
            side.onBusy(this);
        }
    }

    @Override
    public <T> void setOption(SocketOption<T> name, T value) throws IOException {
        tcp.setOption(name, value);
    }

    @Override
    public void close(int lingerSeconds, boolean mayWait) throws IOException {
        Carrier moved;
        state.lock();
        try {
            state.set(Phase.CLOSED);
            moved = stream;
        } finally {
            state.unlock();
        }
        side.onOver(this);
        if (moved != null) {
            moved.close(lingerSeconds, mayWait);
        }
        try {
            if (in.leavesMark() && lingerSeconds != 0) {
                tcp.shutdownOutput(); // the peer finds the end before the reset that answers the mark
            }
        } catch (IOException e) {
            // TCP has failed already
        }
        tcp.close(lingerSeconds, mayWait);
    }

    @Override
    public String toString() {
        Carrier moved = stream;
        return moved == null ? tcp.toString() : "begun by TCP, " + moved;
    }
}
