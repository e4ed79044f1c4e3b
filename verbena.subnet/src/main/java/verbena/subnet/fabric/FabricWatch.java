package verbena.subnet.fabric;

import java.lang.foreign.MemorySegment;

/// A watcher of the packets of a [Fabric] on their cables. For the thread of the fabric; it should be quick.
@FunctionalInterface
public interface FabricWatch {
    /// Shows a packet on a cable, which was sent and has not arrived.
    ///
    /// @param port of the sender, from 1
    /// @param memory where the packet is, from `at` on, LRH through VCRC; valid during the call, and not to be
    ///     changed
    /// @param bytes that the packet has
    void onPacket(FabricNode sender, int port, MemorySegment memory, long at, int bytes);
}
