package verbena.verbs;

import java.util.OptionalInt;

/// A completion, filled anew by each poll so that polling allocates nothing (`struct ibv_wc`, ibv_poll_cq(3)).
/// Belongs to the thread that polls. After a failure only [#wrId()], [#status()], [#qpn()], [#vendorError()] and
/// [#cause()] mean anything.
public final class WorkCompletion {
    /// Flag: the first 40 bytes of the receive hold a GRH or IP header.
    public static final int GRH = 1;
    /// Flag: there is immediate data.
    public static final int WITH_IMM = 1 << 1;
    /// Flag: the message withdrew a key.
    public static final int WITH_INV = 1 << 3;
    /// Flag, beside [#GRH]: the last 20 of those 40 bytes are a header of IPv4; without it they are one of
    /// IPv6 (IBTA A17.4.5.1). Only of devices of ours.
    public static final int IPV4 = 1 << 16;

    private long wrId;
    private WcStatus status = WcStatus.GENERAL_ERR;
    private WcOpcode opcode = WcOpcode.SEND;
    private int vendorError;
    private long byteLength;
    private int immediateOrRkey;
    private int qpn;
    private int sourceQpn;
    private int flags;
    private long timestamp;
    private String cause = "";

    /// Creates a completion that no poll has filled yet.
    public WorkCompletion() {}

    /// For providers: sets everything, and takes the time stamp away.
    ///
    /// @param immediateOrRkey immediate data as sent, or the key that was withdrawn; the flags tell
    /// @param flags [#GRH], [#WITH_IMM], [#WITH_INV], [#IPV4]
    /// @param cause why it failed, in words; empty otherwise
    public void fill(
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int vendorError,
            long byteLength,
            int immediateOrRkey,
            int qpn,
            int sourceQpn,
            int flags,
            String cause) {
        this.wrId = wrId;
        this.status = status;
        this.opcode = opcode;
        this.vendorError = vendorError;
        this.byteLength = byteLength;
        this.immediateOrRkey = immediateOrRkey;
        this.qpn = qpn;
        this.sourceQpn = sourceQpn;
        this.flags = flags;
        this.timestamp = 0;
        this.cause = cause;
    }

    /// For providers, after [#fill]: when it was.
    ///
    /// @param ticks of the device's clock
    public void stamp(long ticks) {
        timestamp = ticks;
    }

    /// The number that the request was posted with.
    public long wrId() {
        return wrId;
    }

    public WcStatus status() {
        return status;
    }

    /// Whether the status is `SUCCESS`.
    public boolean ok() {
        return status == WcStatus.SUCCESS;
    }

    public WcOpcode opcode() {
        return opcode;
    }

    /// A number of the provider's own that tells more about a failure; 0 when there is none.
    public int vendorError() {
        return vendorError;
    }

    /// Bytes received or read.
    public long byteLength() {
        return byteLength;
    }

    /// Whether the message had immediate data.
    public boolean hasImmediate() {
        return (flags & WITH_IMM) != 0;
    }

    /// Immediate data: the number that the sender gave to its request (big-endian on the wire).
    public int immediate() {
        return immediateOrRkey;
    }

    /// Whether the message withdrew a key of ours.
    public boolean hasInvalidate() {
        return (flags & WITH_INV) != 0;
    }

    /// The key that the message withdrew.
    public int invalidatedRkey() {
        return immediateOrRkey;
    }

    /// Number of the queue pair that the request was posted on.
    public int qpn() {
        return qpn;
    }

    /// UD: number of the sender's queue pair.
    public int sourceQpn() {
        return sourceQpn;
    }

    /// The flags: [#GRH], [#WITH_IMM], [#WITH_INV], [#IPV4].
    public int flags() {
        return flags;
    }

    /// When the device completed it, in ticks of its own clock, which starts anywhere and goes round
    /// ([DeviceAttributes#timestampMask()], [DeviceAttributes#timestampKilohertz()]). Only of a queue that was
    /// made by [Context#createTimestampedCompletionQueue]; 0 of any other, and after a failure.
    public long timestamp() {
        return timestamp;
    }

    /// Why it failed, in words: which check failed, what the peer said. Empty when all went well.
    public String cause() {
        return cause;
    }

    /// A copy that can be kept.
    public Completion snapshot() {
        return ok()
                ? new Completion.Success(
                        wrId,
                        opcode,
                        qpn,
                        byteLength,
                        hasImmediate() ? OptionalInt.of(immediateOrRkey) : OptionalInt.empty(),
                        hasInvalidate() ? OptionalInt.of(immediateOrRkey) : OptionalInt.empty(),
                        sourceQpn,
                        (flags & GRH) != 0)
                : new Completion.Failure(wrId, status, qpn, vendorError, cause);
    }

    @Override
    public String toString() {
        return snapshot().toString();
    }
}
