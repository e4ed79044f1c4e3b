package verbena.verbs;

import java.util.OptionalInt;

/// A completion, which each poll fills anew so that polling allocates nothing (`struct ibv_wc`, ibv_poll_cq(3)). One
/// thread uses it at a time. Its values are valid until the next poll into it; [#snapshot()] keeps them.
///
/// After a failure only [#wrId()], [#status()], [#qpn()], [#vendorError()] and [#cause()] have a meaning.
///
/// @since 0.1
public final class WorkCompletion {
    /// Flag: the first 40 bytes of the receive hold a GRH or IP header.
    public static final int GRH = 1;
    /// Flag: there is immediate data.
    public static final int WITH_IMM = 1 << 1;
    /// Flag: the message invalidated a key.
    public static final int WITH_INV = 1 << 3;
    /// Flag, beside [#GRH]: the last 20 of those 40 bytes are an IPv4 header. Without it, the 40 bytes are an IPv6
    /// header (IBTA A17.4.5.1). Only Verbena's own devices set it.
    public static final int IPV4 = 1 << 16;

    private static final int LID_SHIFT = 24;
    private static final int LEVEL_SHIFT = 40;
    private static final int PATH_SHIFT = 44;

    private long wrId;
    private WcStatus status = WcStatus.GENERAL_ERR;
    private WcOpcode opcode = WcOpcode.SEND;
    private int vendorError;
    private long byteLength;
    private int immediateOrRkey;
    private int qpn;
    private long sender;
    private int flags;
    private long timestamp;
    private String cause = "";

    /// Creates a completion that no poll has filled yet.
    public WorkCompletion() {}

    /// Sets everything and removes the time stamp; for providers.
    ///
    /// @param immediateOrRkey immediate data as sent, or the key that was withdrawn; the flags tell
    /// @param sender of a datagram: the number of its queue pair, or all that [#sender(int, int, int, int)] tells
    /// @param flags [#GRH], [#WITH_IMM], [#WITH_INV], [#IPV4]
    /// @param cause why it failed, in words; empty otherwise
    @Preview
    public void fill(
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
        this.wrId = wrId;
        this.status = status;
        this.opcode = opcode;
        this.vendorError = vendorError;
        this.byteLength = byteLength;
        this.immediateOrRkey = immediateOrRkey;
        this.qpn = qpn;
        this.sender = sender;
        this.flags = flags;
        this.timestamp = 0;
        this.cause = cause;
    }

    /// Returns the sender of a datagram over InfiniBand in one number for [#fill]; for providers. On wires without
    /// LIDs it is the number of the queue pair alone.
    ///
    /// @param qpn number of the sender's queue pair
    /// @param lid the sender's, 16 bits; not 0
    /// @param serviceLevel 0 to 15
    /// @param pathBits of the own LID that it came to, 0 to 127
    @Preview
    public static long sender(int qpn, int lid, int serviceLevel, int pathBits) {
        return qpn | (long) lid << LID_SHIFT | (long) serviceLevel << LEVEL_SHIFT | (long) pathBits << PATH_SHIFT;
    }

    /// Sets the time stamp, after [#fill]; for providers.
    ///
    /// @param ticks of the device's clock
    @Preview
    public void stamp(long ticks) {
        timestamp = ticks;
    }

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
        return (flags & WITH_IMM) != 0;
    }

    /// Returns the immediate data: the number that the sender gave to its request (big-endian on the wire).
    public int immediate() {
        return immediateOrRkey;
    }

    /// Returns whether the message invalidated a key of this side.
    public boolean hasInvalidate() {
        return (flags & WITH_INV) != 0;
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

    /// Returns the LID (UD over InfiniBand) of the sender's port; 0 on wires without LIDs. Without [#GRH] it is all
    /// that is known of the sender's address (IBTA 11.4.2.1).
    public int sourceLid() {
        return (int) (sender >>> LID_SHIFT) & 0xFFFF;
    }

    /// Returns the service level (UD over InfiniBand) that the datagram came with, 0 to 15.
    public int serviceLevel() {
        return (int) (sender >>> LEVEL_SHIFT) & 0xF;
    }

    /// Returns the low bits of the own port's LID that the datagram came to (UD over InfiniBand): 0 for a port with
    /// one LID, and for a datagram to a group.
    public int pathBits() {
        return (int) (sender >>> PATH_SHIFT) & 0x7F;
    }

    /// Returns the flags: [#GRH], [#WITH_IMM], [#WITH_INV], [#IPV4].
    public int flags() {
        return flags;
    }

    /// Returns the time at which the device completed the request, in ticks of its own clock. The clock starts
    /// anywhere and wraps around ([DeviceAttributes#timestampMask()], [DeviceAttributes#timestampKilohertz()]). It
    /// is 0 after a failure, and in a queue without [CompletionQueueOptions#withTimestamps()].
    public long timestamp() {
        return timestamp;
    }

    /// Returns the cause of the failure in words: the check that failed, or the peer's answer. Empty after a
    /// success.
    public String cause() {
        return cause;
    }

    /// Returns a copy that can be kept.
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
                        (flags & GRH) != 0)
                : new Completion.Failure(wrId, status, qpn, vendorError, cause);
    }

    @Override
    public String toString() {
        return snapshot().toString();
    }
}
