package verbena.nio;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// What a connection that this process has made is used for, until it is closed. One thread reads at a time and one
/// writes; any closes.
final class Usage {
    /// Of a connection that a peer has made.
    static final Usage NONE = new Usage(null, 0, (_, _, _, _) -> {});

    private final @Nullable InetSocketAddress peer;
    private final long setupNanos;
    private final Listener listener;
    private final long begun = System.nanoTime();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private long bytesIn;
    private long bytesOut;

    private Usage(@Nullable InetSocketAddress peer, long setupNanos, Listener listener) {
        this.peer = peer;
        this.setupNanos = setupNanos;
        this.listener = listener;
    }

    /// Of a connection to this peer, which begins now.
    ///
    /// @param setupNanos that it took to make it
    static Usage of(InetSocketAddress peer, long setupNanos, Listener listener) {
        return new Usage(peer, setupNanos, listener);
    }

    /// Is told once, when the connection is closed.
    interface Listener {
        /// Takes what the connection was.
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

    void closed() {
        if (peer != null && isClosed.compareAndSet(false, true)) {
            listener.onClosed(peer, bytesIn + bytesOut, setupNanos, System.nanoTime() - begun);
        }
    }
}
