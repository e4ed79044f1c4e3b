package verbena.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.nio.Choice.Failure;
import verbena.nio.Choice.Turn;
import verbena.stream.StreamChannel;

/// An attempt to connect: by RDMA where the [Routes] allow it, and by TCP when the [Choice] decides so. A virtual
/// thread of its own tries each transport, so that neither waits for the other longer than the head start.
final class Attempt {
    private static final long NANOS_PER_MILLI = 1_000_000;
    private final InetSocketAddress peer;
    private final SocketChoices choices;
    private final @Nullable SocketChannel bound;
    private final long limitNanos;
    private final @Nullable Pace pace;
    private final Runnable onEnd;
    private final long begun = System.nanoTime();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock, all below.
    /// Null until it is known whether RDMA is tried, and where only TCP can be.
    private @Nullable Choice choice;
    private boolean isCancelled;
    private boolean hasEnded;
    private @Nullable StreamChannel stream;
    private @Nullable SocketChannel tcp;
    private @Nullable Throwable failure;

    /// @param bound a TCP channel that the program has bound, whose address and port are to be the
    ///     connection's; else null
    /// @param limitNanos how long the program waits at most, `Long.MAX_VALUE` when it has not said so
    /// @param pace of a connection that begins by TCP; null when RDMA is tried first
    /// @param onEnd runs in any thread
    Attempt(
            InetSocketAddress peer,
            SocketChoices choices,
            @Nullable SocketChannel bound,
            long limitNanos,
            @Nullable Pace pace,
            Runnable onEnd) {
        this.peer = peer;
        this.choices = choices;
        this.bound = bound;
        this.limitNanos = limitNanos;
        this.pace = pace;
        this.tcp = bound;
        this.onEnd = onEnd;
    }

