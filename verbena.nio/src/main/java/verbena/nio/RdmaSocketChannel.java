package verbena.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// A socket channel that a [StreamChannel] carries, or the JDK's own channel when the peer speaks no RDMA. Which one is
/// known when it is connected, and does not change. Threads as [SocketChannel] has them.
final class RdmaSocketChannel extends SocketChannel {
    private static final int STREAM_OPS = SelectionKey.OP_READ | SelectionKey.OP_WRITE;

    private final Opener<SocketChannel> opener;
    private final SocketChoices choices;
    private final Selected selected = new Selection();
    /// Held while a connection is made.
    private final ReentrantLock connecting = new ReentrantLock();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Written under the lock, all below.
    private volatile @Nullable Attempt attempt;
    private volatile @Nullable StreamChannel stream;
    private volatile @Nullable SocketChannel tcp;
    /// The program has bound it, and it is not connected yet.
    private volatile @Nullable SocketChannel bound;

    private volatile boolean waits = true;
    private volatile boolean isInputShut;
    private volatile boolean isOutputShut;
    /// A thread is in [#awaitReadable].
    private volatile boolean hasTimedReader;

    private @Nullable SocketView view;

    RdmaSocketChannel(SelectorProvider provider, Opener<SocketChannel> opener) {
        super(provider);
        this.opener = opener;
        this.choices = new SocketChoices(opener);
    }

    /// One that a listener has accepted.
    static RdmaSocketChannel accepted(
            SelectorProvider provider, Opener<SocketChannel> opener, AutoCloseable carrier) throws IOException {
        var made = new RdmaSocketChannel(provider, opener);
        made.adopt(carrier);
        return made;
    }

    Selected selected() {
        return selected;
    }

    // ---- selectors

    private final class Selection extends Selected {
        @Override
        int readyOps(int interestOps) {
            StreamChannel carrier = stream;
            if (carrier != null) {
                int wanted = interestOps & STREAM_OPS;
                return wanted == 0 ? 0 : carrier.readyOps(wanted);
            }
            Attempt current = attempt;
            return current != null && current.hasEnded() ? interestOps & SelectionKey.OP_CONNECT : 0;
        }

        @Override
        @Nullable
        SelectableChannel kernel() {
            return tcp;
        }

        @Override
        int kernelOps(int interestOps) {
            return interestOps & STREAM_OPS;
        }
    }

    /// Something may be ready: for selectors, and for a thread in [#awaitReadable].
    private void onReadiness() {
        selected.poke();
        if (hasTimedReader) {
            Thread.ofVirtual().start(this::signal); // the caller must not wait for the lock
        }
    }

    private void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Waits until a read would not wait, in blocking mode: for the socket's adaptor, which has a time limit.
    ///
    /// @throws SocketTimeoutException when the time is over
    void awaitReadable(long nanos) throws IOException {
        StreamChannel carrier = stream;
        if (carrier == null) {
            return;
        }
        boolean done = false;
        try {
            begin();
            lock.lockInterruptibly();
            try {
                hasTimedReader = true;
                long left = nanos;
                while (isOpen() && carrier.readyOps(SelectionKey.OP_READ) == 0) {
                    if (left <= 0) {
                        done = true;
                        throw new SocketTimeoutException("Read timed out");
                    }
                    StreamChannel.handOver();
                    left = changed.awaitNanos(left);
                }
                done = isOpen();
            } finally {
                hasTimedReader = false;
                lock.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            end(done);
        }
    }

    // ---- making the connection

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        return connect(remote, Long.MAX_VALUE);
    }

    /// Connects; in blocking mode waits at most so long.
    ///
    /// @throws SocketTimeoutException when the time is over; the channel is closed then
    boolean connect(SocketAddress remote, long nanos) throws IOException {
        InetSocketAddress peer = peer(remote);
        connecting.lock();
        try {
            checkOpen();
            if (isConnected()) {
                throw new AlreadyConnectedException();
            }
            if (attempt != null) {
                throw new ConnectionPendingException();
            }
            var made = new Attempt(peer, choices, opener, bound, this::onReadiness);
            attempt = made;
            bound = null;
            if (!isOpen()) {
                made.cancel();
                throw new ClosedChannelException();
            }
            made.start();
            return waits && await(made, nanos);
        } finally {
            connecting.unlock();
        }
    }

