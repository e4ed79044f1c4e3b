package verbena.tools;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/// The TCP connection over which the ends of a ping-pong find each other, as the C programs use it: the client speaks
/// first, the server answers, the client says "done". Interrupting the thread ends every wait.
final class PingpongExchange implements AutoCloseable {
    private static final String DONE = "done\0";

    private final SocketChannel channel;
    private final String peer;

    private PingpongExchange(SocketChannel channel, Duration timeout) throws IOException {
        this.channel = channel;
        this.peer = text((InetSocketAddress) channel.getRemoteAddress());
        channel.socket().setSoTimeout(Math.toIntExact(timeout.toMillis()));
    }

    /// Connects to a server, trying each address of `host`.
    static PingpongExchange connect(String host, int port, Duration timeout) throws InterruptedException {
        InetAddress[] addresses;
        try {
            addresses = InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
            throw new CommandFailed("unknown host " + host, e);
        }
        IOException last = new ConnectException("no address");
        for (InetAddress address : addresses) {
            try {
                return connect(new InetSocketAddress(address, port), timeout);
            } catch (ClosedByInterruptException e) {
                throw interrupted(e);
            } catch (IOException e) {
                last = e;
            }
        }
        String why = last instanceof SocketTimeoutException
                ? "no answer in " + timeout.toSeconds() + " s; is the address right and the way open?"
                : last.getMessage() + "; is the server running there, with the same -p?";
        throw new CommandFailed("cannot connect to " + host + " port " + port + " (TCP): " + why, last);
    }

    private static PingpongExchange connect(InetSocketAddress to, Duration timeout) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(to, Math.toIntExact(timeout.toMillis()));
            return new PingpongExchange(channel, timeout);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Waits for one client, without limit.
    ///
    /// @param listening told the port once clients can connect; 0 was any
    static PingpongExchange accept(List<InetAddress> addresses, int port, Duration timeout, IntConsumer listening)
            throws IOException, InterruptedException {
        var open = new ArrayList<ServerSocketChannel>();
        try (Selector selector = Selector.open()) {
            for (InetAddress address : addresses) {
                open.add(listen(new InetSocketAddress(address, port)));
                open.getLast().configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            }
            listening.accept(((InetSocketAddress) open.getFirst().getLocalAddress()).getPort());
            while (true) {
                selector.select();
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                for (ServerSocketChannel server : open) {
                    SocketChannel channel = server.accept();
                    if (channel != null) {
                        return new PingpongExchange(channel, timeout);
                    }
                }
            }
        } finally {
            for (ServerSocketChannel server : open) {
                server.close();
            }
        }
    }

    private static ServerSocketChannel listen(InetSocketAddress at) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            return server.bind(at, 1);
        } catch (BindException e) {
            server.close();
            throw new CommandFailed(
                    "cannot listen on " + text(at) + " (TCP): " + e.getMessage()
                            + "; choose another port with -p at both ends, or an address of this host with --bind",
                    e);
        } catch (SocketException e) {
            server.close();
            throw new CommandFailed("cannot listen on " + text(at) + " (TCP): " + e.getMessage(), e);
        }
    }

    /// This end's address on the connection.
    InetAddress localAddress() throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getAddress();
    }

    /// The other end's address on the connection.
    InetAddress remoteAddress() throws IOException {
        return ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
    }

    /// Tells about the queue pairs here, in `count` messages of which the last are empty.
    void send(List<PingpongPeer> local, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            write((i < local.size() ? local.get(i) : PingpongPeer.NONE).message());
        }
    }

    /// Hears about the queue pairs there.
    List<PingpongPeer> receive(int count) throws InterruptedException {
        var peers = new ArrayList<PingpongPeer>();
        while (peers.size() < count) {
            String message = read(PingpongPeer.MESSAGE_BYTES);
            try {
                peers.add(PingpongPeer.parse(message));
            } catch (IllegalArgumentException e) {
                throw new CommandFailed("the program at " + peer + " is no pingpong: " + e.getMessage(), e);
            }
        }
        return peers;
    }

    void sendDone() throws InterruptedException {
        write(DONE);
    }

    void receiveDone() throws InterruptedException {
        read(DONE.length());
    }

    @Override
    public void close() {
        hangUp();
    }

    /// Ends the TCP connection; what follows needs it no more.
    void hangUp() {
        try {
            channel.close();
        } catch (IOException _) {
            // All has been said; how the connection ends does not matter.
        }
    }

    private void write(String text) throws InterruptedException {
        try {
            // One write: the C programs expect a whole message from one read.
            channel.socket().getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } catch (IOException e) {
            throw new CommandFailed("the peer at " + peer + " ended the TCP connection: " + e.getMessage(), e);
        }
    }

    private String read(int bytes) throws InterruptedException {
        try {
            byte[] got = channel.socket().getInputStream().readNBytes(bytes);
            if (got.length < bytes) {
                throw new CommandFailed("the peer at " + peer + " gave up: it closed the TCP connection after "
                        + got.length + " of " + bytes
                        + " bytes; its own message tells why, often that its GID (-g) does not fit ours");
            }
            return new String(got, StandardCharsets.ISO_8859_1);
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } catch (SocketTimeoutException e) {
            throw new CommandFailed("the peer at " + peer + " accepted the TCP connection but says nothing", e);
        } catch (IOException e) {
            throw new CommandFailed("the TCP connection to " + peer + " broke: " + e.getMessage(), e);
        }
    }

    private static InterruptedException interrupted(IOException cause) {
        var e = new InterruptedException("interrupted");
        e.initCause(cause);
        return e;
    }

    private static String text(InetSocketAddress address) {
        return Addresses.ip(address.getAddress()) + " port " + address.getPort();
    }
}
