package verbena.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The [ServerSocket] of a channel: the channel's state and options under the older names.
final class ServerSocketView extends ServerSocket {
    private final RdmaServerSocketChannel channel;
    private volatile int timeoutMillis;

    private ServerSocketView(RdmaServerSocketChannel channel) throws IOException {
        this.channel = channel; // the socket above is never made: only bind() and accept() would
    }

    static ServerSocketView of(RdmaServerSocketChannel channel) {
        try {
            return new ServerSocketView(channel);
        } catch (IOException e) {
            throw new IllegalStateException(e); // nothing is opened
        }
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        bind(local, 50);
    }

    @Override
    public void bind(@Nullable SocketAddress local, int backlog) throws IOException {
        SocketAddress at = local == null ? new InetSocketAddress(0) : local;
        ServerSocketChannel _ = OldNames.unchecked(() -> channel.bind(at, backlog));
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return channel.localAddress();
    }

    @Override
    public Socket accept() throws IOException {
        int millis = timeoutMillis;
        if (millis > 0 && !channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        long nanos = millis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis);
        SocketChannel found = OldNames.unchecked(() -> channel.accept(nanos));
        if (found != null) {
            return found.socket();
        }
        if (channel.isBlocking()) {
            throw new SocketTimeoutException("Accept timed out");
        }
        throw new IllegalBlockingModeException(); // there is none, and this call may not wait
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public boolean isBound() {
        return channel.isBound();
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        checkOpen();
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMillis = timeout;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        checkOpen();
        return timeoutMillis;
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_REUSEADDR, on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return get(StandardSocketOptions.SO_REUSEADDR);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("size cannot be 0 or negative");
        }
        set(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_RCVBUF);
    }

    private void checkOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        ServerSocketChannel _ = OldNames.all(() -> channel.setOption(name, value));
    }

    private <T> T get(SocketOption<T> name) throws SocketException {
        return OldNames.all(() -> Objects.requireNonNull(channel.getOption(name)));
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        ServerSocketChannel _ = channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> @Nullable T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        return "ServerSocket of " + channel;
    }
}
