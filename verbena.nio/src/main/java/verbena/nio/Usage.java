package verbena.nio;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// What a connection that this process has made is used for, until it is closed. One thread reads at a time and one
/// writes; any closes.
final class Usage {
    /// Of a connection that a peer has made.
    static final Usage NONE = new Usage(null, (_, _, _) -> {});

    private final @Nullable InetSocketAddress peer;
    private final Listener listener;
    private final long begun = System.nanoTime();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private long bytesIn;
    private long bytesOut;

    private Usage(@Nullable InetSocketAddress peer, Listener listener) {
        this.peer = peer;
        this.listener = listener;
    }

    /// Of a connection to this peer, which begins now.
    static Usage of(InetSocketAddress peer, Listener listener) {
        return new Usage(peer, listener);
    }

    /// Is told once, when the connection is closed.
    interface Listener {
        /// @param bytes both ways
        /// @param nanos for which it was there
        void onClosed(InetSocketAddress peer, long bytes, long nanos);
    }

    void in(long bytes) {
        bytesIn += Math.max(0, bytes);
    }

    void out(long bytes) {
        bytesOut += Math.max(0, bytes);
    }

    void closed() {
        if (peer != null && isClosed.compareAndSet(false, true)) {
            listener.onClosed(peer, bytesIn + bytesOut, System.nanoTime() - begun);
        }
    }
}
