import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;

/// Bytes both ways, as with socket channels. The server reads until the client writes nothing more, and answers
/// how much it was.
///
/// Prints: 3000000 bytes
public class Streams {
    public static void main(String[] args) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = StreamListener.bind("127.0.0.1", 0)) {
            var server = threads.submit(() -> count(listener));
            System.out.println(ask(listener.localAddress()) + " bytes");
            server.get();
        }
    }

    private static Void count(StreamListener listener) throws IOException {
        try (StreamChannel channel = listener.accept()) {
            var buffer = ByteBuffer.allocate(100_000);
            long bytes = 0;
            while (channel.read(buffer.clear()) >= 0) {
                bytes += buffer.position();
            }
            channel.write(ByteBuffer.wrap(Long.toString(bytes).getBytes(StandardCharsets.UTF_8)));
        }
        return null;
    }

    private static String ask(InetSocketAddress server) throws IOException {
        try (StreamChannel channel = StreamChannel.connect(server)) {
            channel.write(ByteBuffer.allocate(3_000_000));
            channel.shutdownOutput();
            var answer = ByteBuffer.allocate(100);
            while (channel.read(answer) >= 0) {
                // until the server has closed its end
            }
            return new String(answer.array(), 0, answer.position(), StandardCharsets.UTF_8);
        }
    }
}
