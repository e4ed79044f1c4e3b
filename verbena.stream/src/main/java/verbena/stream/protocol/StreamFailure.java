package verbena.stream.protocol;

import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketException;
import verbena.verbs.WcStatus;
import verbena.verbs.cm.ConnectionId;

/// The reason why a [ByteStream] does not work any more.
public enum StreamFailure {
    /// The peer has broken the protocol.
    PROTOCOL,
    /// A connection that is gone, and whose end the peer had not announced.
    RESET,
    /// The peer does not answer any more.
    TIMED_OUT,
    /// A request could not be carried out.
    DEVICE;

    /// Returns the failure that this status of a request means.
    static StreamFailure of(WcStatus status) {
        return switch (status) {
            case WcStatus.WR_FLUSH_ERR -> RESET;
            case WcStatus.RETRY_EXC_ERR, WcStatus.RNR_RETRY_EXC_ERR -> TIMED_OUT;
            default -> DEVICE;
        };
    }

    /// Returns the exception that a program gets.
    public IOException exception(ConnectionId id) {
        return switch (this) {
            case PROTOCOL -> new ProtocolException(id + ": the peer has broken the protocol of rsockets");
            case RESET -> new SocketException("Connection reset: " + id);
            case TIMED_OUT -> new SocketException("Connection timed out: " + id + ": the peer does not answer");
            case DEVICE -> new SocketException(id + ": the device could not carry out a request");
        };
    }
}
