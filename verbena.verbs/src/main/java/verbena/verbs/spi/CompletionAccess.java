package verbena.verbs.spi;

import verbena.verbs.Preview;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.access.CompletionFields;

/// The provider's access to a [WorkCompletion]. A program only reads one; the provider whose queue the program polls
/// fills it here. It has no state, and allocates nothing. The thread that polls calls it.
///
/// @since 0.1
@Preview
public final class CompletionAccess {
    /// Flag: the first 40 bytes of the receive hold a GRH or IP header.
    public static final int GRH = CompletionFields.GRH;
    /// Flag: there is immediate data.
    public static final int WITH_IMM = CompletionFields.WITH_IMM;
    /// Flag: the message invalidated a key.
    public static final int WITH_INV = CompletionFields.WITH_INV;
    /// Flag, beside [#GRH]: the last 20 of those 40 bytes are an IPv4 header. Without it, the 40 bytes are an
    /// IPv6 header (IBTA A17.4.5.1). Only Verbena's own devices set it.
    public static final int IPV4 = CompletionFields.IPV4;

    private static final CompletionFields FIELDS = CompletionFields.access();

    private CompletionAccess() {}

    /// Fills a completion, and removes its time stamp ([#stamp] sets one).
    ///
    /// @param into the completion that the program polls into
    /// @param wrId number that the request was posted with
    /// @param status result of the request
    /// @param opcode operation of the request; it has no meaning after a failure
    /// @param vendorError the provider's own number for a failure; 0 when there is none
    /// @param byteLength bytes received or read; 0 for other requests
    /// @param immediateOrRkey immediate data with [#WITH_IMM], the invalidated key with [#WITH_INV], otherwise 0
    /// @param qpn number of the queue pair that the request was posted on
    /// @param sender of a datagram: the number of its queue pair, or the result of [#sender]; 0 for a connection
    /// @param flags any of [#GRH], [#WITH_IMM], [#WITH_INV] and [#IPV4]
    /// @param cause why the request failed, in words; empty after a success
    public static void fill(
            WorkCompletion into,
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int vendorError,
            long byteLength,
            int immediateOrRkey,
            int qpn,
            long sender,
            int flags,
            String cause) {
        FIELDS.fill(into, wrId, status, opcode, vendorError, byteLength, immediateOrRkey, qpn, sender, flags, cause);
    }

    /// Sets the time stamp of a completion that [#fill] has filled.
    ///
    /// @param ticks of the device's clock
    public static void stamp(WorkCompletion into, long ticks) {
        FIELDS.stamp(into, ticks);
    }

    /// Returns the flags that [#fill] has set.
    public static int flags(WorkCompletion of) {
        return FIELDS.flags(of);
    }

    /// Returns the sender of a datagram over InfiniBand in one number for [#fill]. On wires without LIDs it is
    /// the number of the queue pair alone.
    ///
    /// @param qpn number of the sender's queue pair
    /// @param lid the sender's, 16 bits; not 0
    /// @param serviceLevel 0 to 15
    /// @param pathBits of the own LID that it came to, 0 to 127
    public static long sender(int qpn, int lid, int serviceLevel, int pathBits) {
        return qpn
                | (long) lid << CompletionFields.LID_SHIFT
                | (long) serviceLevel << CompletionFields.LEVEL_SHIFT
                | (long) pathBits << CompletionFields.PATH_SHIFT;
    }
}