    private static InetSocketAddress peer(SocketAddress remote) throws IOException {
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

    private boolean await(Attempt made, long nanos) throws IOException {
        boolean done = false;
        try {
            begin();
            done = made.await(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // end() closes the channel, and says so
        } finally {
            end(done && isOpen());
        }
        if (!done) {
            close();
            throw new SocketTimeoutException("connect timed out");
        }
        return finish(made);
    }

    @Override
    public boolean finishConnect() throws IOException {
        connecting.lock();
        try {
            checkOpen();
            if (isConnected()) {
                return true;
            }
            Attempt current = attempt;
            if (current == null) {
                throw new NoConnectionPendingException();
            }
            if (waits) {
                return await(current, Long.MAX_VALUE);
            }
            return current.hasEnded() && finish(current);
        } finally {
            connecting.unlock();
        }
    }

    private boolean finish(Attempt ended) throws IOException {
        try {
            adopt(ended.result());
            return true;
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /// From now on this carries the bytes.
    private void adopt(AutoCloseable carrier) throws IOException {
        lock.lock();
        try {
            attempt = null;
            if (carrier instanceof StreamChannel made) {
                made.configureBlocking(waits);
                made.onReadiness(this::onReadiness);
                stream = made;
                NioCounters.RDMA_CONNECTIONS.increment();
            } else if (carrier instanceof SocketChannel made) {
                made.configureBlocking(waits);
                tcp = made;
                NioCounters.TCP_CONNECTIONS.increment();
            }
        } finally {
            lock.unlock();
        }
        if (!isOpen()) {
            release();
            throw new AsynchronousCloseException();
        }
        selected.poke();
    }

    @Override
    public boolean isConnected() {
        return isOpen() && (stream != null || tcp != null);
    }

    @Override
    public boolean isConnectionPending() {
        return isOpen() && attempt != null;
    }

    @Override
    public SocketChannel bind(@Nullable SocketAddress local) throws IOException {
        connecting.lock();
        try {
            checkOpen();
            if (attempt != null) {
                throw new ConnectionPendingException();
            }
            SocketChannel own = tcp != null ? tcp : bound;
            if (own == null && stream != null) {
                throw new AlreadyBoundException();
            }
            if (own != null) {
                own.bind(local);
                return this;
            }
            SocketChannel made = opener.open();
            boolean done = false;
            try {
                choices.apply(made);
                made.bind(local);
                bound = made;
                done = true;
            } finally {
                if (!done) {
                    made.close();
                }
            }
            if (!isOpen()) {
                made.close();
            }
            return this;
        } finally {
            connecting.unlock();
        }
    }

    // ---- data

    @Override
    public int read(ByteBuffer into) throws IOException {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("Read-only buffer");
        }
        checkConnected();
        if (isInputShut) {
            return -1;
        }
        StreamChannel carrier = stream;
        try {
            int n = carrier != null ? carrier.read(into) : tcp().read(into);
            return (int) in(carrier, n);
        } catch (ClosedChannelException e) {
            throw closedWith(carrier, e);
        }
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        for (int i = offset; i < offset + length; i++) {
            if (into[i].isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
        }
        checkConnected();
        if (isInputShut) {
            return -1;
        }
        StreamChannel carrier = stream;
        try {
            long n = carrier != null ? carrier.read(into, offset, length) : tcp().read(into, offset, length);
            return in(carrier, n);
        } catch (ClosedChannelException e) {
            throw closedWith(carrier, e);
        }
    }

    private static long in(@Nullable StreamChannel carrier, long n) {
        if (n > 0) {
            (carrier != null ? NioCounters.RDMA_IN : NioCounters.TCP_IN).add(n);
        }
        return n;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        Objects.requireNonNull(from);
        checkConnected();
        StreamChannel carrier = stream;
        try {
            int n = carrier != null ? carrier.write(from) : tcp().write(from);
            return (int) out(carrier, n);
        } catch (ClosedChannelException e) {
            throw closedWith(carrier, e);
        }
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, from.length);
        checkConnected();
        StreamChannel carrier = stream;
        try {
            long n = carrier != null ? carrier.write(from, offset, length) : tcp().write(from, offset, length);
            return out(carrier, n);
        } catch (ClosedChannelException e) {
            throw closedWith(carrier, e);
        }
    }

    private static long out(@Nullable StreamChannel carrier, long n) {
        if (n > 0) {
            (carrier != null ? NioCounters.RDMA_OUT : NioCounters.TCP_OUT).add(n);
        }
        return n;
    }

    private SocketChannel tcp() {
        return Objects.requireNonNull(tcp);
    }

    /// What closes the channel below, an interruption for instance, closes this one.
    private ClosedChannelException closedWith(@Nullable StreamChannel carrier, ClosedChannelException e)
            throws IOException {
        if (!(carrier != null ? carrier.isOpen() : tcp().isOpen())) {
            close();
        }
        return e;
    }

    private void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    private void checkConnected() throws ClosedChannelException {
        checkOpen();
        if (!isConnected()) {
            throw new NotYetConnectedException();
        }
    }

    // ---- the end

    @Override
    public SocketChannel shutdownInput() throws IOException {
        checkConnected();
        isInputShut = true;
        StreamChannel carrier = stream;
        if (carrier != null) {
            carrier.shutdownInput();
        } else {
            tcp().shutdownInput();
        }
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        checkConnected();
        isOutputShut = true;
        StreamChannel carrier = stream;
        if (carrier != null) {
            carrier.shutdownOutput();
        } else {
            tcp().shutdownOutput();
        }
        return this;
    }

    boolean isInputShut() {
        return isInputShut;
    }

    boolean isOutputShut() {
        return isOutputShut;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        release();
        signal();
    }

    private void release() throws IOException {
        Attempt current = attempt;
        if (current != null) {
            current.cancel();
        }
        StreamChannel carrier = stream;
        if (carrier != null) {
            int linger = choices.linger();
            if (linger == 0) {
                carrier.abandon();
            } else if (linger > 0 && waits) {
                carrier.close();
            } else {
                Closing.later(carrier);
            }
        }
        Closing.quietly(bound);
        SocketChannel own = tcp;
        if (own != null) {
            own.close();
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        StreamChannel carrier;
        SocketChannel own;
        lock.lock();
        try {
            waits = block;
            carrier = stream;
            own = tcp;
        } finally {
            lock.unlock();
        }
        if (carrier != null) {
            carrier.configureBlocking(block);
        } else if (own != null) {
            if (block) {
                selected.leave();
            }
            own.configureBlocking(block);
        }
    }

    // ---- what there is to know

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        checkOpen();
        return localAddress();
    }

    @Nullable
    InetSocketAddress localAddress() throws IOException {
        StreamChannel carrier = stream;
        if (carrier != null) {
            return carrier.localAddress().orElse(null);
        }
        SocketChannel own = tcp != null ? tcp : bound;
        return own == null || !own.isOpen() ? null : (InetSocketAddress) own.getLocalAddress();
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        checkOpen();
        return remoteAddress();
    }

    @Nullable
    InetSocketAddress remoteAddress() throws IOException {
        StreamChannel carrier = stream;
        if (carrier != null) {
            return carrier.peerAddress().orElse(null);
        }
        SocketChannel own = tcp;
        return own == null || !own.isOpen() ? null : (InetSocketAddress) own.getRemoteAddress();
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        checkOpen();
        choices.set(Objects.requireNonNull(name), value);
        SocketChannel own = tcp != null ? tcp : bound;
        if (own != null) {
            own.setOption(name, value);
        }
        return this;
    }

    @Override
    public <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        checkOpen();
        SocketChannel own = tcp != null ? tcp : bound;
        return own != null ? own.getOption(name) : choices.get(Objects.requireNonNull(name));
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return choices.supported();
    }

    @Override
    public Socket socket() {
        lock.lock();
        try {
            SocketView made = view;
            if (made == null) {
                made = SocketView.of(this);
                view = made;
            }
            return made;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        StreamChannel carrier = stream;
        SocketChannel own = tcp;
        return "RdmaSocketChannel["
                + (!isOpen() ? "closed" : carrier != null ? carrier : own != null ? "by " + own : "not connected")
                + "]";
    }
}
