package verbena.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// A socket channel whose bytes go by RDMA, or by TCP when the peer speaks no RDMA. Its [Carrier] is known when it is
/// connected, and stays. Threads as [SocketChannel] has them.
final class RdmaSocketChannel extends SocketChannel {
    private final SocketChoices choices;
    /// Null when it begins by RDMA.
    private final @Nullable Pace pace;

    private final Selected selected = new Selection();
    /// Held while a connection is made.
    private final ReentrantLock connecting = new ReentrantLock();

    private final ReentrantLock lock = new ReentrantLock();

    // Written under the lock, all below.
    private volatile @Nullable Attempt attempt;
    private volatile @Nullable Carrier carrier;
    /// The program has bound it, and it is not connected yet.
    private volatile @Nullable SocketChannel bound;

    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;

    private volatile boolean waits = true;
    private volatile boolean isInputShut;
    private volatile boolean isOutputShut;
    /// A [SocketView], which the JVM need not load to check this class.
    private @Nullable Socket view;

    RdmaSocketChannel(SelectorProvider provider, Opener<SocketChannel> opener, @Nullable Pace pace) {
        super(provider);
        this.pace = pace;
        this.choices = new SocketChoices(opener);
    }

    /// Makes a channel that a listener has accepted.
    static RdmaSocketChannel accepted(
            SelectorProvider provider, Opener<SocketChannel> opener, Carrier carrier, NetworkChannel listener)
            throws IOException {
        var made = new RdmaSocketChannel(provider, opener, null);
        boolean isDone = false;
        try {
            made.choices.inherit(listener);
            made.adopt(carrier);
            isDone = true;
            return made;
        } finally {
            if (!isDone) {
                carrier.close(-1, false); // the listener has been closed meanwhile
            }
        }
    }

    Selected selected() {
        return selected;
    }

    // ---- selectors

    private final class Selection extends Selected {
        @Override
        int readyOps(int interestOps) {
            Carrier now = carrier;
            if (now != null) {
                return now.readyOps(interestOps);
            }
            Attempt current = attempt;
            return current != null && current.hasEnded() ? interestOps & SelectionKey.OP_CONNECT : 0;
        }

        @Override
        @Nullable
        StreamChannel stream() {
            Carrier now = carrier;
            return now == null ? null : now.stream();
        }

        @Override
        @Nullable
        SelectableChannel kernel() {
            Carrier now = carrier;
            if (now != null) {
                return now.kernel();
            }
            Attempt current = attempt;
            return current == null ? null : current.connecting();
        }

        @Override
        int kernelOps(int interestOps) {
            Carrier now = carrier;
            return now == null ? interestOps & SelectionKey.OP_CONNECT : now.kernelOps(interestOps);
        }
    }

    // ---- making the connection

    @Override
    public boolean connect(SocketAddress to) throws IOException {
        return connect(to, Long.MAX_VALUE);
    }

    /// Connects; in blocking mode waits at most so long.
    ///
    /// @throws SocketTimeoutException when the time is over; the channel is closed then
    boolean connect(SocketAddress to, long nanos) throws IOException {
        InetSocketAddress peer = Attempt.peer(to);
        connecting.lock();
        try {
            checkOpen();
            checkInterrupt();
            if (isConnected()) {
                throw new AlreadyConnectedException();
            }
            if (attempt != null) {
                throw new ConnectionPendingException();
            }
            var made = new Attempt(peer, choices, bound, nanos, pace, selected);
            remote = peer;
            attempt = made;
            bound = null;
            if (!isOpen()) {
                made.cancel();
                throw new ClosedChannelException();
            }
            made.start(waits);
            return waits && await(made, nanos);
        } finally {
            connecting.unlock();
        }
    }

    private boolean await(Attempt made, long nanos) throws IOException {
        boolean done;
        try {
            done = made.await(nanos);
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        }
        if (!done) {
            close();
            throw new SocketTimeoutException("Connect timed out");
        }
        return finish(made);
    }

    private ClosedByInterruptException closedByInterrupt() throws IOException {
        Thread.currentThread().interrupt();
        close();
        return new ClosedByInterruptException();
    }

    private void checkInterrupt() throws IOException {
        if (waits && Thread.currentThread().isInterrupted()) {
            throw closedByInterrupt();
        }
    }

