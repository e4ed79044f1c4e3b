package verbena.nic.link.tcp;

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
import verbena.nic.link.Channels;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// TCP through [SocketChannel]: every platform, no native access.
///
/// It differs from [LinuxTcpLink] in three ways. Each piece of work checks every socket, because a [Selector] serves
/// one thread at a time and belongs to the sleeper. Reading and writing allocates. Unacknowledged data breaks a
/// stream only when the system gives up, which takes minutes.
public final class ChannelTcpLink extends TcpLink {
    private static final long RELEASE_RETRY_NANOS = 20_000;

    private final Selector selector;
    private final List<ChannelTcpSocket> sockets = new ArrayList<>();
    private final List<ChannelTcpPort> ports = new ArrayList<>();
    /// Whether a thread is in the selector, which serves one thread at a time.
    private final AtomicBoolean selecting = new AtomicBoolean();
    /// Whether a closed channel is still registered: the system keeps it until the selector has released it.
    private boolean hasClosedChannels;

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

    /// Registers a channel with the selector.
    void register(SelectableChannel channel, int wanted) {
        try {
            channel.register(selector, wanted);
        } catch (IOException e) {
            throw failed("selector", e);
        }
        wakeup(); // the sleeper does not know the new channel
    }

    // --- moving

    @Override
    int moveWatched(long now) {
        int done = 0;
        // By index, from the end: a socket that is closed meanwhile leaves the list.
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
        if (hasClosedChannels
                && selector.isOpen()
                && selecting.compareAndSet(false, true)) { // otherwise the woken sleeper does it
            hasClosedChannels = false;
            try {
                selector.selectNow(_ -> {});
            } catch (IOException _) {
                // Then the next call does it.
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

    /// Adds a socket, which each piece of work checks from now on.
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
        return new InetSocketAddress(Interfaces.scoped(gid, interfaceOf(local)), port);
    }

    /// Removes a closed socket.
    void remove(ChannelTcpSocket socket) {
        sockets.remove(socket);
        hasClosedChannels = true;
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

    /// Adds a port, which each piece of work checks from now on.
    void add(ChannelTcpPort port, ServerSocketChannel channel) {
        ports.add(port);
        register(channel, SelectionKey.OP_ACCEPT);
    }

    /// Removes a closed port: when this returns, the system refuses new connections to it.
    void remove(ChannelTcpPort port) {
        ports.remove(port);
        hasClosedChannels = true;
        while (hasClosedChannels && selector.isOpen()) {
            selector.wakeup();
            letGo();
            LockSupport.parkNanos(hasClosedChannels ? RELEASE_RETRY_NANOS : 0);
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
