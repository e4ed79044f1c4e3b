package verbena.stream.protocol;

import verbena.verbs.WcStatus;

/// Why a [ByteStream] does not work any more.
public enum StreamFailure {
    /// The peer has broken the protocol.
    PROTOCOL,
    /// The connection is gone, and the peer had not said that it ends.
    RESET,
    /// The peer does not answer any more.
    TIMED_OUT,
    /// A request could not be carried out.
    DEVICE;

    /// Of a request that has failed.
    static StreamFailure of(WcStatus status) {
        return switch (status) {
            case WcStatus.WR_FLUSH_ERR -> RESET;
            case WcStatus.RETRY_EXC_ERR, WcStatus.RNR_RETRY_EXC_ERR -> TIMED_OUT;
            default -> DEVICE;
        };
    }
}
