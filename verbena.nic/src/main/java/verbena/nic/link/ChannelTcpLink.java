package verbena.nic.link;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// TCP through [SocketChannel]: every platform, no native access.
///
/// What is different from [LinuxTcpLink]: each piece of work looks at every socket, because a [Selector] serves
/// one thread at a time and belongs to the sleeper; reading and writing allocates; what is not acknowledged breaks
/// a stream only when the system gives it up, which takes minutes.
public final class ChannelTcpLink extends TcpLink {
    private static final int LISTEN_BACKLOG = 1_024;
    /// Of TCP and IPv6 headers, and the timestamps that most systems send.
    private static final int HEADER_BYTES = 40 + 20 + 12;
    /// When the interface is not known: that of Ethernet.
    private static final int MTU_DEFAULT = 1_500;
    private static final long CLOSE_RETRY_NANOS = 20_000;

    private final Selector selector;
    private final List<Socket> sockets = new ArrayList<>();
    private final List<Port> ports = new ArrayList<>();
    private final ArrayDeque<Socket> stillborn = new ArrayDeque<>();
    private volatile boolean isSleeping;
    private volatile boolean closed;
    /// Somebody is in the selector, which serves one at a time.
    private final AtomicBoolean selecting = new AtomicBoolean();
    /// A closed channel is the system's no more only when the selector has let go of it.
    private boolean hasToLetGo;

    /// @throws LinkException when the system refuses
    ChannelTcpLink(List<GidEntry> addresses) {
        super(addresses);
        try {
            selector = Selector.open();
        } catch (IOException e) {
            arena.close();
            throw failed("selector", e);
        }
    }

    private static LinkException failed(String what, IOException e) {
        return new LinkException(LinkException.Kind.FAILED, what + ": " + e.getMessage(), e);
    }

    private void register(NetworkChannel channel, int wanted) {
        try {
            if (channel instanceof SocketChannel socket) {
                socket.register(selector, wanted);
            } else if (channel instanceof ServerSocketChannel port) {
                port.register(selector, wanted);
            }
        } catch (IOException e) {
            throw failed("selector", e);
        }
        wakeup(); // the sleeper does not know of it
    }

    // --- moving

    @Override
    public int move(long now) {
        if (closed) {
            return 0;
        }
        int done = 0;
        for (Socket socket = stillborn.poll(); socket != null; socket = stillborn.poll()) {
            try {
                socket.breakUp(now);
            } catch (RuntimeException | Error e) {
                socket.contain(e, now);
            }
            done++;
        }
        // By index, from behind: what is closed meanwhile leaves the lists.
        for (int i = ports.size() - 1; i >= 0; i--) {
            done += i < ports.size() ? ports.get(i).accept(now) : 0;
        }
        for (int i = sockets.size() - 1; i >= 0; i--) {
            if (i < sockets.size()) {
                Socket socket = sockets.get(i);
                try {
                    done += socket.move(now);
                } catch (RuntimeException | Error e) {
                    socket.contain(e, now);
                    done++;
                }
            }
        }
        letGo();
        return done;
    }

    private void letGo() {
        if (hasToLetGo
                && selector.isOpen()
                && selecting.compareAndSet(false, true)) { // or the sleeper, who has been woken, does it
            hasToLetGo = false;
            try {
                selector.selectNow(_ -> {});
            } catch (IOException _) {
                // Then the next one does.
            } finally {
                selecting.set(false);
            }
        }
    }

    // --- streams

    @Override
    public TcpSocket connect(@Nullable TcpPort from, Gid local, Gid remote, int port, StreamHandler handler) {
        SocketChannel channel = open(local);
        try {
            int own = 0;
            if (from instanceof Port bound) {
                own = bound.number();
                bound.close();
            }
            bind(channel, local, own);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            var made = new Socket(channel, remote, port, false);
            made.handler(handler);
            try {
                channel.connect(address(remote, port, local));
                sockets.add(made);
                register(channel, SelectionKey.OP_CONNECT);
            } catch (IOException e) {
                made.failure = e;
                stillborn.add(made);
                wakeup();
            }
            onConnecting(made);
            return made;
        } catch (IOException | LinkException e) {
            closeQuietly(channel);
            throw e instanceof LinkException link ? link : failed("connect", (IOException) e);
        }
    }

    private static SocketChannel open(Gid local) {
        try {
            SocketChannel channel = SocketChannel.open(family(local));
            channel.configureBlocking(false);
            return channel;
        } catch (IOException e) {
            throw failed("socket", e);
        }
    }

    private static StandardProtocolFamily family(Gid gid) {
        return gid.isIpv4() ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
    }

