package verbena.interop;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.SequencedMap;

/// A system of few lines: one connection of the JDK's channels, whose first bytes come back.
public class Echo implements SystemUnderTest {
    private static final int BYTES = 100_000;

    /// Made by its name.
    public Echo() {}

    @Override
    public Serving serve(Job job) throws Exception {
        ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Thread.ofPlatform().daemon().start(() -> {
            try (SocketChannel connection = listener.accept()) {
                var buffer = ByteBuffer.allocate(BYTES);
                while (connection.read(buffer) >= 0) {
                    answer(buffer.flip());
                    while (buffer.hasRemaining()) {
                        int _ = connection.write(buffer);
                    }
                    buffer.clear();
                }
            } catch (IOException _) {
                // the client finds out
            }
        });
        int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        return new Serving(port, listener);
    }

    /// What a server does with the bytes before it sends them back.
    void answer(ByteBuffer bytes) {}

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        try (SocketChannel connection = SocketChannel.open(server)) {
            for (int i = 0; i < 2; i++) {
                byte[] sent = Job.pattern(BYTES, i);
                int written = connection.write(ByteBuffer.wrap(sent));
                Job.same(BYTES, written, "what was written");
                var arrived = ByteBuffer.allocate(BYTES);
                while (arrived.hasRemaining()) {
                    if (connection.read(arrived) < 0) {
                        throw new IOException("the server has closed the connection");
                    }
                }
                Job.same(sent, arrived.array(), "message " + i);
                job.done("message " + i);
                if (i == 0) {
                    job.halfway();
                }
            }
        }
        return "an echo";
    }

    @Override
    public SequencedMap<String, Double> measure(InetSocketAddress server, Job job) throws Exception {
        try (SocketChannel connection = SocketChannel.open(server)) {
            var message = ByteBuffer.allocate(100);
            Times.Call echo = () -> {
                int _ = connection.write(message.clear());
                message.clear();
                while (message.hasRemaining()) {
                    if (connection.read(message) < 0) {
                        throw new IOException("the server has closed the connection");
                    }
                }
            };
            SequencedMap<String, Double> found = Times.measure("an echo", job, echo);
            found.putAll(Times.rate("bytes", message.capacity(), job, echo));
            return found;
        }
    }

    /// Changes a byte of what it reads second.
    public static final class Lying extends Echo {
        private int reads;

        @Override
        void answer(ByteBuffer bytes) {
            reads++;
            if (reads == 2) {
                bytes.put(0, (byte) ~bytes.get(0));
            }
        }
    }

    /// Cannot begin.
    public static final class Broken extends Echo {
        @Override
        public Serving serve(Job job) throws Exception {
            throw new IOException("no place to serve");
        }
    }
}
