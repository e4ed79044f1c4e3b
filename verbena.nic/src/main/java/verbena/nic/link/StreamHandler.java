package verbena.nic.link;

import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamTarget;

/// What a [TcpSocket] belongs to. The thread that moves the link tells it what happens on the socket. It may write
/// to the socket and close it at once. After [#onEnd(long)] or [#onBroken] the socket is closed, and nothing more is
/// told.
public interface StreamHandler {
    /// Why a stream broke.
    enum Cause {
        /// No program listens there.
        REFUSED,
        /// There is no way, or no answer in time.
        UNREACHABLE,
        /// The peer broke it off.
        RESET,
        /// This host could not go on.
        LOCAL
    }

    /// The connection that this side asked for is there.
    void onConnected(long nowNanos);

    /// Bytes `from` to `to` are next in the stream. Returns how many of them are done with; the rest, not more than
    /// [TcpLink#KEPT_BYTES_MAX], comes again with the bytes that follow.
    int onBytes(StreamBuffer bytes, int from, int to, long nowNanos);

    /// Where the next bytes of the stream may be put instead of being handed to [#onBytes]; false for nowhere.
    default boolean direct(StreamTarget into) {
        return false;
    }

    /// So many bytes have been put there.
    default void onDirect(int bytes, long nowNanos) {}

    /// There is room again for what is to be written.
    void onWritable(long nowNanos);

    /// The peer has ended the stream in order.
    void onEnd(long nowNanos);

    /// The stream is broken.
    ///
    /// @param why in words
    void onBroken(Cause cause, String why, long nowNanos);
}
