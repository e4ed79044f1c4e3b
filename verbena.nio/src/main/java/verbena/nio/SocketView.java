package verbena.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The [Socket] of a channel: the channel's state and options under the older names. Its streams need blocking mode.
final class SocketView extends Socket {
    private final RdmaSocketChannel channel;
    private volatile int timeoutMillis;

    private SocketView(RdmaSocketChannel channel) throws SocketException {
        super((SocketImpl) null);
        this.channel = channel;
    }

    static SocketView of(RdmaSocketChannel channel) {
        try {
            return new SocketView(channel);
        } catch (SocketException e) {
            throw new IllegalStateException(e); // nothing is opened
        }
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    // ---- connecting

    @Override
    public void connect(SocketAddress remote) throws IOException {
        connect(remote, 0);
    }

    @Override
    public void connect(SocketAddress remote, int timeout) throws IOException {
        if (timeout < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        checkBlocking();
        try {
            boolean _ = channel.connect(remote, timeout == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(timeout));
        } catch (ClosedChannelException e) {
            throw closed(e);
        }
    }

    private static SocketException closed(ClosedChannelException why) {
        var closed = new SocketException("Socket closed");
        closed.initCause(why);
        return closed;
    }

    private void checkBlocking() {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        SocketChannel _ = channel.bind(local);
    }

    // ---- addresses

    private @Nullable InetSocketAddress remote() {
        try {
            return channel.isOpen() ? channel.remoteAddress() : null;
        } catch (IOException e) {
            return null;
        }
    }

    private @Nullable InetSocketAddress local() {
        try {
            return channel.isOpen() ? channel.localAddress() : null;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = remote();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = remote();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return remote();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = local();
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
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

    // ---- data

    @Override
    public InputStream getInputStream() throws IOException {
        checkOpen();
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
        if (channel.isInputShut()) {
            throw new SocketException("Socket input is shutdown");
        }
        return new TimedInput();
    }

    /// Reads with the time limit that the program sets, as it is at each read.
    private final class TimedInput extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, into.length);
            checkBlocking();
            if (length == 0) {
                return 0;
            }
            try {
                int millis = timeoutMillis;
                return millis > 0
                        ? channel.read(into, offset, length, millis)
                        : channel.read(ByteBuffer.wrap(into, offset, length));
            } catch (ClosedChannelException e) {
                throw closed(e);
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        checkOpen();
        if (!channel.isConnected()) {
            throw new SocketException("Socket is not connected");
        }
        if (channel.isOutputShut()) {
            throw new SocketException("Socket output is shutdown");
        }
        return Channels.newOutputStream(channel);
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        throw new SocketException("Urgent data not supported");
    }

    @Override
    public void shutdownInput() throws IOException {
        SocketChannel _ = channel.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        SocketChannel _ = channel.shutdownOutput();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    // ---- state

    private void checkOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected();
    }

    @Override
    public boolean isBound() {
        return local() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public boolean isInputShutdown() {
        return channel.isInputShut();
    }

    @Override
    public boolean isOutputShutdown() {
        return channel.isOutputShut();
    }

    // ---- options

    @Override
    public <T> Socket setOption(SocketOption<T> name, T value) throws IOException {
        SocketChannel _ = channel.setOption(name, value);
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

    private <T> void set(SocketOption<T> name, T value) throws SocketException {
        checkOpen();
        try {
            SocketChannel _ = channel.setOption(name, value);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private <T> T get(SocketOption<T> name) throws SocketException {
        checkOpen();
        try {
            return Objects.requireNonNull(channel.getOption(name));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static SocketException failed(IOException why) {
        if (why instanceof SocketException same) {
            return same;
        }
        var failed = new SocketException(why.getMessage());
        failed.initCause(why);
        return failed;
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        set(StandardSocketOptions.TCP_NODELAY, on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return get(StandardSocketOptions.TCP_NODELAY);
    }

    @Override
    public void setSoLinger(boolean on, int seconds) throws SocketException {
        if (on && seconds < 0) {
            throw new IllegalArgumentException("invalid value for SO_LINGER");
        }
        set(StandardSocketOptions.SO_LINGER, on ? Math.min(seconds, 65_535) : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        checkOpen(); // there is no urgent data
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        checkOpen();
        return false;
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
    public void setSendBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid send size");
        }
        set(StandardSocketOptions.SO_SNDBUF, size);
    }

    @Override
    public int getSendBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_SNDBUF);
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("Invalid receive size");
        }
        set(StandardSocketOptions.SO_RCVBUF, size);
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return get(StandardSocketOptions.SO_RCVBUF);
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        set(StandardSocketOptions.SO_KEEPALIVE, on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return get(StandardSocketOptions.SO_KEEPALIVE);
    }

    @Override
    public void setTrafficClass(int trafficClass) throws SocketException {
        set(StandardSocketOptions.IP_TOS, trafficClass);
    }

    @Override
    public int getTrafficClass() throws SocketException {
        return get(StandardSocketOptions.IP_TOS);
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
    public String toString() {
        return "Socket of " + channel;
    }
}
