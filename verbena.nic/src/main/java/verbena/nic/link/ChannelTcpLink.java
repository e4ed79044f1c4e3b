package verbena.nic.link;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// TCP through [SocketChannel]: every platform, no native access.
///
/// What is different from [LinuxTcpLink]: each piece of work looks at every socket, because a [Selector] serves
/// one thread at a time and belongs to the sleeper; reading and writing allocates; what is not acknowledged breaks
/// a stream only when the system gives it up, which takes minutes.
public final class ChannelTcpLink extends TcpLink {
    private static final long LET_GO_RETRY_NANOS = 20_000;

    private final Selector selector;
    private final List<ChannelTcpSocket> sockets = new ArrayList<>();
    private final List<ChannelTcpPort> ports = new ArrayList<>();
    /// A thread is in the selector, which serves one at a time.
    private final AtomicBoolean selecting = new AtomicBoolean();
    /// A channel was closed. The system has it until the selector has let go of it.
    private boolean hasToLetGo;

    /// @throws LinkException when the system refuses
    ChannelTcpLink(List<GidEntry> addresses) {
        super(addresses);
        try {
            selector = Channels.openSelector();
        } catch (LinkException e) {
            arena.close();
            throw e;
        }
    }

    static LinkException failed(String what, IOException e) {
        return new LinkException(LinkException.Kind.FAILED, what + ": " + e.getMessage(), e);
    }

    /// Has the selector tell of this.
    void register(SelectableChannel channel, int wanted) {
        try {
            channel.register(selector, wanted);
        } catch (IOException e) {
            throw failed("selector", e);
        }
        wakeup(); // the sleeper does not know of it
    }

    // --- moving

    @Override
    int moveWatched(long now) {
        int done = 0;
        // By index, from behind: what is closed meanwhile leaves the lists.
        for (int i = ports.size() - 1; i >= 0; i--) {
            done += i < ports.size() ? ports.get(i).accept(now) : 0;
        }
        for (int i = sockets.size() - 1; i >= 0; i--) {
            done += i < sockets.size() ? sockets.get(i).move(now) : 0;
        }
        letGo();
        return done;
    }

    private void letGo() {
        if (hasToLetGo
                && selector.isOpen()
                && selecting.compareAndSet(false, true)) { // else the sleeper does it, which has been woken
            hasToLetGo = false;
            try {
                selector.selectNow(_ -> {});
            } catch (IOException _) {
                // Then the next call does.
            } finally {
                selecting.set(false);
            }
        }
    }

    @Override
    List<ChannelTcpSocket> watchedSockets() {
        return List.copyOf(sockets);
    }

    @Override
    List<ChannelTcpPort> listeningPorts() {
        return List.copyOf(ports);
    }

    // --- streams

    @Override
    public TcpSocket connect(@Nullable TcpPort from, Gid local, Gid remote, int port, StreamHandler handler) {
        SocketChannel channel = open(local);
        try {
            int own = 0;
            if (from instanceof ChannelTcpPort bound) {
                own = bound.number();
                bound.close();
            }
            bind(channel, local, own);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            var made = new ChannelTcpSocket(this, channel, remote, port, false);
            made.handler(handler);
            onConnecting(made, !beginConnecting(made, channel, address(remote, port, local)));
            return made;
        } catch (IOException | LinkException e) {
            Channels.close(channel);
            throw e instanceof LinkException link ? link : failed("connect", (IOException) e);
        }
    }

    private boolean beginConnecting(ChannelTcpSocket socket, SocketChannel channel, InetSocketAddress to) {
        try {
            channel.connect(to);
        } catch (IOException e) {
            socket.failed(e);
            return false;
        }
        add(socket, channel, SelectionKey.OP_CONNECT);
        return true;
    }

    /// From now on each piece of work looks at it.
    void add(ChannelTcpSocket socket, SocketChannel channel, int wanted) {
        register(channel, wanted);
        sockets.add(socket);
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

    /// It is closed.
    void remove(ChannelTcpSocket socket) {
        sockets.remove(socket);
        hasToLetGo = true;
        wakeup();
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
            return new ChannelTcpPort(this, channel, local, own.getPort());
        } catch (IOException | LinkException e) {
            Channels.close(channel);
            throw e instanceof LinkException link ? link : failed("socket", (IOException) e);
        }
    }

    /// From now on each piece of work looks at it.
    void add(ChannelTcpPort port, ServerSocketChannel channel) {
        ports.add(port);
        register(channel, SelectionKey.OP_ACCEPT);
    }

    /// It is closed: when this returns, no connection gets as far as TCP.
    void remove(ChannelTcpPort port) {
        ports.remove(port);
        hasToLetGo = true;
        while (hasToLetGo && selector.isOpen()) {
            selector.wakeup();
            letGo();
            LockSupport.parkNanos(hasToLetGo ? LET_GO_RETRY_NANOS : 0);
        }
    }

    // --- sleeping

    @Override
    void sleep(long timeoutNanos) {
        if (selecting.compareAndSet(false, true)) {
            try {
                Channels.sleep(selector, timeoutNanos, _ -> {});
            } finally {
                selecting.set(false);
            }
        }
    }

    @Override
    void ring() {
        selector.wakeup();
    }

    @Override
    void release() {
        Channels.close(selector);
    }
}
