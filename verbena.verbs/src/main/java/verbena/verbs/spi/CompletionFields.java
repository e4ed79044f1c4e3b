package verbena.verbs.spi;

import verbena.verbs.Preview;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// The fields of a [WorkCompletion]. A program reads them there, and a provider sets them by [CompletionAccess]. One
/// thread uses it at a time.
///
/// @since 0.1
@Preview
public abstract sealed class CompletionFields permits WorkCompletion {
    protected long wrId;
    protected WcStatus status = WcStatus.GENERAL_ERR;
    protected WcOpcode opcode = WcOpcode.SEND;
    protected int vendorError;
    protected long byteLength;
    /// Immediate data as sent, or the key that was withdrawn.
    protected int immediateOrRkey;

    protected int qpn;
    /// The sender of a datagram, as [CompletionAccess#sender] makes it.
    protected long sender;
    /// Flags of [CompletionAccess].
    protected int flags;

    protected long timestamp;
    protected String cause = "";

    /// Creates fields that no poll has set yet.
    protected CompletionFields() {}
}
