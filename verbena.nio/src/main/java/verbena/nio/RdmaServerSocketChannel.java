package verbena.nio;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;
import verbena.stream.StreamOptions;
import verbena.verbs.DeviceException;
import verbena.verbs.VerbsException;

/// A listener for both transports under one number: at the kernel's TCP port by the JDK's own channel, and for
/// streams over RDMA. A call of [#accept()] returns a connection of either. Threads as [ServerSocketChannel] has
/// them.
final class RdmaServerSocketChannel extends ServerSocketChannel {
    /// The number of ports chosen by the kernel that RDMA may find taken already.
    private static final int TRIES = 32;

    private final Opener<ServerSocketChannel> opener;
    private final @Nullable Pace pace;
    private final MoveListener moves;
    private final Opener<SocketChannel> sockets = new Jdk.Sockets(null);
    private final Selected selected = new Selection();
    private final ReentrantLock accepting = new ReentrantLock();
    /// Held to bind.
    private final ReentrantLock lock = new ReentrantLock();

    /// Replaced when another number has to be tried. It blocks as this one does where connections begin by TCP, and
    /// never where they begin by either.
    private volatile ServerSocketChannel tcp;

    private volatile @Nullable StreamListener listener;
    /// The answerer that names the port of the listener, when that is another port.
    private volatile @Nullable MappedPort mapped;

    private volatile @Nullable InetSocketAddress local;
    private volatile boolean isBound;
    /// The selector in which a thread in [#accept()] sleeps; made at the first sleep.
    private volatile @Nullable Selector waiter;

    private boolean isStreamNext;
    private @Nullable ServerSocketView view;

    /// Opens one, which is loaded only then, as [RdmaSelector#open] is.
    ///
    /// @param pace of the connections, which begin by TCP; null when they begin by either
    static ServerSocketChannel open(SelectorProvider provider, Opener<ServerSocketChannel> opener, @Nullable Pace pace)
            throws IOException {
        return new RdmaServerSocketChannel(provider, opener, pace);
    }

    private RdmaServerSocketChannel(SelectorProvider provider, Opener<ServerSocketChannel> opener, @Nullable Pace pace)
            throws IOException {
        super(provider);
        this.opener = opener;
        this.pace = pace;
        this.moves = new MoveListener(new AtSameNumber());
        this.tcp = make();
    }

    private ServerSocketChannel make() throws IOException {
        ServerSocketChannel made = opener.open();
        SelectableChannel _ = made.configureBlocking(pace != null && isBlocking());
        return made;
    }

    /// Listens for the streams of connections that move. No lambda: a first connection passes here.
    private final class AtSameNumber implements MoveListener.Streams {
        @Override
        public @Nullable StreamListener listen() throws IOException {
            return RdmaServerSocketChannel.this.listen(local(), false);
        }
    }

    Selected selected() {
        return selected;
    }

    private final class Selection extends Selected {
        @Override
        int readyOps(int interestOps) {
            StreamListener streams = listener;
            return streams != null && streams.isReady() ? interestOps & SelectionKey.OP_ACCEPT : 0;
        }

        @Override
        @Nullable
        StreamChannel stream() {
            return null;
        }

        @Override
        @Nullable
        SelectableChannel kernel() {
            return isBound ? tcp : null;
        }

        @Override
        int kernelOps(int interestOps) {
            return interestOps;
        }
    }

    private void onReadiness() {
        selected.poke();
        Selector sleeper = waiter;
        if (sleeper != null) {
            sleeper.wakeup();
        }
    }

    // ---- binding

    @Override
    public ServerSocketChannel bind(@Nullable SocketAddress local, int backlog) throws IOException {
        lock.lock();
        try {
            checkOpen();
            if (isBound) {
                throw new AlreadyBoundException();
            }
            bindBoth(local, backlog);
            if (!isOpen()) {
                release();
                throw new ClosedChannelException();
            }
        } finally {
            lock.unlock();
        }
        selected.poke();
        return this;
    }

