package verbena.transport;

import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;

/// The objects that a queue pair's protocol works on.
///
/// @param parameters changed while the protocol is at rest
/// @param receivesShared whether `receives` is a shared receive queue
/// @param signalAll whether every send request completes visibly
/// @param memory the memory table of the protocol's engine
/// @param counters the queue pair's own
/// @param events the queue pair
public record ProtocolParts(
        QueuePairParameters parameters,
        SendQueue sends,
        ReceiveQueue receives,
        boolean receivesShared,
        boolean signalAll,
        CompletionRing sendCompletions,
        CompletionRing receiveCompletions,
        MemoryTable memory,
        EngineCounters counters,
        QueuePairEvents events) {}