    @Override
    public boolean finishConnect() throws IOException {
        connecting.lock();
        try {
            checkOpen();
            if (isConnected()) {
                return true;
            }
            checkInterrupt();
            Attempt current = attempt;
            if (current == null) {
                throw new NoConnectionPendingException();
            }
            current.look(waits);
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

    /// Makes this carrier carry the bytes from now on.
    private void adopt(Carrier made) throws IOException {
        lock.lock();
        try {
            made.configureBlocking(waits);
            local = made.local();
            remote = made.remote();
            made.begin(selected);
            carrier = made;
            attempt = null;
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
        return isOpen() && carrier != null;
    }

    @Override
    public boolean isConnectionPending() {
        return isOpen() && attempt != null;
    }

    @Override
    public SocketChannel bind(@Nullable SocketAddress address) throws IOException {
        connecting.lock();
        try {
            checkOpen();
            if (attempt != null) {
                throw new ConnectionPendingException();
            }
            if (carrier != null || bound != null) {
                throw new AlreadyBoundException();
            }
            SocketChannel made = choices.bind(address);
            local = (InetSocketAddress) made.getLocalAddress();
            bound = made;
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
        Objects.requireNonNull(into);
        Carrier now = connected();
        try {
            return now.read(into);
        } catch (ClosedChannelException e) {
            throw closedWith(now, e);
        }
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        Carrier now = connected();
        try {
            return now.read(into, offset, length);
        } catch (ClosedChannelException e) {
            throw closedWith(now, e);
        }
    }

    /// Reads with a time limit, for the socket's adaptor.
    ///
    /// @throws SocketTimeoutException when the time is over
    int read(byte[] into, int offset, int length, int millis) throws IOException {
        Carrier now = connected();
        try {
            return now.read(into, offset, length, millis);
        } catch (ClosedChannelException e) {
            throw closedWith(now, e);
        }
    }

    int available() throws IOException {
        return connected().available();
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        Objects.requireNonNull(from);
        Carrier now = connected();
        try {
            return now.write(from);
        } catch (ClosedChannelException e) {
            throw closedWith(now, e);
        }
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, from.length);
        Carrier now = connected();
        try {
            return now.write(from, offset, length);
        } catch (ClosedChannelException e) {
            throw closedWith(now, e);
        }
    }

    void sendUrgent(int data) throws IOException {
        SocketChannel kernel = connected().kernel();
        checkInterrupt();
        if (isOutputShut) {
            throw new AsynchronousCloseException();
        }
        if (kernel == null) {
            throw new SocketException("Urgent data not supported");
        }
        kernel.socket().sendUrgentData(data);
    }

    /// Closes this channel when its carrier has been closed, by an interruption for instance. Returns the
    /// exception.
    private ClosedChannelException closedWith(Carrier now, ClosedChannelException e) throws IOException {
        if (!now.isOpen()) {
            close();
        }
        return e;
    }

    private void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    private Carrier connected() throws ClosedChannelException {
        checkOpen();
        Carrier now = carrier;
        if (now == null) {
            throw new NotYetConnectedException();
        }
        return now;
    }

    // ---- the end

    @Override
    public SocketChannel shutdownInput() throws IOException {
        Carrier now = connected();
        isInputShut = true;
        now.shutdownInput();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        Carrier now = connected();
        isOutputShut = true;
        now.shutdownOutput();
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
    }

    private void release() throws IOException {
        Attempt current = attempt;
        if (current != null) {
            current.cancel();
        }
        Opener.quietly(bound);
        Carrier now = carrier;
        if (now != null) {
            now.close(choices.linger(), waits);
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        Carrier now;
        lock.lock();
        try {
            waits = block;
            now = carrier;
        } finally {
            lock.unlock();
        }
        if (block) {
            selected.leave();
        }
        if (now != null) {
            now.configureBlocking(block);
        }
    }

    // ---- what there is to know

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        checkOpen();
        return localAddress();
    }

    /// Returns the address that it was bound to, when it is closed.
    @Nullable
    InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public @Nullable SocketAddress getRemoteAddress() throws IOException {
        checkOpen();
        return remoteAddress();
    }

    /// Returns the address that it was connected to, or was to be, when it is closed.
    @Nullable
    InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        choices.check(name, value);
        checkOpen();
        choices.set(name, value);
        SocketChannel own = bound;
        Attempt current = attempt; // looked at before the carrier, which there is when the attempt is over
        Carrier now = carrier;
        if (now != null) {
            now.setOption(name, value);
        } else if (current != null) {
            current.setOption(name, value);
        } else if (own != null) {
            SocketChannel _ = own.setOption(name, value);
        }
        return this;
    }

    @Override
    public <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        choices.check(name);
        checkOpen();
        Carrier now = carrier;
        SocketChannel own = now == null ? bound : Moving.isOwn(name) ? null : now.kernel();
        return own != null ? own.getOption(name) : choices.get(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return choices.supported();
    }

    @Override
    public Socket socket() {
        lock.lock();
        try {
            Socket made = view;
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
        Carrier now = carrier;
        return "RdmaSocketChannel[" + (!isOpen() ? "closed" : now == null ? "not connected" : now) + "]";
    }
}