    private void bindBoth(@Nullable SocketAddress local, int backlog) throws IOException {
        boolean choosesPort = local == null || (local instanceof InetSocketAddress wanted && wanted.getPort() == 0);
        for (int left = TRIES; ; left--) {
            ServerSocketChannel _ = tcp.bind(local, backlog);
            InetSocketAddress at = (InetSocketAddress) Objects.requireNonNull(tcp.getLocalAddress());
            this.local = at;
            try {
                boolean isForRdma = Routes.listensForRdma(at);
                listener = isForRdma && pace == null ? listen(at, choosesPort && left > 0) : null;
                isBound = true;
                if (isForRdma && pace != null && pace.isAtOnce()) {
                    moves.listenAtOnce();
                }
                return;
            } catch (BindException e) {
                replace(); // another program has the number for RDMA: the kernel chooses another
            }
        }
    }

    private @Nullable StreamListener listen(InetSocketAddress at, boolean choosesPort) throws BindException {
        try {
            Optional<String> why = ChosenDevice.whyNotAt(at.getAddress());
            if (why.isPresent()) {
                throw new NoRouteToHostException(why.get());
            }
            StreamOptions options = ChosenDevice.choose(SocketChoices.defaults());
            int ring = Math.max(options.receiveBytes(), tcp.getOption(StandardSocketOptions.SO_RCVBUF));
            options = options.withBuffers(options.sendBytes(), ring)
                    .withApplication(pace == null ? 0 : TcpAddresses.PROTOCOL);
            StreamListener made =
                    ChosenDevice.hasPortsOfTcp() ? listenElsewhere(at, options) : StreamListener.bind(at, options);
            if (pace == null) {
                made.configureBlocking(false);
                made.onReadiness(this::onReadiness);
            }
            Routes.listensForBoth(at.getPort());
            return made;
        } catch (BindException e) {
            if (choosesPort && isPortTaken(e)) {
                throw e;
            }
            Routes.listensByTcpOnly(at, e); // another program has the number for RDMA; the kernel's is ours
            return null;
        } catch (ClosedChannelException e) {
            return null; // the program has closed it
        } catch (IOException | VerbsException | LinkageError e) {
            Routes.listensByTcpOnly(at, e); // no device: the kernel's port is there all the same
            return null;
        }
    }

    /// Returns whether another port may be free. Where the device cannot be opened, none is.
    static boolean isPortTaken(BindException refused) {
        Throwable why = refused.getCause();
        return why == null || !(why.getCause() instanceof DeviceException);
    }

    /// Listens by RDMA at any other port.
    private StreamListener listenElsewhere(InetSocketAddress at, StreamOptions options) throws IOException {
        StreamListener made = StreamListener.bind(new InetSocketAddress(at.getAddress(), 0), options);
        boolean done = false;
        try {
            mapped = new MappedPort(
                    ChosenDevice.addressesAt(at.getAddress()),
                    at.getPort(),
                    made.localAddress().getPort());
            done = true;
            return made;
        } finally {
            if (!done) {
                made.close();
            }
        }
    }

    /// Replaces the socket of TCP, because a bound socket cannot be bound anew.
    private void replace() throws IOException {
        ServerSocketChannel old = tcp;
        ServerSocketChannel made = make();
        for (SocketOption<?> each : old.supportedOptions()) {
            copy(each, old, made);
        }
        tcp = made;
        old.close();
    }

    private static <T> void copy(SocketOption<T> name, ServerSocketChannel from, ServerSocketChannel to)
            throws IOException {
        T value = from.getOption(name);
        if (value != null && !value.equals(to.getOption(name))) {
            ServerSocketChannel _ = to.setOption(name, value);
        }
    }

    // ---- accepting

    @Override
    public @Nullable SocketChannel accept() throws IOException {
        return accept(Long.MAX_VALUE);
    }

    /// Waits at most so long, in blocking mode.
    ///
    /// @return null when none has come
    @Nullable
    SocketChannel accept(long nanos) throws IOException {
        accepting.lock();
        try {
            checkOpen();
            if (isBlocking()) {
                checkInterrupt();
            }
            if (!isBound) {
                throw new NotYetBoundException();
            }
            Carrier found = pace != null ? acceptTcp(nanos) : isBlocking() ? await(nanos) : poll();
            return found == null ? null : RdmaSocketChannel.accepted(provider(), sockets, found, tcp);
        } finally {
            accepting.unlock();
        }
    }

