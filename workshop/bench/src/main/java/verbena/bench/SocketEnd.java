package verbena.bench;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import verbena.tools.report.Result;

/// A plain socket of Java in its usual form: direct buffers, blocking channels, TCP_NODELAY. A TCP socket on
/// loopback, or a UNIX-domain socket.
final class SocketEnd implements WorkerEnd {
    private static final int STREAM = 1;
    private static final int ECHO = 2;
    private static final int GREETING_BYTES = 8;
    private static final int SAMPLES_MAX = 1_000_000;
    private static final int ROUND_TRIPS_FIRST = 100;

    /// Takes the orders `listen PORT`, `stream` or `pingpong PORT SIZE SECONDS`. The port of a UNIX-domain socket
    /// is its path.
    @Override
    public Object order(String[] words) throws IOException {
        SocketAddress address = words[1].startsWith("/")
                ? UnixDomainSocketAddress.of(words[1])
                : new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[1]));
        if (words[0].equals("listen")) {
            return Map.of("port", listen(address));
        }
        int size = Integer.parseInt(words[2]);
        double seconds = Double.parseDouble(words[3]);
        return words[0].equals("stream") ? stream(address, size, seconds) : pingPong(address, size, seconds);
    }

    // ---- the server

    private static String listen(SocketAddress address) throws IOException {
        ServerSocketChannel server = address instanceof UnixDomainSocketAddress
                ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                : ServerSocketChannel.open(); // hadroNIO's knows no families
        server.bind(address);
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try (SocketChannel client = server.accept()) {
                    serve(client);
                } catch (IOException e) {
                    System.err.println(e);
                }
            }
        });
        return server.getLocalAddress() instanceof InetSocketAddress tcp
                ? Integer.toString(tcp.getPort())
                : address.toString();
    }

    private static void serve(SocketChannel client) throws IOException {
        hurry(client);
        ByteBuffer greeting = ByteBuffer.allocateDirect(GREETING_BYTES);
        readFully(client, greeting);
        boolean isEcho = greeting.getInt(0) == ECHO;
        ByteBuffer message = ByteBuffer.allocateDirect(greeting.getInt(Integer.BYTES));
        try {
            while (true) {
                readFully(client, message);
                if (isEcho) {
                    writeFully(client, message.clear());
                }
            }
        } catch (EOFException _) {
            // The client has ended its output: it wants to know that all has arrived.
            writeFully(client, greeting.clear());
        }
    }

    // ---- the client

    private static Result stream(SocketAddress address, int size, double seconds) throws IOException {
        try (SocketChannel channel = connect(address, STREAM, size)) {
            ByteBuffer message = ByteBuffer.allocateDirect(size);
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long messages = 0;
            do {
                writeFully(channel, message.clear());
                messages++;
            } while (System.nanoTime() < end);
            channel.shutdownOutput();
            readFully(channel, ByteBuffer.allocateDirect(GREETING_BYTES));
            return Figures.stream(size, messages, (System.nanoTime() - start) / 1e9);
        }
    }

    private static Result pingPong(SocketAddress address, int size, double seconds) throws IOException {
        try (SocketChannel channel = connect(address, ECHO, size)) {
            ByteBuffer message = ByteBuffer.allocateDirect(size);
            var nanos = new long[SAMPLES_MAX];
            int count = 0;
            long now = System.nanoTime();
            long end = now + (long) (seconds * 1e9);
            for (int i = 0; count == 0 || (now < end && count < SAMPLES_MAX); i++) {
                writeFully(channel, message.clear());
                readFully(channel, message);
                long after = System.nanoTime();
                if (i >= ROUND_TRIPS_FIRST) {
                    nanos[count++] = after - now;
                }
                now = after;
            }
            return Figures.roundTrips(size, nanos, count);
        }
    }

    private static SocketChannel connect(SocketAddress address, int what, int size) throws IOException {
        SocketChannel channel = SocketChannel.open(address);
        hurry(channel);
        writeFully(
                channel,
                ByteBuffer.allocateDirect(GREETING_BYTES)
                        .putInt(what)
                        .putInt(size)
                        .flip());
        return channel;
    }

    private static void hurry(SocketChannel channel) throws IOException {
        if (channel.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
    }

    private static void writeFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    private static void readFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException();
            }
        }
    }
}
