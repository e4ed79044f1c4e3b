package verbena.nio;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// A carrier of the bytes of a connected [RdmaSocketChannel]. Each carrier counts them in [NioCounters]. Threads,
/// results and exceptions as [SocketChannel] has them.
interface Carrier {
    /// The operations that a connected channel can be ready for.
    int OPS = SelectionKey.OP_READ | SelectionKey.OP_WRITE;

    int read(ByteBuffer into) throws IOException;

    /// Reads in blocking mode, and waits at most so long.
    ///
    /// @throws SocketTimeoutException when the time is over
    int read(byte[] into, int offset, int length, int millis) throws IOException;

    /// Returns the number of bytes that a read would find now.
    int available() throws IOException;

    long read(ByteBuffer[] into, int offset, int length) throws IOException;

    int write(ByteBuffer from) throws IOException;

    long write(ByteBuffer[] from, int offset, int length) throws IOException;

    void shutdownInput() throws IOException;

    void shutdownOutput() throws IOException;

    void configureBlocking(boolean block) throws IOException;

    boolean isOpen();

    @Nullable
    InetSocketAddress local() throws IOException;

    @Nullable
    InetSocketAddress remote() throws IOException;

    /// Returns the ready operations as [Selected#readyOps] does.
    int readyOps(int interestOps);

    /// Returns the channel of the kernel as [Selected#kernel] does.
    @Nullable
    SocketChannel kernel();

    /// Returns the operations to ask the kernel for, as [Selected#kernelOps] does.
    int kernelOps(int interestOps);

    /// Returns the stream as [Selected#stream] does.
    @Nullable
    StreamChannel stream();

    /// Begins: `listener` runs when something may be ready which [#readyOps] did not find so.
    void begin(Runnable listener) throws IOException;

    /// Sets an option where the kernel has it.
    <T> void setOption(SocketOption<T> name, T value) throws IOException;

    /// Ends the connection.
    ///
    /// @param lingerSeconds -1 when the program has not said so
    /// @param waits whether the caller may wait so long
    void close(int lingerSeconds, boolean waits) throws IOException;

    /// A carrier by RDMA. Both addresses are those that programs know: the ports of a [MappedPort] do not show.
    record ByStream(
            StreamChannel stream,
            @Nullable InetSocketAddress local,
            @Nullable InetSocketAddress remote,
            Usage usage) implements Carrier {
        /// Makes the carrier of a stream that was accepted at a listener with this port.
        static ByStream accepted(StreamChannel stream, int port) {
            InetSocketAddress local = stream.localAddress()
                    .map(at -> new InetSocketAddress(at.getAddress(), port))
                    .orElse(null);
            return new ByStream(stream, local, stream.peerAddress().orElse(null), Usage.NONE);
        }

        /// Makes the carrier of a stream that was connected to this peer.
        static ByStream connected(StreamChannel stream, InetSocketAddress peer, Usage usage) {
            return new ByStream(stream, stream.localAddress().orElse(null), peer, usage);
        }

        private long in(long bytes) {
            NioCounters.RDMA_IN.add(Math.max(0, bytes));
            usage.in(bytes);
            return bytes;
        }

        private long out(long bytes) {
            NioCounters.RDMA_OUT.add(Math.max(0, bytes));
            usage.out(bytes);
            return bytes;
        }

        @Override
        public int read(ByteBuffer into) throws IOException {
            return (int) in(stream.read(into));
        }

        @Override
        public int read(byte[] into, int offset, int length, int millis) throws IOException {
            try {
                return (int) in(stream.read(ByteBuffer.wrap(into, offset, length), Duration.ofMillis(millis)));
            } catch (SocketTimeoutException e) {
                var timedOut = new SocketTimeoutException("Read timed out"); // programs know the words
                timedOut.initCause(e);
                throw timedOut;
            }
        }

        @Override
        public int available() throws IOException {
            return stream.available();
        }

        @Override
        public long read(ByteBuffer[] into, int offset, int length) throws IOException {
            return in(stream.read(into, offset, length));
        }

        @Override
        public int write(ByteBuffer from) throws IOException {
            return (int) out(stream.write(from));
        }

        @Override
        public long write(ByteBuffer[] from, int offset, int length) throws IOException {
            return out(stream.write(from, offset, length));
        }

        @Override
        public void shutdownInput() throws IOException {
            StreamChannel _ = stream.shutdownInput();
        }

        @Override
        public void shutdownOutput() throws IOException {
            StreamChannel _ = stream.shutdownOutput();
        }

        @Override
        public void configureBlocking(boolean block) throws IOException {
            StreamChannel _ = stream.configureBlocking(block);
        }

        @Override
        public boolean isOpen() {
            return stream.isOpen();
        }

        @Override
        public int readyOps(int interestOps) {
            int wanted = interestOps & OPS;
            return wanted == 0 ? 0 : stream.readyOps(wanted);
        }

        @Override
        public @Nullable SocketChannel kernel() {
            return null;
        }

        @Override
        public int kernelOps(int interestOps) {
            return 0;
        }

        @Override
        public void begin(Runnable listener) throws IOException {
            stream.onReadiness(listener);
            NioCounters.RDMA_CONNECTIONS.increment();
        }

        @Override
        public <T> void setOption(SocketOption<T> name, T value) {
            // no socket has it
        }

        @Override
        public void close(int lingerSeconds, boolean waits) {
            usage.closed();
            if (lingerSeconds == 0) {
                stream.abandon();
            } else if (lingerSeconds > 0 && waits) {
                stream.close();
            } else {
                var _ = stream.closeLater();
            }
        }

        @Override
        public String toString() {
            return stream.toString();
        }
    }

