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
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
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

    static Socket of(RdmaSocketChannel channel) {
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
    @SuppressWarnings("NullAway") // null is to be an exception
    public void connect(@Nullable SocketAddress remote, int timeout) throws IOException {
        if (remote == null) {
            throw new IllegalArgumentException("connect: The address can't be null");
        }
        if (remote instanceof InetSocketAddress at && at.isUnresolved()) {
            checkOpen();
            if (channel.isConnected()) {
                throw new SocketException("Already connected");
            }
            close();
            throw new UnknownHostException(at.getHostString());
        }
        if (timeout < 0) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        long nanos = timeout == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(timeout);
        boolean _ = OldNames.unchecked(() -> {
            InetSocketAddress peer = Attempt.peer(remote);
            checkBlocking();
            if (!channel.isOpen()) {
                throw Thread.currentThread().isInterrupted()
                        ? new ClosedByInterruptException()
                        : new AsynchronousCloseException(); // as the JDK has it
            }
            return channel.connect(peer, nanos);
        });
    }

    private void checkBlocking() {
        if (!channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    @Override
    public void bind(@Nullable SocketAddress local) throws IOException {
        SocketChannel _ = OldNames.unchecked(() -> channel.bind(local));
    }

    // ---- addresses

    @Override
    public @Nullable InetAddress getInetAddress() {
        InetSocketAddress remote = channel.remoteAddress();
        return remote == null ? null : remote.getAddress();
    }

    @Override
    public int getPort() {
        InetSocketAddress remote = channel.remoteAddress();
        return remote == null ? 0 : remote.getPort();
    }

    @Override
    public @Nullable SocketAddress getRemoteSocketAddress() {
        return channel.remoteAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        InetSocketAddress local = channel.isOpen() ? channel.localAddress() : null;
        return local == null ? new InetSocketAddress(0).getAddress() : local.getAddress();
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
        return new Input();
    }

    /// Reads with the time limit that the program sets, as it is at each read.
    private final class Input extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, into.length);
            if (length == 0) {
                return 0;
            }
            checkMode();
            int millis = timeoutMillis;
            return millis > 0
                    ? channel.read(into, offset, length, millis)
                    : channel.read(ByteBuffer.wrap(into, offset, length));
        }

        @Override
        public int available() throws IOException {
            return channel.available();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /// Writes all of it.
    private final class Output extends OutputStream {
        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, from.length);
            ByteBuffer left = ByteBuffer.wrap(from, offset, length);
            while (left.hasRemaining()) {
                checkMode();
                if (channel.isOutputShut()) {
                    throw new ClosedChannelException();
                }
                int _ = channel.write(left);
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private void checkMode() throws IOException {
        if (channel.isOpen()) { // a closed one says so
            checkBlocking();
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
        return new Output();
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
        channel.sendUrgent(data);
    }

    @Override
    public void shutdownInput() throws IOException {
        SocketChannel _ = OldNames.unchecked(channel::shutdownInput);
    }

    @Override
    public void shutdownOutput() throws IOException {
        SocketChannel _ = OldNames.unchecked(channel::shutdownOutput);
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
        return channel.localAddress() != null;
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
        SocketChannel _ = OldNames.all(() -> channel.setOption(name, value));
    }

    private <T> T get(SocketOption<T> name) throws SocketException {
        return OldNames.all(() -> Objects.requireNonNull(channel.getOption(name)));
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
        set(StandardSocketOptions.SO_LINGER, on ? seconds : -1);
    }

    @Override
    public int getSoLinger() throws SocketException {
        return get(StandardSocketOptions.SO_LINGER);
    }

    @Override
    public void setOOBInline(boolean on) throws SocketException {
        set(oobInline(), on);
    }

    @Override
    public boolean getOOBInline() throws SocketException {
        return get(oobInline());
    }

    /// Returns an option that has no public name.
    @SuppressWarnings("unchecked")
    private SocketOption<Boolean> oobInline() {
        return (SocketOption<Boolean>) channel.supportedOptions().stream()
                .filter(each -> each.name().equals("SO_OOBINLINE"))
                .findAny()
                .orElseThrow(UnsupportedOperationException::new);
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
