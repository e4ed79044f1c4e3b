package verbena.verbs.access;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// The way to the private fields of a [WorkCompletion] from another package: that of
/// [verbena.verbs.spi.CompletionAccess]. [WorkCompletion] brings the only implementation when it is initialized. It
/// has no state, and allocates nothing.
public abstract class CompletionFields {
    /// Flag: the first 40 bytes of the receive hold a GRH or IP header.
    public static final int GRH = 1;
    /// Flag: there is immediate data.
    public static final int WITH_IMM = 1 << 1;
    /// Flag: the message invalidated a key.
    public static final int WITH_INV = 1 << 3;
    /// Flag: the header is one of IPv4.
    public static final int IPV4 = 1 << 16;

    /// Place of the LID in the sender of a datagram, behind the 24 bits of the queue pair.
    public static final int LID_SHIFT = 24;
    /// Place of the service level, 4 bits, in the sender of a datagram.
    public static final int LEVEL_SHIFT = 40;
    /// Place of the path bits, 7 bits, in the sender of a datagram.
    public static final int PATH_SHIFT = 44;

    /// The implementation. Written once, by the initializer of [WorkCompletion], before any other thread can use that
    /// class.
    private static @Nullable CompletionFields access;

    /// Sets the implementation.
    public static void register(CompletionFields implementation) {
        access = implementation;
    }

    /// Returns the implementation.
    public static CompletionFields access() {
        var _ = new WorkCompletion(); // initializes its class
        return Objects.requireNonNull(access);
    }

    /// Sets all fields but the time stamp, as [verbena.verbs.spi.CompletionAccess#fill] describes them, and removes
    /// the time stamp.
    public abstract void fill(
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
            String cause);

    /// Sets the time stamp.
    public abstract void stamp(WorkCompletion into, long ticks);

    /// Returns the flags.
    public abstract int flags(WorkCompletion of);
}
