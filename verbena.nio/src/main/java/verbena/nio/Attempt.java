package verbena.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.PendingCloses;
import verbena.stream.StreamChannel;
import verbena.stream.StreamOptions;

/// One attempt to connect, in a virtual thread of its own: by RDMA where the [Routes] say so, and by TCP when the peer
/// does not take that.
final class Attempt {
    private final InetSocketAddress peer;
    private final SocketChoices choices;
    private final Opener<SocketChannel> opener;
    private final @Nullable SocketChannel bound;
    private final Runnable onEnd;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();

    // Guarded by the lock, all below.
    private boolean isCancelled;
    private boolean hasEnded;
    private @Nullable StreamChannel stream;
    private @Nullable SocketChannel tcp;
    private @Nullable Throwable failure;

    /// @param bound a TCP channel that the program has bound, whose address and port are to be the connection's; else
    ///     null
    /// @param onEnd runs in the attempt's thread
    Attempt(
            InetSocketAddress peer,
            SocketChoices choices,
            Opener<SocketChannel> opener,
            @Nullable SocketChannel bound,
            Runnable onEnd) {
        this.peer = peer;
        this.choices = choices;
        this.opener = opener;
        this.bound = bound;
        this.tcp = bound;
        this.onEnd = onEnd;
    }

    /// The address to connect to.
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

    void start() {
        Thread.ofVirtual().name("verbena-nio-connect").start(this::run);
    }

    private void run() {
        Throwable why = null;
        try {
            if (!Routes.triesRdma(peer)) {
                byTcp();
            } else if (!byRdma()) {
                byTcp();
                Routes.takesTcpOnly(peer);
            }
        } catch (IOException | RuntimeException e) {
            why = e;
        }
        lock.lock();
        try {
            failure = why;
            hasEnded = true;
            if (isCancelled || why != null) {
                closeBoth();
            }
            ended.signalAll();
        } finally {
            lock.unlock();
        }
        onEnd.run();
    }

    /// False when the peer does not take it, or there is no device.
    private boolean byRdma() throws IOException {
        StreamChannel made = null;
        boolean done = false;
        try {
            InetSocketAddress to = ChosenDevice.hasPortsOfTcp()
                    ? new InetSocketAddress(peer.getAddress(), MappedPort.ask(peer, Routes.waitForPort()))
                    : peer;
            StreamOptions options = choices.stream().withConnectTimeout(Routes.wait(peer));
            made = StreamChannel.open(ChosenDevice.choose(options));
            keep(made, bound);
            done = bound == null ? made.connectTo(to) : made.connectTo(address(bound), to);
            if (done) {
                keep(made, null);
                Opener.quietly(bound); // it has held the port
            }
        } catch (AsynchronousCloseException e) {
            throw e;
        } catch (SocketTimeoutException e) {
            Routes.silent(peer);
            Routes.fellBack(peer, e);
        } catch (IOException | RuntimeException | LinkageError e) {
            Routes.fellBack(peer, e); // a device that cannot be used is no reason not to connect
        } finally {
            if (!done && made != null) {
                made.close();
            }
        }
        return done;
    }

    private void byTcp() throws IOException {
        SocketChannel made = bound == null ? opener.open() : bound;
        keep(null, made);
        choices.apply(made);
        boolean _ = made.connect(peer);
    }

    private static InetSocketAddress address(SocketChannel bound) throws IOException {
        return (InetSocketAddress) Objects.requireNonNull(bound.getLocalAddress());
    }

    private void keep(@Nullable StreamChannel newStream, @Nullable SocketChannel newTcp) throws IOException {
        lock.lock();
        try {
            stream = newStream;
            tcp = newTcp;
            if (isCancelled) {
                closeBoth();
                throw new AsynchronousCloseException();
            }
        } finally {
            lock.unlock();
        }
    }

    private void closeBoth() {
        if (stream != null) {
            PendingCloses.add(stream);
        }
        Opener.quietly(tcp);
    }

    /// Ends it, whatever has become of it. A thread that waits goes on.
    void cancel() {
        lock.lock();
        try {
            isCancelled = true;
            closeBoth();
            ended.signalAll();
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
                left = ended.awaitNanos(left);
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

    /// What carries the connection. Only after the end.
    ///
    /// @throws IOException why there is no connection
    Carrier result() throws IOException {
        lock.lock();
        try {
            if (isCancelled) {
                throw new AsynchronousCloseException();
            }
            switch (failure) {
                case null -> {}
                case IOException e -> throw e;
                default -> throw new IOException("connect: " + peer + ": " + failure.getMessage(), failure);
            }
            return stream != null
                    ? Carrier.ByStream.connected(stream, peer)
                    : new Carrier.ByTcp(Objects.requireNonNull(tcp));
        } finally {
            lock.unlock();
        }
    }
}