    private void bind(NetworkChannel channel, Gid local, int port) {
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            InetSocketAddress at = address(local, port, local);
            if (channel instanceof ServerSocketChannel server) {
                server.bind(at, LISTEN_BACKLOG);
            } else {
                channel.bind(at);
            }
        } catch (BindException e) {
            throw new LinkException(
                    String.valueOf(e.getMessage()).contains("assign")
                            ? LinkException.Kind.ADDRESS_NOT_LOCAL
                            : LinkException.Kind.PORT_IN_USE,
                    "TCP port " + port + " at " + local + ": " + e.getMessage(),
                    e);
        } catch (IOException e) {
            throw failed("TCP port " + port + " at " + local, e);
        }
    }

    private InetSocketAddress address(Gid gid, int port, Gid local) {
        return new InetSocketAddress(UdpLink.scoped(gid, interfaceOf(local)), port);
    }

    private int interfaceOf(Gid local) {
        return gids().stream()
                .filter(entry -> entry.gid().equals(local))
                .mapToInt(GidEntry::interfaceIndex)
                .findFirst()
                .orElse(0);
    }

    private static void closeQuietly(NetworkChannel channel) {
        try {
            channel.close();
        } catch (IOException _) {
            // It is gone either way.
        }
    }

    @Override
    void forget(TcpSocket socket) {
        if (socket instanceof Socket ours) {
            sockets.remove(ours);
            stillborn.remove(ours);
        }
    }

    @Override
    List<? extends TcpSocket> sockets() {
        return List.copyOf(sockets);
    }

    final class Socket extends TcpSocket {
        private final SocketChannel channel;
        private @Nullable IOException failure;

        Socket(SocketChannel channel, Gid remote, int remotePort, boolean isConnected) {
            super(ChannelTcpLink.this, remote, remotePort, isConnected);
            this.channel = channel;
        }

        private int move(long now) {
            if (!isConnected()) {
                return finishConnecting(now);
            }
            if (isFull()) {
                onRoom(now);
            }
            int got = isClosed() ? 0 : onReadable(now);
            if (failure != null && !isClosed()) {
                breakUp(now);
                return got + 1;
            }
            return isClosed() ? got + 1 : got;
        }

        private int finishConnecting(long now) {
            try {
                if (!channel.finishConnect()) {
                    return 0;
                }
                register(channel, SelectionKey.OP_READ);
                onConnected(now);
            } catch (IOException e) {
                failure = e;
                breakUp(now);
            }
            return 1;
        }

        private void breakUp(long now) {
            IOException why = failure;
            String to = remote() + " port " + remotePort();
            boolean refused = why instanceof ConnectException
                    && String.valueOf(why.getMessage()).contains("refused");
            StreamHandler.Cause cause = isConnected()
                    ? StreamHandler.Cause.RESET
                    : refused ? StreamHandler.Cause.REFUSED : StreamHandler.Cause.UNREACHABLE;
            break_(
                    cause,
                    switch (cause) {
                        case REFUSED -> "nobody listens at " + to;
                        case RESET -> to + " has broken the TCP connection off";
                        case UNREACHABLE, LOCAL -> to + ": " + (why == null ? "" : why.getMessage());
                    },
                    now);
        }

        private static ByteBuffer view(MemorySegment segment, long from, long bytes) {
            return segment.asSlice(from, bytes).asByteBuffer();
        }

        @Override
        long read(StreamBuffer buffer, int from, int to) {
            try {
                return answer(channel.read(view(buffer.segment, from, to - from)));
            } catch (IOException e) {
                failure = e;
                return -1;
            }
        }

        @Override
        long read(StreamTarget first, StreamBuffer then, int from, int to) {
            try {
                return answer(channel.read(new ByteBuffer[] {
                    view(first.segment, first.offset, first.bytes), view(then.segment, from, to - from)
                }));
            } catch (IOException e) {
                failure = e;
                return -1;
            }
        }

        // The JDK says -1 for the end and 0 for nothing.
        private static long answer(long read) {
            return read > 0 ? read : -1 - read;
        }

        @Override
        long send(StreamBuffer bytes, int from, int to) {
            try {
                return channel.write(view(bytes.segment, from, to - from));
            } catch (IOException e) {
                failure = e;
                return -1;
            }
        }

        @Override
        long send(StreamOutput output) {
            var pieces = new ByteBuffer[output.count()];
            for (int i = 0; i < pieces.length; i++) {
                pieces[i] = view(output.segment(i), output.offset(i), output.length(i));
            }
            try {
                long sent = 0;
                for (long n = channel.write(pieces); n > 0; n = channel.write(pieces)) {
                    sent += n; // the JDK hands no more than 16 pieces to the system at once
                }
                return sent;
            } catch (IOException e) {
                failure = e;
                return -1;
            }
        }

        @Override
        void watch(boolean arrivals, boolean room) {
            if (channel.isOpen()) {
                ChannelTcpLink.this.register(
                        channel, (arrivals ? SelectionKey.OP_READ : 0) | (room ? SelectionKey.OP_WRITE : 0));
            }
        }

        @Override
        void endOutput() {
            try {
                channel.shutdownOutput();
            } catch (IOException e) {
                failure = e;
            }
        }

        @Override
        public InetSocketAddress localAddress() {
            try {
                return (InetSocketAddress) channel.getLocalAddress();
            } catch (IOException e) {
                throw failed("local address", e);
            }
        }

        @Override
        public int segmentBytes() {
            try {
                if (channel.getLocalAddress() instanceof InetSocketAddress own) {
                    NetworkInterface at = NetworkInterface.getByIndex(interfaceOf(Gid.of(own.getAddress())));
                    return (at == null ? MTU_DEFAULT : at.getMTU()) - HEADER_BYTES;
                }
            } catch (IOException | IllegalArgumentException _) {
                // It is not known.
            }
            return MTU_DEFAULT - HEADER_BYTES;
        }

        @Override
        public void keepAlive(int seconds) {
            try {
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, seconds > 0);
                if (seconds > 0 && channel.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
                    channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, seconds);
                    channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
                    channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_PROBES);
                }
            } catch (IOException e) {
                failure = e;
            }
        }

        @Override
        void release(boolean reset) {
            try {
                if (reset) {
                    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                }
            } catch (IOException _) {
                // Then it ends in order.
            }
            closeQuietly(channel);
            hasToLetGo = true;
            wakeup();
            countClosed(reset);
        }
    }

    // --- ports

    @Override
    public TcpPort bind(Gid local, int port) {
        ServerSocketChannel channel;
        try {
            channel = ServerSocketChannel.open(family(local));
        } catch (IOException e) {
            throw failed("socket", e);
        }
        try {
            channel.configureBlocking(false);
            bind(channel, local, port);
            InetSocketAddress own = (InetSocketAddress) channel.getLocalAddress();
            return new Port(channel, local, own.getPort());
        } catch (IOException | LinkException e) {
            closeQuietly(channel);
            throw e instanceof LinkException link ? link : failed("socket", (IOException) e);
        }
    }

    /// The JDK binds and listens in one: until [#begin()] what comes waits.
    final class Port extends TcpPort {
        private final ServerSocketChannel channel;

        Port(ServerSocketChannel channel, Gid local, int number) {
            super(local, number);
            this.channel = channel;
        }

        @Override
        void begin() {
            ports.add(this);
            register(channel, SelectionKey.OP_ACCEPT);
        }

        private int accept(long now) {
            int done = 0;
            try {
                for (SocketChannel one = channel.accept(); one != null; one = channel.accept()) {
                    done++;
                    InetAddress from = ((InetSocketAddress) one.getRemoteAddress()).getAddress();
                    int port = ((InetSocketAddress) one.getRemoteAddress()).getPort();
                    one.configureBlocking(false);
                    one.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    var socket = new Socket(one, Gid.of(from), port, true);
                    sockets.add(socket);
                    register(one, SelectionKey.OP_READ);
                    onAccepted(socket);
                    accepted(socket, now);
                }
            } catch (IOException _) {
                // The next attempt tells whether it was one connection's trouble.
            }
            return done;
        }

        @Override
        public void close() {
            ports.remove(this);
            closeQuietly(channel);
            hasToLetGo = true;
            while (hasToLetGo && selector.isOpen()) { // from here on nobody gets as far as TCP
                selector.wakeup();
                letGo();
                LockSupport.parkNanos(hasToLetGo ? CLOSE_RETRY_NANOS : 0);
            }
        }
    }

    // --- sleeping

    @Override
    public void await(long timeoutNanos) {
        isSleeping = true; // before closed is read: the closer writes that first and then reads this
        try {
            if (closed || !signal.sleep()) {
                return;
            }
            if (!selecting.compareAndSet(false, true)) {
                signal.awake();
                return;
            }
            try {
                if (timeoutNanos > 0) {
                    // Up, or a sleep of less than a millisecond would be none and the caller would spin.
                    long millis = TimeUnit.NANOSECONDS.toMillis(timeoutNanos - 1) + 1;
                    selector.select(_ -> {}, millis);
                } else if (timeoutNanos < 0) {
                    selector.select(_ -> {});
                }
            } catch (IOException | ClosedSelectorException _) {
                // Closed, or early: the caller looks for itself.
            } finally {
                selecting.set(false);
                signal.awake();
            }
        } finally {
            isSleeping = false;
        }
    }

    @Override
    public void wakeup() {
        if (signal.raise()) {
            selector.wakeup();
        }
    }

    /// As [Link#close()]; streams that are open are reset.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        while (isSleeping) {
            selector.wakeup();
            LockSupport.parkNanos(CLOSE_RETRY_NANOS);
        }
        while (!sockets.isEmpty()) {
            sockets.getLast().closeAtLast();
        }
        while (!stillborn.isEmpty()) {
            stillborn.peek().close(true);
        }
        while (!ports.isEmpty()) {
            ports.getLast().close();
        }
        try {
            selector.close();
        } catch (IOException _) {
            // It is gone either way.
        }
        arena.close();
    }
}