    /// Returns the address to connect to.
    ///
    /// @throws UnsupportedAddressTypeException when it is none of IP
    /// @throws UnresolvedAddressException when its name was not resolved
    static InetSocketAddress peer(SocketAddress remote) throws IOException {
        if (!(Objects.requireNonNull(remote) instanceof InetSocketAddress peer)) {
            throw new UnsupportedAddressTypeException();
        }
        if (peer.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return peer.getAddress().isAnyLocalAddress()
                ? new InetSocketAddress(InetAddress.getLocalHost(), peer.getPort())
                : peer;
    }

    /// Begins. Where only TCP can be, a caller that waits connects by itself: a thread that the attempt began would
    /// have to have a processor first, and the limit is the caller's. For a caller that does not wait the kernel
    /// connects.
    ///
    /// @param waits whether the caller is going to wait
    void start(boolean waits) {
        if (waits) {
            run();
        } else if (pace != null) {
            begin();
        } else {
            start();
        }
    }

    private void start() {
        try {
            Thread.ofVirtual().name("verbena-nio-connect").start(this::run);
        } catch (OutOfMemoryError e) {
            end(e);
        }
    }

    private void begin() {
        try {
            SocketChannel made = bound == null ? choices.open() : bound;
            keep(made);
            choices.apply(made);
            SelectableChannel _ = made.configureBlocking(false);
            if (made.connect(peer)) {
                end(null);
            }
        } catch (Throwable e) {
            end(e);
        }
    }

    /// Returns the channel that the kernel connects for a caller that does not wait, or has connected; null when
    /// there is none. Selectors watch it.
    @Nullable
    SocketChannel connecting() {
        lock.lock();
        try {
            SocketChannel own = tcp;
            if (pace == null || own == null || own.isBlocking() || isCancelled || failure != null) {
                return null;
            }
            return own.isConnectionPending() || own.isConnected() ? own : null;
        } finally {
            lock.unlock();
        }
    }

    /// Sets an option at the socket that connects. One that is opened later has it from the start.
    <T> void setOption(SocketOption<T> name, T value) throws IOException {
        SocketChannel own;
        lock.lock();
        try {
            own = tcp;
        } finally {
            lock.unlock();
        }
        try {
            if (own != null) {
                SocketChannel _ = own.setOption(name, value);
            }
        } catch (ClosedChannelException e) {
            // the attempt has failed: its end says so
        }
    }

    /// Ends the attempt if the kernel has connected. Does nothing where the kernel does not connect.
    ///
    /// @param waits whether the caller waits for the kernel
    void look(boolean waits) {
        SocketChannel made = connecting();
        if (made == null || hasEnded()) {
            return;
        }
        try {
            SelectableChannel _ = made.configureBlocking(waits);
            if (made.finishConnect()) {
                end(null);
            }
        } catch (Throwable e) {
            end(e);
        }
    }

    /// Runs the attempt. Any failure, an error too, ends it, because a thread of the program waits for the end.
    private void run() {
        try {
            if (pace != null) {
                byTcp(null);
                return;
            }
            Choice made = Routes.choose(peer, limitNanos, begun);
            if (begins(made)) {
                Thread.ofVirtual().name("verbena-nio-rdma").start(() -> tryRdma(made));
                Thread.ofVirtual().name("verbena-nio-tcp").start(() -> tryTcp(made));
            } else {
                tryTcp(made);
            }
        } catch (Throwable e) {
            end(e);
        }
    }

    private void tryTcp(Choice of) {
        try {
            if (awaitTcpsTurn(of)) {
                byTcp(of);
            }
        } catch (Throwable e) {
            end(e);
        }
    }

    private boolean begins(Choice made) {
        lock.lock();
        try {
            choice = made;
            if (isCancelled) {
                made.onCancel(System.nanoTime());
            }
            return made.turn() == Turn.RDMA;
        } finally {
            lock.unlock();
        }
    }

    /// Waits while it is the turn of RDMA; whether it is TCP's then.
    private boolean awaitTcpsTurn(Choice of) throws InterruptedException {
        StreamChannel late;
        lock.lock();
        try {
            while (of.turn() == Turn.RDMA) {
                long _ = changed.awaitNanos(of.nanosLeft(System.nanoTime()));
                of.onTime(System.nanoTime());
            }
            if (of.turn() != Turn.TCP) {
                return false;
            }
            late = stream;
            stream = null;
        } finally {
            lock.unlock();
        }
        if (late != null) {
            Routes.fellBack(peer, new SocketTimeoutException("no answer by RDMA in the time that it was given"));
            var _ = late.closeLater(); // tells the peer that there is no such connection
        }
        return true;
    }

    private void end(@Nullable Throwable why) {
        lock.lock();
        try {
            failure = why;
            hasEnded = true;
            if (choice != null && why != null) {
                choice.onFailed();
            }
            if (isCancelled || why != null) {
                closeBoth();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        onEnd.run();
    }

    // ---- RDMA

    private void tryRdma(Choice of) {
        try {
            if (byRdma(of)) {
                end(null);
            }
        } catch (Throwable e) { // a device that cannot be used is no reason not to connect
            if (fails(of, e)) {
                Routes.fellBack(peer, e);
            }
        }
    }

    /// Takes the failure of RDMA. Returns whether TCP is to be tried now.
    private boolean fails(Choice of, Throwable why) {
        lock.lock();
        try {
            boolean isNews = of.onRdmaFailed(Failure.of(why), System.nanoTime());
            changed.signalAll();
            return isNews;
        } finally {
            lock.unlock();
        }
    }

    /// Connects by RDMA. Returns whether the channel takes this connection.
    private boolean byRdma(Choice of) throws IOException {
        StreamChannel made = StreamChannel.open(ChosenDevice.choose(choices.stream()));
        boolean isTaken = false;
        try {
            made.configureBlocking(false);
            if (!keeps(of, made)) {
                return false;
            }
            InetSocketAddress to = peer;
            if (ChosenDevice.hasPortsOfTcp()) {
                asked(of);
                to = new InetSocketAddress(peer.getAddress(), MappedPort.ask(peer, Routes.waitForPort()));
                if (!answered(of)) { // from here on a peer of iWARP cannot be told that there is no connection
                    return false;
                }
            }
            boolean isMade = made.connectTo(bound == null ? null : address(bound), to, () -> answered(of));
            asked(of);
            if (!isMade) {
                made.configureBlocking(true);
                isMade = made.finishConnect();
            }
            isTaken = isMade && takes(of);
            return isTaken;
        } finally {
            if (isTaken) {
                Opener.quietly(bound); // it has held the port
            } else {
                var _ = made.closeLater();
            }
        }
    }

    private static InetSocketAddress address(SocketChannel bound) throws IOException {
        return (InetSocketAddress) Objects.requireNonNull(bound.getLocalAddress());
    }

    /// Keeps the stream of this attempt. Returns whether it is still the turn of RDMA.
    private boolean keeps(Choice of, StreamChannel made) {
        lock.lock();
        try {
            stream = of.turn() == Turn.RDMA ? made : stream;
            return of.turn() == Turn.RDMA;
        } finally {
            lock.unlock();
        }
    }

    private void asked(Choice of) {
        lock.lock();
        try {
            of.onAsked(System.nanoTime());
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private boolean answered(Choice of) {
        lock.lock();
        try {
            return of.onAnswer(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    private boolean takes(Choice of) {
        lock.lock();
        try {
            boolean isTaken = of.onRdma();
            tcp = isTaken ? null : tcp;
            return isTaken;
        } finally {
            lock.unlock();
        }
    }

    // ---- TCP

    /// @param of null when there is none
    private void byTcp(@Nullable Choice of) throws IOException {
        SocketChannel made = bound == null ? choices.open() : bound;
        boolean isTaken = false;
        try {
            keep(made);
            choices.apply(made);
            if (limitNanos == Long.MAX_VALUE) {
                boolean _ = made.connect(peer);
            } else {
                made.socket().connect(peer, millisLeft());
            }
            isTaken = of == null || takesTcp(of); // without a choice a cancel alone can be in the way: it closes it
        } finally {
            if (!isTaken) {
                Opener.quietly(made);
            }
        }
        end(null);
    }

    private int millisLeft() {
        long left = limitNanos - (System.nanoTime() - begun);
        return Math.clamp(Math.ceilDiv(left, NANOS_PER_MILLI), 1, Integer.MAX_VALUE);
    }

    private void keep(SocketChannel made) throws IOException {
        lock.lock();
        try {
            tcp = made;
            if (isCancelled) {
                throw new AsynchronousCloseException();
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean takesTcp(Choice of) {
        lock.lock();
        try {
            return of.onTcp(System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    // ---- the end

    private void closeBoth() {
        if (stream != null) {
            var _ = stream.closeLater();
        }
        Opener.quietly(tcp);
    }

    /// Ends it, whatever has become of it. A thread that waits goes on.
    void cancel() {
        lock.lock();
        try {
            isCancelled = true;
            if (choice != null) {
                choice.onCancel(System.nanoTime());
            }
            closeBoth();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until it has ended, or was cancelled.
    ///
    /// @param nanos to wait at most
    /// @return false when the time is over
    boolean await(long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (!hasEnded && !isCancelled && left > 0) {
                left = changed.awaitNanos(left);
            }
            return hasEnded || isCancelled;
        } finally {
            lock.unlock();
        }
    }

    boolean hasEnded() {
        lock.lock();
        try {
            return hasEnded;
        } finally {
            lock.unlock();
        }
    }

    /// Returns the carrier of the connection. It may be called only after the end.
    ///
    /// @throws IOException why there is no connection
    Carrier result() throws IOException {
        lock.lock();
        try {
            if (isCancelled) {
                throw new AsynchronousCloseException();
            }
            if (failure instanceof IOException e) { // no switch by type: its first one costs as much as a connection
                throw e;
            }
            if (failure != null) {
                throw new IOException("connect: " + peer + ": " + failure.getMessage(), failure);
            }
            Usage usage = pace == null ? Usage.of(peer, System.nanoTime() - begun, Routes::closed) : Usage.NONE;
            if (stream != null) {
                return Carrier.ByStream.connected(stream, peer, usage);
            }
            var by = new Carrier.ByTcp(Objects.requireNonNull(tcp), usage);
            return pace == null || !Routes.mayGoByRdma(peer)
                    ? by
                    : new Moving(by, true, pace, new Mover(peer, choices));
        } finally {
            lock.unlock();
        }
    }
}
