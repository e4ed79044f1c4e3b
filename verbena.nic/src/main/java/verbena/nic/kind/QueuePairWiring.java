package verbena.nic.kind;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.transport.Counters;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.QpType;
import verbena.wire.ib.Transport;

/// The objects that a new queue pair's driver is connected to.
///
/// @param engine the engine that it lives on
/// @param parameters changed by commands to the engine
/// @param receivesShared whether the receive queue is a shared one
/// @param signalAll whether each request has a completion
/// @param memory the memory table of that engine
/// @param xrc the XRC domain of a target; null for all other types
/// @param counters the queue pair's own counters
/// @param events the queue pair
/// @param owner called when the driver's own code fails
public record QueuePairWiring(
        QpType type,
        Engine engine,
        QueuePairParameters parameters,
        SendQueue sends,
        ReceiveQueue receives,
        boolean receivesShared,
        boolean signalAll,
        CompletionRing sendCompletions,
        CompletionRing receiveCompletions,
        MemoryTable memory,
        @Nullable XrcDomain xrc,
        Counters counters,
        QueuePairEvents events,
        EngineTask.Owner owner) {
    /// The XRC domain of a target.
    ///
    /// @param number the number by which the engine distinguishes domains
    /// @param queues the open shared receive queues of the device that have a number, including those of other
    ///     domains
    public record XrcDomain(int number, XrcQueue.Finder queues) {}

    /// The XRC domain of a target.
    public XrcDomain xrcDomain() {
        return Objects.requireNonNull(xrc, "an XRC target has a domain");
    }

    /// The transport service of its packets.
    public Transport transport() {
        return switch (type) {
            case RC -> Transport.RC;
            case UC -> Transport.UC;
            case UD -> Transport.UD;
            case XRC_INITIATOR, XRC_TARGET -> Transport.XRC;
        };
    }
}
