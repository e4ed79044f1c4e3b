package verbena.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// Two devices of one name on loopback, a listener at one of them, and two ends of a connection.
final class StreamPair implements AutoCloseable {
    final Context serverDevice;
    final Context clientDevice;
    final StreamOptions serverOptions;
    final StreamOptions clientOptions;
    final StreamListener listener;
    final StreamChannel client;
    final StreamChannel server;

    StreamPair(String device) throws IOException {
        this(device, options -> options);
    }

    StreamPair(String device, UnaryOperator<StreamOptions> choices) throws IOException {
        serverDevice = Device.named(device).open();
        clientDevice = Device.named(device).open();
        serverOptions = choices.apply(StreamOptions.defaults()).withDevice(serverDevice);
        clientOptions = choices.apply(StreamOptions.defaults()).withDevice(clientDevice);
        listener = StreamListener.bind(at(0), serverOptions);
        client = StreamChannel.connect(listener.localAddress(), clientOptions);
        server = listener.accept();
    }

    InetSocketAddress at(int port) {
        return new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), port);
    }

    static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    /// Reads so many bytes as text, or what there is before the end.
    static String text(StreamChannel from, int bytes) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(bytes);
        int n = 0;
        while (into.hasRemaining() && n >= 0) {
            n = from.read(into);
        }
        return new String(into.array(), 0, into.position(), StandardCharsets.UTF_8);
    }

    /// Closing the devices shows that nothing was left behind.
    @Override
    public void close() {
        client.close();
        server.close();
        listener.close();
        clientDevice.close();
        serverDevice.close();
    }
}