    /// A carrier by TCP, through the JDK's own channel.
    ///
    /// Its descriptor may be non-blocking though the channel blocks: the JDK leaves it so after a call of a virtual
    /// thread, and then a write takes what there is room for. A write here goes on until all is written.
    final class ByTcp implements Carrier {
        /// The JDK copies a buffer of the heap for each system call, the bytes too that the call does not take.
        private static final int PIECE = 1 << 18;

        private final SocketChannel channel;
        private final Usage usage;
        /// Held by a thread that writes: it may need several calls of the channel.
        private final ReentrantLock writing = new ReentrantLock();

        /// Knows time limits; made when one is needed. Guarded by this.
        private @Nullable InputStream input;

        ByTcp(SocketChannel channel, Usage usage) {
            this.channel = channel;
            this.usage = usage;
        }

        private synchronized InputStream input() throws IOException {
            InputStream made = input;
            if (made == null) {
                made = channel.socket().getInputStream();
                input = made;
            }
            return made;
        }

        private long in(long bytes) {
            NioCounters.TCP_IN.add(Math.max(0, bytes));
            usage.in(bytes);
            return bytes;
        }

        @Override
        public int read(ByteBuffer into) throws IOException {
            return (int) in(channel.read(into));
        }

        @Override
        public long read(ByteBuffer[] into, int offset, int length) throws IOException {
            return in(channel.read(into, offset, length));
        }

        private long out(long bytes) {
            NioCounters.TCP_OUT.add(bytes);
            usage.out(bytes);
            return bytes;
        }

        @Override
        public int write(ByteBuffer from) throws IOException {
            writing.lock();
            try {
                if (!channel.isBlocking()) {
                    return (int) out(channel.write(from));
                }
                int done = writePiece(from);
                while (from.hasRemaining()) {
                    done += (int) writeOn(() -> writePiece(from));
                }
                return done;
            } finally {
                writing.unlock();
            }
        }

        /// Writes a further piece. The channel may have been closed in the middle of it all.
        private static long writeOn(Piece piece) throws IOException {
            try {
                return piece.write();
            } catch (AsynchronousCloseException e) {
                throw e;
            } catch (ClosedChannelException e) {
                var closed = new AsynchronousCloseException();
                closed.initCause(e);
                throw closed;
            }
        }

        @FunctionalInterface
        private interface Piece {
            long write() throws IOException;
        }

        private int writePiece(ByteBuffer from) throws IOException {
            int limit = from.limit();
            try {
                return (int) out(channel.write(from.limit(Math.min(limit, from.position() + PIECE))));
            } finally {
                from.limit(limit);
            }
        }

        @Override
        public long write(ByteBuffer[] from, int offset, int length) throws IOException {
            writing.lock();
            try {
                if (!channel.isBlocking()) {
                    return out(channel.write(from, offset, length));
                }
                long done = writePiece(from, offset, length);
                int end = offset + length;
                for (int i = offset; i < end; i++) {
                    int next = i;
                    while (from[next].hasRemaining()) {
                        done += writeOn(() -> writePiece(from, next, end - next));
                    }
                }
                return done;
            } finally {
                writing.unlock();
            }
        }

        /// Writes from the first of the buffers, and from as many more as make up a piece.
        private long writePiece(ByteBuffer[] from, int offset, int length) throws IOException {
            int count = 0;
            for (long bytes = 0; count < length && bytes < PIECE; count++) {
                bytes += from[offset + count] == null ? 0 : from[offset + count].remaining(); // the channel judges
            }
            return count == 1 && from[offset] != null
                    ? writePiece(from[offset])
                    : out(channel.write(from, offset, count));
        }

        @Override
        public int read(byte[] into, int offset, int length, int millis) throws IOException {
            channel.socket().setSoTimeout(millis);
            return (int) in(input().read(into, offset, length));
        }

        @Override
        public int available() throws IOException {
            return input().available();
        }

        @Override
        public synchronized void shutdownInput() throws IOException {
            try {
                InputStream _ = input(); // later there is none to be had
            } catch (SocketException e) {
                // closed: what follows says so
            }
            SocketChannel _ = channel.shutdownInput();
        }

        @Override
        public void shutdownOutput() throws IOException {
            SocketChannel _ = channel.shutdownOutput();
        }

        @Override
        public void configureBlocking(boolean block) throws IOException {
            writing.lock();
            try {
                SelectableChannel _ = channel.configureBlocking(block);
            } finally {
                writing.unlock();
            }
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public @Nullable InetSocketAddress local() throws IOException {
            return (InetSocketAddress) channel.getLocalAddress();
        }

        @Override
        public @Nullable InetSocketAddress remote() throws IOException {
            return (InetSocketAddress) channel.getRemoteAddress();
        }

        @Override
        public int readyOps(int interestOps) {
            return 0; // the kernel tells
        }

        @Override
        public SocketChannel kernel() {
            return channel;
        }

        @Override
        public int kernelOps(int interestOps) {
            return interestOps & OPS;
        }

        @Override
        public @Nullable StreamChannel stream() {
            return null;
        }

        @Override
        public void begin(Runnable listener) {
            NioCounters.TCP_CONNECTIONS.increment();
        }

        @Override
        public <T> void setOption(SocketOption<T> name, T value) throws IOException {
            SocketChannel _ = channel.setOption(name, value);
        }

        @Override
        public void close(int lingerSeconds, boolean waits) throws IOException {
            usage.closed();
            channel.close();
        }

        @Override
        public String toString() {
            return "TCP by " + channel;
        }
    }
}
