package verbena.nic.link.tcp;

import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamTarget;

/// The owner of a [TcpSocket]. The thread that moves the link calls it when something happens on the socket. The
/// handler may write to the socket and close it at once. After [#onEnd(long)] or [#onBroken], the socket is closed
/// and the handler is not called again.
public interface StreamHandler {
    /// The reasons for which a stream broke.
    enum Cause {
        /// A port at which no program listens.
        REFUSED,
        /// A peer without a route, or without an answer in time.
        UNREACHABLE,
        /// The peer broke the connection off.
        RESET,
        /// A failure of this host, which could not continue.
        LOCAL
    }

    /// Called when the connection that this side asked for is established.
    void onConnected(long nowNanos);

    /// Called with the next bytes of the stream, from `from` to `to`. Returns how many of them were consumed; the
    /// rest, at most [TcpLink#KEPT_BYTES_MAX], comes again with the bytes that follow.
    int onBytes(StreamBuffer bytes, int from, int to, long nowNanos);

    /// Sets where the next bytes of the stream may be read to instead of being handed to [#onBytes]; false for
    /// nowhere.
    default boolean direct(StreamTarget into) {
        return false;
    }

    /// Called when this many bytes were read to that place.
    default void onDirect(int bytes, long nowNanos) {}

    /// Called when there is room again to write.
    void onWritable(long nowNanos);

    /// Called when the peer has ended the stream in order.
    void onEnd(long nowNanos);

    /// Called when the stream is broken.
    ///
    /// @param why the reason in words
    void onBroken(Cause cause, String why, long nowNanos);
}
