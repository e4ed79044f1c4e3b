package verbena.tools.kit;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/// A TCP connection over which two ends tell each other what they need to know before they speak by RDMA.
/// Interrupting the thread ends every wait.
public final class OutOfBand implements AutoCloseable {
    private final SocketChannel channel;
    private final String peer;
    private final ByteBuffer ahead = ByteBuffer.allocate(1).flip();

    private OutOfBand(SocketChannel channel, Duration timeout) throws IOException {
        this.channel = channel;
        this.peer = Addresses.port((InetSocketAddress) channel.getRemoteAddress());
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        waitFor(timeout);
    }

    /// Connects to a server, trying each address of `host`.
    ///
    /// @param timeout how long to wait for the connection, and then for each answer
    public static OutOfBand connect(String host, int port, Duration timeout) throws InterruptedException {
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

    private static OutOfBand connect(InetSocketAddress to, Duration timeout) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(to, Math.toIntExact(timeout.toMillis()));
            return new OutOfBand(channel, timeout);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /// Waits for one client, without limit.
    ///
    /// @param where the option that says where to listen, for messages
    /// @param listening told the port once clients can connect; 0 was any
    public static OutOfBand accept(
            List<InetAddress> addresses, int port, Duration timeout, String where, IntConsumer listening)
            throws IOException, InterruptedException {
        var open = new ArrayList<ServerSocketChannel>();
        try (Selector selector = Selector.open()) {
            for (InetAddress address : addresses) {
                open.add(listen(new InetSocketAddress(address, port), where));
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
                        return new OutOfBand(channel, timeout);
                    }
                }
            }
        } finally {
            for (ServerSocketChannel server : open) {
                server.close();
            }
        }
    }

    private static ServerSocketChannel listen(InetSocketAddress at, String where) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            return server.bind(at, 1);
        } catch (BindException e) {
            server.close();
            throw new CommandFailed(
                    "cannot listen on " + Addresses.port(at) + " (TCP): " + e.getMessage()
                            + "; choose another port with -p at both ends, or an address of this host with " + where,
                    e);
        } catch (SocketException e) {
            server.close();
            throw new CommandFailed("cannot listen on " + Addresses.port(at) + " (TCP): " + e.getMessage(), e);
        }
    }

    /// Sets the time to wait for an answer from now on; zero is without limit.
    public void waitFor(Duration timeout) throws IOException {
        channel.socket().setSoTimeout(Math.toIntExact(timeout.toMillis()));
    }

    /// Returns this end's address on the connection.
    public InetAddress localAddress() throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getAddress();
    }

    /// Returns the other end's address on the connection.
    public InetAddress remoteAddress() throws IOException {
        return ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
    }

    /// Returns the other end, for messages.
    public String peer() {
        return peer;
    }

    /// Sends a message in one write: C programs expect a whole message from one read.
    public void write(byte[] message) throws InterruptedException {
        try {
            channel.socket().getOutputStream().write(message);
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } catch (IOException e) {
            throw new CommandFailed("the peer at " + peer + " ended the TCP connection: " + e.getMessage(), e);
        }
    }

    /// Takes a message of so many bytes.
    public byte[] read(int bytes) throws InterruptedException {
        try {
            byte[] message = new byte[bytes];
            int before = ahead.remaining();
            ahead.get(message, 0, before);
            int got = before + channel.socket().getInputStream().readNBytes(message, before, bytes - before);
            if (got < bytes) {
                throw new CommandFailed("the peer at " + peer + " gave up: it closed the TCP connection after "
                        + got + " of " + bytes
                        + " bytes; its own message tells why, often that GIDs or options do not fit");
            }
            return message;
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } catch (SocketTimeoutException e) {
            throw new CommandFailed("the peer at " + peer + " accepted the TCP connection but says nothing", e);
        } catch (IOException e) {
            throw new CommandFailed("the TCP connection to " + peer + " broke: " + e.getMessage(), e);
        }
    }

    /// Returns whether the peer has closed the connection and there is nothing left to read. Does not wait.
    public boolean hasEnded() {
        if (ahead.hasRemaining()) {
            return false;
        }
        try {
            channel.configureBlocking(false);
            ahead.clear();
            int got = channel.read(ahead);
            ahead.flip();
            channel.configureBlocking(true);
            return got < 0;
        } catch (IOException _) {
            ahead.clear().flip();
            return true;
        }
    }

    /// Ends the own direction of the connection, and waits until the peer has ended the connection too, at most so
    /// long.
    public void part(Duration timeout) {
        try {
            waitFor(timeout);
            channel.shutdownOutput();
            channel.socket().getInputStream().readAllBytes();
        } catch (IOException _) {
            // It has ended otherwise, or not in time.
        }
    }

    /// Ends the connection. What has been said has been said; how it ends does not matter.
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // It has ended.
        }
    }

    private static InterruptedException interrupted(IOException cause) {
        var e = new InterruptedException("interrupted");
        e.initCause(cause);
        return e;
    }
}
