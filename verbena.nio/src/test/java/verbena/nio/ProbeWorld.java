package verbena.nio;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What one probe has to do with: the channel that is tried, and what belongs to it.
final class ProbeWorld implements Closeable {
    private static final SelectorProvider OURS = new RdmaSelectorProvider();
    private static final SelectorProvider MOVING = new RdmaSelectorProvider(Pace.ofMillis(0, 0));

    /// Which ends of a connection are ours.
    enum Ends {
        JDK,
        BOTH_OURS,
        /// Connections of both have begun by TCP, and have moved.
        MOVED,
        /// That which is tried is ours: it goes by TCP.
        ONE_OURS;

        SelectorProvider tried() {
            return this == ONE_OURS ? OURS : other();
        }

        SelectorProvider other() {
            return switch (this) {
                case JDK, ONE_OURS -> Jdk.provider();
                case BOTH_OURS -> OURS;
                case MOVED -> MOVING;
            };
        }
    }

    private final Deque<Closeable> opened = new ArrayDeque<>();
    final Ends ends;
    /// The channel that is tried: one of the two.
    @Nullable
    SocketChannel socket;

    @Nullable
    ServerSocketChannel server;
    /// The other end of a connection.
    @Nullable
    SocketChannel peer;

    @Nullable
    Selector selector;

    @Nullable
    SelectionKey key;

    private @Nullable InputStream in;
    private @Nullable OutputStream out;
    /// Where a connection is to go.
    @Nullable
    InetSocketAddress target;
    /// The thread that calls is interrupted before.
    boolean isInterrupted;

    ProbeWorld(Ends ends) {
        this.ends = ends;
    }

    private <C extends Closeable> C own(C made) {
        opened.push(made);
        return made;
    }

    SocketChannel socket() {
        return Objects.requireNonNull(socket);
    }

    ServerSocketChannel server() {
        return Objects.requireNonNull(server);
    }

    SocketChannel peer() {
        return Objects.requireNonNull(peer);
    }

    Selector selector() {
        return Objects.requireNonNull(selector);
    }

    SelectionKey key() {
        return Objects.requireNonNull(key);
    }

    InputStream in() {
        return Objects.requireNonNull(in);
    }

    OutputStream out() {
        return Objects.requireNonNull(out);
    }

    InetSocketAddress target() throws IOException {
        if (target == null) {
            ServerSocketChannel listener = own(ends.other().openServerSocketChannel());
            target = (InetSocketAddress) listener.bind(Providers.anyPort()).getLocalAddress();
        }
        return target;
    }

    /// A port that another listener has.
    InetSocketAddress taken() throws IOException {
        ServerSocketChannel listener = own(ends.other().openServerSocketChannel());
        return (InetSocketAddress) listener.bind(Providers.anyPort()).getLocalAddress();
    }

    // ---- states

    ProbeWorld open() throws IOException {
        socket = own(ends.tried().openSocketChannel());
        return this;
    }

    ProbeWorld connect() throws IOException {
        open();
        ServerSocketChannel listener = own(ends.other().openServerSocketChannel());
        target = (InetSocketAddress) listener.bind(Providers.anyPort()).getLocalAddress();
        socket().connect(target);
        peer = own(listener.accept());
        return withStreams();
    }

    ProbeWorld accept() throws IOException {
        ServerSocketChannel listener = own(ends.tried().openServerSocketChannel());
        target = (InetSocketAddress) listener.bind(Providers.anyPort()).getLocalAddress();
        peer = own(ends.other().openSocketChannel());
        peer().connect(target);
        socket = own(listener.accept());
        return withStreams();
    }

