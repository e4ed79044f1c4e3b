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
import java.nio.channels.ClosedChannelException;
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
        ServerSocketChannel _ = channel.bind(local, backlog);
    }

    private @Nullable InetSocketAddress local() {
        try {
            return channel.isOpen() ? (InetSocketAddress) channel.getLocalAddress() : null;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress local = local();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = local();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public @Nullable SocketAddress getLocalSocketAddress() {
        return local();
    }

    @Override
    public Socket accept() throws IOException {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        try {
            int millis = timeoutMillis;
            SocketChannel found = channel.accept(millis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(millis));
            if (found == null) {
                throw new SocketTimeoutException("Accept timed out");
            }
            return found.socket();
        } catch (ClosedChannelException e) {
            var closed = new SocketException("Socket closed");
            closed.initCause(e);
            throw closed;
        }
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
    public void setSoTimeout(int timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMillis = timeout;
    }

    @Override
    public int getSoTimeout() {
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

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        try {
            ServerSocketChannel _ = channel.setOption(name, value);
        } catch (IOException e) {
            throw closed(e);
        }
    }

    private <T> T get(SocketOption<T> name) throws SocketException {
        try {
            return Objects.requireNonNull(channel.getOption(name));
        } catch (IOException e) {
            throw closed(e);
        }
    }

    private static SocketException closed(IOException why) {
        var closed = new SocketException(why instanceof ClosedChannelException ? "Socket is closed" : why.getMessage());
        closed.initCause(why);
        return closed;
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
