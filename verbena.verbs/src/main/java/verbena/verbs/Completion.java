package verbena.verbs;

import java.util.OptionalInt;

/// The result of a request, as an immutable value that the program can keep. [WorkCompletion] is the form that
/// polling fills anew each time.
///
/// @since 0.1
public sealed interface Completion {
    /// Returns the number that the request was posted with.
    long wrId();

    /// Returns the number of the queue pair, 24 bits.
    int qpn();

    /// The request was carried out.
    ///
    /// @param byteLength bytes received or read; 40 more than the payload on UD
    /// @param immediate immediate data, if the message had any
    /// @param invalidatedRkey the key that the peer's message withdrew, if it did
    /// @param sourceQpn UD: the sender's queue pair number; 0 otherwise
    /// @param hasGrh whether the first 40 bytes of the receive hold the network header
    /// @param timestamp time in ticks of the device's clock; 0 in a queue without time stamps
    record Success(
            long wrId,
            WcOpcode opcode,
            int qpn,
            long byteLength,
            OptionalInt immediate,
            OptionalInt invalidatedRkey,
            int sourceQpn,
            boolean hasGrh,
            long timestamp)
            implements Completion {}

    /// The request failed.
    ///
    /// @param vendorError a number of the provider's own
    /// @param cause of the failure in words: the check that failed, or the peer's answer; empty when unknown
    record Failure(long wrId, WcStatus status, int qpn, int vendorError, String cause) implements Completion {
        /// Returns status, meaning and cause in one text, with the page that has more.
        public String explanation() {
            return status + " (" + status.label() + "). " + status.meaning()
                    + (cause.isEmpty() ? "" : " Here: " + cause + ".") + " More: " + status.page();
        }
    }
}
