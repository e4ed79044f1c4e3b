package verbena.nic;

import java.lang.foreign.MemorySegment;
import verbena.verbs.Gid;

/// A handler for the management datagrams of one class that arrive at queue pair 1 (IBTA 13): see
/// [SoftContext#manage]. The engine's owner calls its methods, one call at a time; they must neither wait nor throw.
/// A datagram is not protected: an attacker may have changed it, or made up its sender's address.
public interface ManagementAgent {
    /// Called when a datagram has arrived.
    ///
    /// @param mad all 256 bytes of it (see [verbena.wire.mad.Mad]), readable during this call only
    /// @param local the address that it arrived at
    /// @param remote the address that it claims to come from
    /// @param nowNanos the device's time
    void onMad(MemorySegment mad, Gid local, Gid remote, long nowNanos);

    /// Returns when [#onDeadline(long)] should be called, in the device's time; `Long.MAX_VALUE` for never. Called
    /// after each call and each datagram sent.
    default long deadlineNanos() {
        return Long.MAX_VALUE;
    }

    /// Called when that time may have come.
    default void onDeadline(long nowNanos) {}
}