    /// Accepts where connections begin by TCP: in the kernel alone.
    private @Nullable Carrier acceptTcp(long nanos) throws IOException {
        try {
            if (nanos == Long.MAX_VALUE || !isBlocking()) {
                return carrier(tcp.accept());
            }
            ServerSocket timed = tcp.socket();
            timed.setSoTimeout(Math.clamp(TimeUnit.NANOSECONDS.toMillis(nanos), 1, Integer.MAX_VALUE));
            return carrier(timed.accept().getChannel());
        } catch (SocketTimeoutException e) {
            return null;
        } catch (ClosedByInterruptException e) {
            close();
            throw e;
        }
    }

    private @Nullable Carrier carrier(@Nullable SocketChannel found) throws IOException {
        if (found == null) {
            return null;
        }
        var by = new Carrier.ByTcp(found, Usage.NONE);
        return pace == null || !Routes.listensForRdma(local()) ? by : moves.accepted(by, pace);
    }

    private @Nullable Carrier await(long nanos) throws IOException {
        long start = System.nanoTime();
        try {
            Selector sleeper = sleeper();
            while (true) {
                checkInterrupt();
                Carrier found = poll();
                long left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - start);
                if (found != null || left <= 0) {
                    return found;
                }
                int _ = nanos == Long.MAX_VALUE
                        ? sleeper.select()
                        : sleeper.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left + 999_999)));
                sleeper.selectedKeys().clear();
            }
        } catch (ClosedByInterruptException e) {
            throw e;
        } catch (ClosedChannelException | ClosedSelectorException e) {
            var closed = new AsynchronousCloseException();
            closed.initCause(e);
            throw closed;
        }
    }

    private void checkInterrupt() throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            close();
            throw new ClosedByInterruptException();
        }
    }

    private Selector sleeper() throws IOException {
        Selector made = waiter;
        if (made == null) {
            made = Jdk.provider().openSelector();
            SelectionKey _ = tcp.register(made, SelectionKey.OP_ACCEPT);
            waiter = made;
            if (!isOpen()) {
                made.close();
            }
        }
        return made;
    }

    /// Returns a connection that has come; when both transports have one, RDMA and TCP take turns.
    private @Nullable Carrier poll() throws IOException {
        isStreamNext = !isStreamNext;
        Carrier first = isStreamNext ? pollStream() : pollTcp();
        if (first != null) {
            return first;
        }
        return isStreamNext ? pollTcp() : pollStream();
    }

    private @Nullable Carrier pollTcp() throws IOException {
        return carrier(tcp.accept());
    }

    private @Nullable Carrier pollStream() throws IOException {
        StreamListener streams = listener;
        if (streams == null) {
            return null;
        }
        try {
            StreamChannel found = streams.accept();
            return found == null ? null : Carrier.ByStream.accepted(found, local().getPort());
        } catch (SocketException e) {
            closeStreams(); // the device has failed: TCP goes on
            Routes.listensByTcpOnly(local(), e);
            return null;
        }
    }

    private void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    // ---- the end

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        release();
    }

    private void closeStreams() {
        moves.close();
        Opener.quietly(mapped);
        StreamListener streams = listener;
        listener = null;
        if (streams != null) {
            streams.close();
        }
    }

    private void release() throws IOException {
        closeStreams();
        tcp.close();
        Selector sleeper = waiter;
        if (sleeper != null) {
            sleeper.close(); // wakes the thread that waits there, and lets the descriptor go
        }
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        if (pace == null) {
            return; // the channel below never blocks: accept() waits itself
        }
        if (block) {
            selected.leave();
        }
        SelectableChannel _ = tcp.configureBlocking(block);
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
        return isBound ? local : null;
    }

    private InetSocketAddress local() {
        return Objects.requireNonNull(local);
    }

    boolean isBound() {
        return isBound;
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        ServerSocketChannel _ = tcp.setOption(name, value); // it says when it is closed
        return this;
    }

    @Override
    public <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        return tcp.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return tcp.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        lock.lock();
        try {
            ServerSocketView made = view;
            if (made == null) {
                made = ServerSocketView.of(this);
                view = made;
            }
            return Objects.requireNonNull(made);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        boolean isTcpOnly = isBound && (pace == null ? listener == null : !Routes.listensForRdma(local()));
        return "RdmaServerSocketChannel[" + (isTcpOnly ? "TCP only, " : "") + tcp + "]";
    }
}
