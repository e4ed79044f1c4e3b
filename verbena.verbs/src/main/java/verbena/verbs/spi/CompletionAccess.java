package verbena.verbs.spi;

import verbena.verbs.Preview;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// The provider's access to a [WorkCompletion], which it sets at each poll. It has no state, and allocates nothing.
///
/// @since 0.1
@Preview
public final class CompletionAccess {
    /// Flag: the first 40 bytes of the receive hold a GRH or IP header.
    public static final int GRH = 1;
    /// Flag: there is immediate data.
    public static final int WITH_IMM = 1 << 1;
    /// Flag: the message invalidated a key.
    public static final int WITH_INV = 1 << 3;
    /// Flag, beside [#GRH]: the last 20 of those 40 bytes are an IPv4 header. Without it, the 40 bytes are an
    /// IPv6 header (IBTA A17.4.5.1). Only Verbena's own devices set it.
    public static final int IPV4 = 1 << 16;

    private static final int LID_SHIFT = 24;
    private static final int LEVEL_SHIFT = 40;
    private static final int PATH_SHIFT = 44;

    private CompletionAccess() {}

    /// Sets everything, and removes the time stamp.
    ///
    /// @param immediateOrRkey immediate data as sent, or the key that was withdrawn; the flags tell
    /// @param sender of a datagram: the number of its queue pair, or all that [#sender] tells
    /// @param flags [#GRH], [#WITH_IMM], [#WITH_INV], [#IPV4]
    /// @param cause why it failed, in words; empty otherwise
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
        CompletionFields fields = into;
        fields.wrId = wrId;
        fields.status = status;
        fields.opcode = opcode;
        fields.vendorError = vendorError;
        fields.byteLength = byteLength;
        fields.immediateOrRkey = immediateOrRkey;
        fields.qpn = qpn;
        fields.sender = sender;
        fields.flags = flags;
        fields.timestamp = 0;
        fields.cause = cause;
    }

    /// Sets the time stamp, after [#fill].
    ///
    /// @param ticks of the device's clock
    public static void stamp(WorkCompletion into, long ticks) {
        CompletionFields fields = into;
        fields.timestamp = ticks;
    }

    /// Returns the flags that [#fill] has set.
    public static int flags(WorkCompletion of) {
        CompletionFields fields = of;
        return fields.flags;
    }

    /// Returns the sender of a datagram over InfiniBand in one number for [#fill]. On wires without LIDs it is
    /// the number of the queue pair alone.
    ///
    /// @param qpn number of the sender's queue pair
    /// @param lid the sender's, 16 bits; not 0
    /// @param serviceLevel 0 to 15
    /// @param pathBits of the own LID that it came to, 0 to 127
    public static long sender(int qpn, int lid, int serviceLevel, int pathBits) {
        return qpn | (long) lid << LID_SHIFT | (long) serviceLevel << LEVEL_SHIFT | (long) pathBits << PATH_SHIFT;
    }
}
