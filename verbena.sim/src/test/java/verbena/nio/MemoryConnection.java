package verbena.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// A connection in memory, by TCP or by a stream. A thread that reads or writes stands still first, until a step of the
/// world lets it go on. What a thread does behind a lock, at which it has stood still, it does at once: no other thread
/// could tell the difference.
final class MemoryConnection {
    /// What the threads of a world have to do with a connection.
    interface Threads {
        /// Stands still until the world lets it go on, which may be when this is so.
        void stand(String where, BooleanSupplier mayGoOn);

        /// Does so until that, or until its time is over.
        void standForATime(String where, BooleanSupplier mayGoOn);

        /// Notes what a read has found, which the thread may have in no field.
        void found(int count);

        /// Returns the byte that arrives instead of this one; less than 0 when it is lost.
        int onTheWay(MemoryConnection by, int value);
    }

    private final String name;
    private final boolean isTcp;
    /// The number of bytes on the way from one end to the other.
    private final int room;

    private final Threads threads;
    final End client;
    final End server;
    /// The connection was reset or has failed.
    private boolean isBroken;

    MemoryConnection(String name, boolean isTcp, int room, Threads threads) {
        this.name = name;
        this.isTcp = isTcp;
        this.room = room;
        this.threads = threads;
        var here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        var there = new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);
        this.client = new End(here, there);
        this.server = new End(there, here);
        client.peer = server;
        server.peer = client;
    }

    boolean isBroken() {
        return isBroken;
    }

    void breakDown() {
        isBroken = true;
        client.onChange();
        server.onChange();
    }

    final class End implements Carrier {
        private final InetSocketAddress local;
        private final InetSocketAddress remote;
        private @Nullable End peer;
        private final ArrayDeque<Integer> arrived = new ArrayDeque<>();
        private boolean isEnded;
        private boolean isOpen = true;
        private boolean isOutputShut;
        private boolean waits = true;
        private Runnable listener = () -> {};
        /// The operations that a selector waits for.
        private int armed;

        private End(InetSocketAddress local, InetSocketAddress remote) {
            this.local = local;
            this.remote = remote;
        }

        private void stand(String what) {
            stand(what, () -> true);
        }

        private void stand(String what, BooleanSupplier mayGoOn) {
            threads.stand(name + " " + what, mayGoOn);
        }

        private void checkOpen() throws ClosedChannelException {
            if (!isOpen) {
                throw new ClosedChannelException();
            }
        }

        private void onChange() {
            if ((armed & readyNow()) != 0) {
                armed = 0;
                listener.run();
            }
        }

        private int readyNow() {
            return (isReadable() ? SelectionKey.OP_READ : 0) | (isWritable() ? SelectionKey.OP_WRITE : 0);
        }

        boolean isReadable() {
            return !arrived.isEmpty() || isEnded || isBroken || !isOpen;
        }

        boolean isWritable() {
            return peer.arrived.size() < room || isOutputShut || isBroken || !isOpen;
        }

        // ---- data

        @Override
        public int read(ByteBuffer into) throws IOException {
            stand("read", () -> !waits || isReadable());
            return take(into);
        }

        private int take(ByteBuffer into) throws IOException {
            checkOpen();
            if (isBroken && !(isTcp && isEnded)) { // once it has seen the end, Linux's TCP reports no reset
                throw new SocketException("Connection reset");
            }
            int count = 0;
            for (; into.hasRemaining() && !arrived.isEmpty(); count++) {
                into.put(arrived.remove().byteValue());
            }
            if (count == 0 && isEnded) {
                count = -1;
            }
            threads.found(count);
            peer.onChange();
            return count;
        }

        @Override
        public int read(byte[] into, int offset, int length, int millis) throws IOException {
            if (millis == Integer.MAX_VALUE) {
                stand("read", this::isReadable);
            } else {
                threads.standForATime(name + " read", this::isReadable);
            }
            if (!isReadable()) {
                throw new SocketTimeoutException();
            }
            return take(ByteBuffer.wrap(into, offset, length));
        }

        @Override
        public long read(ByteBuffer[] into, int offset, int length) throws IOException {
            return read(into[offset]);
        }

        @Override
        public int available() {
            return arrived.size();
        }

        @Override
        public int write(ByteBuffer from) throws IOException {
            int before = from.position();
            do {
                stand("write", () -> !waits || isWritable());
                checkOpen();
                if (isOutputShut) {
                    throw new ClosedChannelException();
                }
                if (isBroken || (!isTcp && !peer.isOpen)) {
                    throw new SocketException("Broken pipe");
                }
                if (!peer.isOpen) {
                    breakDown(); // TCP answers with a reset
                    return from.remaining();
                }
                while (from.hasRemaining() && peer.arrived.size() < room) {
                    int value = threads.onTheWay(MemoryConnection.this, Byte.toUnsignedInt(from.get()));
                    if (value >= 0) {
                        peer.arrived.add(value);
                    }
                }
                peer.onChange();
            } while (waits && from.hasRemaining());
            return from.position() - before;
        }

        @Override
        public long write(ByteBuffer[] from, int offset, int length) throws IOException {
            return write(from[offset]);
        }

        // ---- the end

        @Override
        public void shutdownInput() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void shutdownOutput() throws IOException {
            checkOpen();
            isOutputShut = true;
            peer.end();
        }

        /// Lets this end find the end of the data.
        void end() {
            isEnded = true;
            onChange();
        }

        @Override
        public void close(int lingerSeconds, boolean mayWait) {
            if (isTcp) {
                stand("close");
            }
            if (!isOpen) {
                return;
            }
            isOpen = false;
            if (isTcp && !arrived.isEmpty()) {
                breakDown();
            } else {
                peer.end();
            }
            onChange();
        }

        @Override
        public boolean isOpen() {
            return isOpen;
        }

        // ---- the rest

        @Override
        public void configureBlocking(boolean block) throws IOException {
            checkOpen();
            waits = block;
        }

        @Override
        public InetSocketAddress local() {
            return local;
        }

        @Override
        public InetSocketAddress remote() {
            return remote;
        }

        @Override
        public int readyOps(int interestOps) {
            int ready = isTcp ? 0 : interestOps & readyNow();
            armed = ready == 0 ? interestOps : 0;
            return ready;
        }

        /// Returns what the kernel tells a selector.
        int kernelReadyOps(int interestOps) {
            return interestOps & readyNow();
        }

        @Override
        public @Nullable SocketChannel kernel() {
            return null;
        }

        @Override
        public int kernelOps(int interestOps) {
            return isTcp ? interestOps & OPS : 0;
        }

        @Override
        public @Nullable StreamChannel stream() {
            return null;
        }

        @Override
        public void begin(Runnable listener) {
            if (!isTcp) {
                stand("begin");
                this.listener = listener;
            }
        }

        @Override
        public <T> void setOption(SocketOption<T> option, T value) throws IOException {
            stand("option");
            checkOpen();
        }
    }
}
