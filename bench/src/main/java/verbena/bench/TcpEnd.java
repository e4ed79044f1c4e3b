package verbena.bench;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Map;
import verbena.tools.report.Result;

/// A plain TCP socket of Java, as one would write it: direct buffers, blocking channels, TCP_NODELAY.
final class TcpEnd implements Worker.End {
    private static final int STREAM = 1;
    private static final int ECHO = 2;
    private static final int GREETING_BYTES = 8;
    private static final int SAMPLES_MAX = 1_000_000;
    private static final int ROUND_TRIPS_FIRST = 100;

    @Override
    public Object order(String[] words) throws IOException {
        if (words[0].equals("listen")) {
            return Map.of("port", listen());
        }
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[1]));
        int size = Integer.parseInt(words[2]);
        double seconds = Double.parseDouble(words[3]);
        return words[0].equals("stream") ? stream(address, size, seconds) : pingPong(address, size, seconds);
    }

    // ---- the server

    private static int listen() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try (SocketChannel client = server.accept()) {
                    serve(client);
                } catch (IOException e) {
                    System.err.println(e);
                }
            }
        });
        return server.socket().getLocalPort();
    }

    private static void serve(SocketChannel client) throws IOException {
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
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
            // The client has shut down its side: it wants to know that all has arrived.
            writeFully(client, greeting.clear());
        }
    }

    // ---- the client

    private static Result stream(InetSocketAddress address, int size, double seconds) throws IOException {
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

    private static Result pingPong(InetSocketAddress address, int size, double seconds) throws IOException {
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

    private static SocketChannel connect(InetSocketAddress address, int what, int size) throws IOException {
        SocketChannel channel = SocketChannel.open(address);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        writeFully(
                channel,
                ByteBuffer.allocateDirect(GREETING_BYTES)
                        .putInt(what)
                        .putInt(size)
                        .flip());
        return channel;
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