    /// Waits until a connection has moved that is to.
    private void move() {
        long end = System.nanoTime() + Providers.LIMIT.toNanos();
        while (ends == Ends.MOVED && !(hasMoved(socket()) && hasMoved(peer()))) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("it does not move: " + socket() + ", " + peer());
            }
            Thread.onSpinWait();
        }
    }

    private static boolean hasMoved(SocketChannel channel) {
        return channel.toString().contains("begun by TCP, ");
    }

    private ProbeWorld withStreams() throws IOException {
        move();
        in = socket().socket().getInputStream();
        out = socket().socket().getOutputStream();
        return this;
    }

    /// A listener that takes no more, so no answer comes.
    ProbeWorld full() throws IOException {
        ServerSocketChannel listener = own(Jdk.provider().openServerSocketChannel());
        target = (InetSocketAddress) listener.bind(Providers.anyPort(), 1).getLocalAddress();
        for (int i = 0; i < 2; i++) {
            own(Jdk.provider().openSocketChannel()).connect(target);
        }
        return this;
    }

    ProbeWorld refused() throws IOException {
        try (ServerSocketChannel gone = Jdk.provider().openServerSocketChannel().bind(Providers.anyPort())) {
            target = (InetSocketAddress) gone.getLocalAddress();
        }
        return this;
    }

    ProbeWorld unblocked() throws IOException {
        socket().configureBlocking(false);
        return this;
    }

    /// Five bytes are there.
    ProbeWorld withData() throws IOException {
        peer().write(ByteBuffer.wrap(new byte[] {0, 1, 2, 3, 4, 5}));
        socket().read(ByteBuffer.allocate(1)); // what follows has come with it
        return this;
    }

    ProbeWorld afterTheEnd() throws IOException {
        socket().read(ByteBuffer.allocate(1));
        return this;
    }

    ProbeWorld reset() throws IOException {
        peer().setOption(StandardSocketOptions.SO_LINGER, 0).close();
        try {
            socket().read(ByteBuffer.allocate(1));
            throw new IllegalStateException("it is not reset");
        } catch (IOException e) {
            return this;
        }
    }

    ProbeWorld openServer() throws IOException {
        server = own(ends.tried().openServerSocketChannel());
        return this;
    }

    ProbeWorld bindServer() throws IOException {
        openServer();
        target = (InetSocketAddress) server().bind(Providers.anyPort()).getLocalAddress();
        return this;
    }

    ProbeWorld withClient() throws IOException {
        peer = own(ends.other().openSocketChannel());
        peer().connect(target);
        return this;
    }

    /// A client is there to be accepted.
    ProbeWorld bindServerWithClient() throws IOException {
        bindServer().withClient();
        server().configureBlocking(false);
        try (Selector ready = ends.tried().openSelector()) {
            SelectionKey _ = server().register(ready, SelectionKey.OP_ACCEPT);
            int _ = ready.select();
        }
        server().configureBlocking(true);
        return this;
    }

    ProbeWorld openSelector() throws IOException {
        selector = own(ends.tried().openSelector());
        return this;
    }

    // ---- what came of it

    String describe(InetSocketAddress at) {
        InetAddress address = at.getAddress();
        boolean isTargets = target != null && at.getPort() == target.getPort();
        return address.getHostAddress() + " " + (at.getPort() == 0 ? "no port" : isTargets ? "the target's" : "a port");
    }

    boolean isOwn(Channel channel) {
        return channel == socket || channel == server;
    }

    boolean isOwn(Socket view) {
        return socket != null && view == socket.socket();
    }

    boolean isOwn(ServerSocket view) {
        return server != null && view == server.socket();
    }

    String state() {
        var state = new StringBuilder();
        if (socket != null) {
            state.append(socket.isOpen() ? "; open" : "; closed");
            state.append(socket.isConnected() ? " connected" : "");
            state.append(socket.isConnectionPending() ? " pending" : "");
            state.append(socket.isBlocking() ? "" : " non-blocking");
            state.append(socket.socket().isInputShutdown() ? " in-shut" : "");
            state.append(socket.socket().isOutputShutdown() ? " out-shut" : "");
        }
        if (server != null) {
            state.append(server.isOpen() ? "; server open" : "; server closed");
            state.append(server.isBlocking() ? "" : " non-blocking");
        }
        if (selector != null) {
            state.append(selector.isOpen() ? "; selector open" : "; selector closed");
        }
        if (key != null) {
            state.append(key.isValid() ? " key of " + key.interestOps() : " cancelled key");
        }
        return state.toString();
    }

    void closeTried() throws IOException {
        if (selector != null) {
            selector.close();
        }
        (server == null ? socket() : server).close();
    }

    @Override
    public void close() throws IOException {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
