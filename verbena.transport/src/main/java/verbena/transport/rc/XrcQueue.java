package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;

/// A shared receive queue that peers name in their requests (IBTA A14).
///
/// @param number by which they name it, 24 bits
/// @param xrcDomain only targets of the same domain reach it
/// @param protectionDomain the domain of its receives, and of all memory that a request for it touches
/// @param completions where its receives complete
public record XrcQueue(
        int number, int xrcDomain, int protectionDomain, ReceiveQueue receives, CompletionRing completions) {
    /// Finds the queues of a device.
    public interface Finder {
        /// Returns the open queue of this number; null when there is none.
        @Nullable
        XrcQueue find(int number);
    }
}
