package verbena.transport.near;

import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.SendRequest;

/// Carries out one-sided requests of a reliable connection on the peer's memory, without a packet. A device whose
/// peers are on the same host may have one. It only ever succeeds or declines: whatever it declines goes by packets,
/// so every refusal is made by the responder, as the standard has it. Engine-confined.
public interface PeerMemory {
    /// The progress of a request.
    enum Progress {
        /// All of the request is done: written data is visible to the peer, read data is in this side's memory.
        DONE,
        /// All of the request is done, by the operating system.
        DONE_BY_SYSTEM,
        /// A part of it is done. The same request comes again, unless the queue pair leaves RTS meanwhile.
        MORE,
        /// The request has to go by packets, from its beginning, whatever was done before. A later call with
        /// the same position begins at the beginning too.
        BY_PACKETS
    }

    /// Carries out a request, or as much of it as one piece of work should hold. It is a WRITE, a READ or an atomic
    /// of at least one byte. All requests before it are done, at the peer too, and none after it has begun.
    ///
    /// Nothing is kept locked or busy from one call to the next. Neither the peer nor the application can make this
    /// throw.
    ///
    /// @param position of the request in its queue, by which the rest of it is known
    /// @param request its local memory has passed [MemoryTable#checkLocal]
    /// @param parameters of the queue pair
    /// @param memory where the local memory is
    Progress execute(long position, SendRequest request, QueuePairParameters parameters, MemoryTable memory);

    /// Returns whether a request, as for [#execute], would probably be carried out here if those before it were
    /// done. Asks the peer for what is missing.
    boolean isReady(SendRequest request);

    /// Handles a change of the queue pair or its state. When it has gone to ERR by itself, this comes before the
    /// completion with the cause.
    void onModified();
}
