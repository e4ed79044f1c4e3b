package verbena.nic;

import java.lang.foreign.MemorySegment;
import verbena.verbs.Gid;

/// The way of a [ManagementAgent] to the network. Closing it detaches the agent. Safe for use by any thread.
public interface ManagementPort extends AutoCloseable {
    /// Sends a datagram to queue pair 1 of `remote`, without confirmation. When too many datagrams wait to
    /// leave, it is dropped and counted (`management.overflows`).
    ///
    /// @param mad 256 bytes, of any class; copied
    /// @param local an own address of the device
    /// @throws IllegalArgumentException when `mad` has another size
    void send(MemorySegment mad, Gid local, Gid remote);

    /// Detaches the agent; idempotent.
    @Override
    void close();
}
