package verbena.tools.demo;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import verbena.tools.kit.CommandFailed;

/// The plain side of the comparison: two TCP connections between the same two processes, blocking. One streams bytes
/// in one direction, and the receiver confirms each round; the other carries messages there and back.
final class DemoTcp implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 << 10;

    private final SocketChannel stream;
    private final SocketChannel echo;
    private final ByteBuffer block = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer message = ByteBuffer.allocateDirect(Long.BYTES);

    private DemoTcp(InetSocketAddress address) throws IOException {
        stream = SocketChannel.open(address);
        echo = SocketChannel.open(address);
        echo.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    /// Connects to the peer, which is told to serve.
    static DemoTcp to(DemoPeerProcess peer) throws IOException, InterruptedException {
        String[] at = peer.order("tcp");
        return new DemoTcp(new InetSocketAddress(InetAddress.ofLiteral(at[0]), Integer.parseInt(at[1])));
    }

    /// Sends so many bytes and waits until the peer has them all.
    void send(long bytes) throws IOException {
        stream.write(message.clear().putLong(0, bytes));
        for (long left = bytes; left > 0; ) {
            left -= stream.write(block.clear().limit((int) Math.min(left, BUFFER_BYTES)));
        }
        readFully(stream, message);
        if (message.getLong(0) != bytes) {
            throw new CommandFailed("TCP: the peer got " + message.getLong(0) + " bytes of " + bytes);
        }
    }

    /// Sends a number and returns what comes back.
    long echo(long number) throws IOException {
        echo.write(message.clear().putLong(0, number));
        readFully(echo, message);
        return message.getLong(0);
    }

    @Override
    public void close() throws IOException {
        try (stream;
                echo) {
            // Both, whatever happens to the first.
        }
    }

    /// Serves two connections as the peer until they are closed. The method takes the socket over.
    static void serve(ServerSocketChannel server) {
        start(() -> {
            try (server;
                    SocketChannel stream = server.accept();
                    SocketChannel echo = server.accept()) {
                echo.setOption(StandardSocketOptions.TCP_NODELAY, true);
                Thread echoing = start(() -> answer(echo));
                receive(stream);
                echoing.join();
            } catch (IOException | InterruptedException _) {
                // The first process notices, because the connections are closed.
            }
        });
    }

    private static Thread start(Runnable service) {
        Thread thread = new Thread(service, "verbena-demo-tcp");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void receive(SocketChannel stream) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        ByteBuffer number = ByteBuffer.allocateDirect(Long.BYTES);
        while (isRead(stream, number)) {
            long bytes = number.getLong(0);
            for (long left = bytes; left > 0; ) {
                int n = stream.read(buffer.clear().limit((int) Math.min(left, BUFFER_BYTES)));
                if (n < 0) {
                    return;
                }
                left -= n;
            }
            stream.write(number.clear().putLong(0, bytes));
        }
    }

    private static void answer(SocketChannel echo) {
        ByteBuffer number = ByteBuffer.allocateDirect(Long.BYTES);
        try (echo) {
            while (isRead(echo, number)) {
                echo.write(number.rewind());
            }
        } catch (IOException _) {
            // As above.
        }
    }

    private static void readFully(SocketChannel from, ByteBuffer number) throws IOException {
        if (!isRead(from, number)) {
            throw new EOFException("the peer has closed the connection");
        }
    }

    // False at the end of the connection.
    private static boolean isRead(SocketChannel from, ByteBuffer number) throws IOException {
        number.clear();
        while (number.hasRemaining()) {
            if (from.read(number) < 0) {
                return false;
            }
        }
        return true;
    }
}
