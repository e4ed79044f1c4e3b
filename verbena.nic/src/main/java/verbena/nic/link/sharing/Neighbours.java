package verbena.nic.link.sharing;

import java.lang.foreign.MemorySegment;

/// The messages and pages that links of one host share beside frames. A link knows each neighbour by its slot.
///
/// For the owner of the engine, except where a method allows any thread. What comes from a neighbour may be
/// anything: its process may be hostile.
public interface Neighbours {
    /// The number of bytes of a page: memory that one of two neighbours writes and the other reads. Each has one
    /// for the other.
    int PAGE_BYTES = 64 << 10;

    /// The longest message in bytes.
    int MESSAGE_MAX = 128;

    /// A listener for the messages of neighbours.
    interface Listener {
        /// Called when a neighbour has sent a message.
        ///
        /// @param message valid during the call
        /// @param descriptor which the listener has to close; -1 for none
        void onTold(int slot, MemorySegment message, int descriptor);

        /// Called when the process of a neighbour has begun to die: it answers nothing any more. Its threads
        /// may still be in the middle of an access. [#onGone] follows; it may also come without this.
        void onDying(int slot);

        /// Called when a neighbour has gone, by any end of its process. Its pages are unmapped after this call.
        void onGone(int slot);
    }

    /// Sets the listener, before the link is used.
    void listener(Listener listener);

    /// Sends a message, and a copy of a descriptor.
    ///
    /// @param descriptor -1 for none
    /// @return false when there is no such neighbour, or no room now
    boolean tell(int slot, MemorySegment message, int descriptor);

    /// Returns the page that this side writes, zeros at first; [MemorySegment#NULL] when there is no such
    /// neighbour, or it cannot be had.
    MemorySegment ownPage(int slot);

    /// Returns the page that the neighbour writes; [MemorySegment#NULL] when there is none yet.
    MemorySegment theirPage(int slot);

    /// Returns the number of the neighbour's process, which the kernel reports for the socket; 0 when it is not
    /// known, because it is in another PID namespace for instance. A later process may have the same number.
    int process(int slot);

    /// Returns whether the neighbour's process still lives: asks the kernel. Any thread, while the engine's owner
    /// does not go on.
    boolean isThere(int slot);
}
