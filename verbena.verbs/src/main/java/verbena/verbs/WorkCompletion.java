package verbena.verbs;

import java.util.OptionalInt;
import verbena.verbs.access.CompletionFields;

/// A completion, which each poll fills anew so that polling allocates nothing (`struct ibv_wc`, ibv_poll_cq(3)). One
/// thread uses it at a time. Its values are valid until the next poll into it; [#snapshot()] keeps them.
///
/// After a failure only [#wrId()], [#status()], [#qpn()], [#vendorError()] and [#cause()] have a meaning.
///
/// @since 0.1
public final class WorkCompletion {
    static {
        CompletionFields.register(new Fields());
    }

    private long wrId;
    private WcStatus status = WcStatus.GENERAL_ERR;
    private WcOpcode opcode = WcOpcode.SEND;
    private int vendorError;
    private long byteLength;
    /// Immediate data as sent, or the key that was invalidated.
    private int immediateOrRkey;

    private int qpn;
    /// The sender of a datagram, as [verbena.verbs.spi.CompletionAccess#sender] makes it.
    private long sender;
    /// Flags of [verbena.verbs.spi.CompletionAccess].
    private int flags;

    private long timestamp;
    private String cause = "";

    /// Creates a completion that no poll has filled yet.
    public WorkCompletion() {}

    /// Returns the number that the request was posted with.
    public long wrId() {
        return wrId;
    }

    /// Returns the result of the request.
    public WcStatus status() {
        return status;
    }

    /// Returns whether the status is `SUCCESS`.
    public boolean ok() {
        return status == WcStatus.SUCCESS;
    }

    /// Returns the operation of the request.
    public WcOpcode opcode() {
        return opcode;
    }

    /// Returns the provider's own number for a failure; 0 when there is none.
    public int vendorError() {
        return vendorError;
    }

    /// Returns the bytes received or read.
    public long byteLength() {
        return byteLength;
    }

    /// Returns whether the message had immediate data.
    public boolean hasImmediate() {
        return (flags & CompletionFields.WITH_IMM) != 0;
    }

    /// Returns the immediate data: the number that the sender gave to its request (big-endian on the wire).
    public int immediate() {
        return immediateOrRkey;
    }

    /// Returns whether the message invalidated a key of this side.
    public boolean hasInvalidate() {
        return (flags & CompletionFields.WITH_INV) != 0;
    }

    /// Returns the key that the message invalidated.
    public int invalidatedRkey() {
        return immediateOrRkey;
    }

    /// Returns the number of the queue pair that the request was posted on; [Context#queuePair(int)] finds it.
    public int qpn() {
        return qpn;
    }

    /// Returns the number of the sender's queue pair (UD).
    public int sourceQpn() {
        return (int) sender & 0xFF_FFFF;
    }

    /// Returns the LID (UD over InfiniBand) of the sender's port; 0 on wires without LIDs. Without [#hasGrh()]
    /// it is all that is known of the sender's address (IBTA 11.4.2.1).
    public int sourceLid() {
        return (int) (sender >>> CompletionFields.LID_SHIFT) & 0xFFFF;
    }

    /// Returns the service level (UD over InfiniBand) that the datagram came with, 0 to 15.
    public int serviceLevel() {
        return (int) (sender >>> CompletionFields.LEVEL_SHIFT) & 0xF;
    }

    /// Returns the low bits of the own port's LID that the datagram came to (UD over InfiniBand): 0 for a port with
    /// one LID, and for a datagram to a group.
    public int pathBits() {
        return (int) (sender >>> CompletionFields.PATH_SHIFT) & 0x7F;
    }

    /// Returns whether the first 40 bytes of the receive hold a GRH or an IP header (UD).
    public boolean hasGrh() {
        return (flags & CompletionFields.GRH) != 0;
    }

    /// Returns whether the last 20 of those 40 bytes are an IPv4 header; otherwise the 40 bytes are a GRH or an
    /// IPv6 header (IBTA A17.4.5.1). Only Verbena's own devices report it.
    public boolean hasIpv4Header() {
        return (flags & CompletionFields.IPV4) != 0;
    }

    /// Returns the time at which the device completed the request, in ticks of its own clock. The clock starts
    /// anywhere and wraps around ([DeviceAttributes.Clock#timestampMask()],
    /// [DeviceAttributes.Clock#timestampKilohertz()]). It is 0 after a failure, and in a queue without
    /// [CompletionQueueOptions#withTimestamps()].
    @Preview
    public long timestamp() {
        return timestamp;
    }

    /// Returns the cause of the failure in words: the check that failed, or the peer's answer. Empty after a
    /// success.
    public String cause() {
        return cause;
    }

    /// Returns a copy that the program can keep. A success has all values; a failure has those that mean something.
    public Completion snapshot() {
        return ok()
                ? new Completion.Success(
                        wrId,
                        opcode,
                        qpn,
                        byteLength,
                        hasImmediate() ? OptionalInt.of(immediateOrRkey) : OptionalInt.empty(),
                        hasInvalidate() ? OptionalInt.of(immediateOrRkey) : OptionalInt.empty(),
                        sourceQpn(),
                        sourceLid(),
                        serviceLevel(),
                        pathBits(),
                        hasGrh(),
                        hasIpv4Header(),
                        timestamp)
                : new Completion.Failure(wrId, status, qpn, vendorError, cause);
    }

    @Override
    public String toString() {
        return snapshot().toString();
    }

    /// The access of providers, by [verbena.verbs.spi.CompletionAccess].
    private static final class Fields extends CompletionFields {
        @Override
        public void fill(
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
            into.wrId = wrId;
            into.status = status;
            into.opcode = opcode;
            into.vendorError = vendorError;
            into.byteLength = byteLength;
            into.immediateOrRkey = immediateOrRkey;
            into.qpn = qpn;
            into.sender = sender;
            into.flags = flags;
            into.timestamp = 0;
            into.cause = cause;
        }

        @Override
        public void stamp(WorkCompletion into, long ticks) {
            into.timestamp = ticks;
        }

        @Override
        public int flags(WorkCompletion of) {
            return of.flags;
        }
    }
}
