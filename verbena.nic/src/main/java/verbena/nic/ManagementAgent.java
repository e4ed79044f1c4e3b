package verbena.nic;

import java.lang.foreign.MemorySegment;
import verbena.verbs.Gid;

/// Who takes the management datagrams of one class that come to queue pair 1 (IBTA 13): see [SoftContext#manage].
/// All is called by the engine's owner, one call at a time, and may neither wait nor throw; a datagram may be
/// changed by whoever wants to, and its sender's address be made up.
public interface ManagementAgent {
    /// A datagram has arrived.
    ///
    /// @param mad all 256 bytes of it (see [verbena.wire.cm.Mad]), readable during this call only
    /// @param local where it came to
    /// @param remote where it says that it comes from
    /// @param nowNanos the device's time
    void onMad(MemorySegment mad, Gid local, Gid remote, long nowNanos);

    /// When [#onDeadline(long)] is to be called, in the device's time; `Long.MAX_VALUE` for never. Asked after each
    /// call and each datagram sent.
    default long deadlineNanos() {
        return Long.MAX_VALUE;
    }

    /// That time has come, perhaps.
    default void onDeadline(long nowNanos) {}
}
