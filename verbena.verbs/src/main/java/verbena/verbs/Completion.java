package verbena.verbs;

import java.util.Objects;
import java.util.OptionalInt;

/// The result of a request, as an immutable value that the program can keep. [WorkCompletion] is the form that
/// polling fills anew each time.
///
/// @since 0.1
public sealed interface Completion {
    /// Returns the number that the request was posted with.
    long wrId();

    /// Returns the number of the queue pair that the request was posted on, 24 bits.
    int qpn();

    /// The result of a request that was carried out.
    ///
    /// @param wrId number that the request was posted with
    /// @param opcode operation of the request
    /// @param qpn number of the queue pair that the request was posted on, 24 bits
    /// @param byteLength bytes received or read; 40 more than the payload on UD
    /// @param immediate immediate data, if the message had any
    /// @param invalidatedRkey the key that the peer's message invalidated, if it did
    /// @param sourceQpn number of the sender's queue pair (UD); 0 otherwise
    /// @param sourceLid LID of the sender's port (UD over InfiniBand); 0 otherwise
    /// @param serviceLevel service level that the datagram came with (UD over InfiniBand), 0 to 15
    /// @param pathBits low bits of the own LID that the datagram came to (UD over InfiniBand), 0 to 127
    /// @param hasGrh whether the first 40 bytes of the receive hold a GRH or an IP header (UD)
    /// @param hasIpv4Header whether the last 20 of those bytes are an IPv4 header
    ///     ([WorkCompletion#hasIpv4Header()])
    /// @param timestamp time in ticks of the device's clock; 0 in a queue without time stamps
    record Success(
            long wrId,
            WcOpcode opcode,
            int qpn,
            long byteLength,
            OptionalInt immediate,
            OptionalInt invalidatedRkey,
            int sourceQpn,
            int sourceLid,
            int serviceLevel,
            int pathBits,
            boolean hasGrh,
            boolean hasIpv4Header,
            long timestamp)
            implements Completion {
        @Preview
        public Success {
            Objects.requireNonNull(opcode, "opcode");
            Objects.requireNonNull(immediate, "immediate");
            Objects.requireNonNull(invalidatedRkey, "invalidatedRkey");
        }
    }

    /// The result of a request that failed.
    ///
    /// @param wrId number that the request was posted with
    /// @param status kind of the failure
    /// @param qpn number of the queue pair that the request was posted on, 24 bits
    /// @param vendorError the provider's own number for the failure; 0 when there is none
    /// @param cause of the failure in words: the check that failed, or the peer's answer; empty when unknown
    record Failure(long wrId, WcStatus status, int qpn, int vendorError, String cause) implements Completion {
        @Preview
        public Failure {
            Objects.requireNonNull(status, "status");
            Objects.requireNonNull(cause, "cause");
        }

        /// Returns status, meaning and cause in one text, with the page that explains the status.
        public String explanation() {
            return status + " (" + status.label() + "). " + status.meaning()
                    + (cause.isEmpty() ? "" : " Here: " + cause + ".") + " More: " + status.page();
        }
    }
}
