package verbena.nio;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// The use of a connection that this process has made, until it is closed. At a time one thread reads and another
/// writes; any thread closes.
final class Usage {
    /// The use of a connection that a peer has made.
    static final Usage NONE = new Usage(null, 0, null);

    private final @Nullable InetSocketAddress peer;
    private final long setupNanos;
    private final @Nullable Listener listener;
    private final long begun = System.nanoTime();
    /// Guarded by this.
    private boolean isClosed;

    private long bytesIn;
    private long bytesOut;

    private Usage(@Nullable InetSocketAddress peer, long setupNanos, @Nullable Listener listener) {
        this.peer = peer;
        this.setupNanos = setupNanos;
        this.listener = listener;
    }

    /// Makes the record of a connection to this peer, whose use begins now.
    ///
    /// @param setupNanos that it took to make it
    static Usage of(InetSocketAddress peer, long setupNanos, Listener listener) {
        return new Usage(peer, setupNanos, listener);
    }

    /// A listener that is called once, when the connection is closed.
    interface Listener {
        /// Takes the record of a closed connection.
        ///
        /// @param bytes both ways
        /// @param setupNanos that it took to make it
        /// @param nanos for which it was there
        void onClosed(InetSocketAddress peer, long bytes, long setupNanos, long nanos);
    }

    void in(long bytes) {
        bytesIn += Math.max(0, bytes);
    }

    void out(long bytes) {
        bytesOut += Math.max(0, bytes);
    }

    private synchronized boolean closes() {
        boolean isFirst = !isClosed;
        isClosed = true;
        return isFirst;
    }

    void closed() {
        if (peer != null && listener != null && closes()) {
            listener.onClosed(peer, bytesIn + bytesOut, setupNanos, System.nanoTime() - begun);
        }
    }
}
