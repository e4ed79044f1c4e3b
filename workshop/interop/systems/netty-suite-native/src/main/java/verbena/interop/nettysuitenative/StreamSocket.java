package verbena.interop.nettysuitenative;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.nio.channels.Channels;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;
import verbena.stream.StreamOptions;

/// A socket of `java.net` that accepts streams. Some tests of the suite have a plain socket at the other end; the
/// transport has no way by TCP, and reaches it as a stream.
final class StreamSocket extends SocketImpl {
    private final StreamOptions options;
    /// Null until it is bound.
    private @Nullable StreamListener listener;
    /// Null unless it was accepted.
    private @Nullable StreamChannel channel;

    private StreamSocket(StreamOptions options) {
        this.options = options;
    }

    /// Makes streams of all sockets that this process opens from now on. Once.
    @SuppressWarnings("deprecation") // nothing else puts another class under the sockets of a class that is not ours
    static void replaceAll(StreamOptions options) throws IOException {
        ServerSocket.setSocketFactory(() -> new StreamSocket(options));
        Socket.setSocketImplFactory(() -> new StreamSocket(options));
    }

    @Override
    protected void create(boolean isStream) throws SocketException {
        if (!isStream) {
            throw new SocketException("create: there are streams only");
        }
    }

    @Override
    protected void bind(InetAddress host, int port) throws SocketException {
        StreamListener bound = StreamListener.bind(new InetSocketAddress(host, port), options);
        listener = bound;
        address = host;
        localport = bound.localAddress().getPort();
    }

    @Override
    protected void listen(int backlog) {}

    @Override
    protected void accept(SocketImpl into) throws IOException {
        if (listener == null || !(into instanceof StreamSocket accepted)) {
            throw new SocketException("accept: this socket does not listen, or " + into + " is of another kind");
        }
        StreamChannel came = Objects.requireNonNull(listener.accept(), "a listener that waits gives a channel");
        accepted.channel = came;
        accepted.address = came.peerAddress().orElseThrow().getAddress();
        accepted.port = came.peerAddress().orElseThrow().getPort();
        accepted.localport = localport;
    }

    @Override
    protected void connect(SocketAddress to, int timeoutMillis) throws SocketException {
        throw new SocketException("connect: " + to + ": no test of the suite connects a plain socket");
    }

    @Override
    protected void connect(InetAddress host, int at) throws SocketException {
        connect(new InetSocketAddress(host, at), 0);
    }

    @Override
    protected void connect(String host, int at) throws SocketException {
        connect(InetSocketAddress.createUnresolved(host, at), 0);
    }

    private StreamChannel connected() throws SocketException {
        if (channel == null) {
            throw new SocketException("this socket is not connected");
        }
        return channel;
    }

    @Override
    protected InputStream getInputStream() throws IOException {
        return Channels.newInputStream(connected());
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        return Channels.newOutputStream(connected());
    }

    @Override
    protected int available() throws IOException {
        return connected().available();
    }

    @Override
    protected void sendUrgentData(int data) throws SocketException {
        throw new SocketException("sendUrgentData: a stream has none");
    }

    @Override
    public void setOption(int option, Object value) throws SocketException {
        throw new SocketException("setOption: " + option + ": a stream has none of these");
    }

    @Override
    public Object getOption(int option) throws SocketException {
        throw new SocketException("getOption: " + option + ": a stream has none of these");
    }

    @Override
    protected void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
        if (listener != null) {
            listener.close();
        }
    }
}
