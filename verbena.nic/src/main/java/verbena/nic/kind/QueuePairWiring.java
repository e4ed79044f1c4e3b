package verbena.nic.kind;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.transport.ProtocolParts;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.QpType;
import verbena.wire.ib.Transport;

/// The objects that a new queue pair's driver is connected to.
///
/// @param engine the engine that it lives on
/// @param parts what its protocol works on; commands to the engine change the parameters
/// @param xrc the XRC domain of a target; null for all other types
/// @param owner called when the driver's own code fails
public record QueuePairWiring(
        QpType type,
        Engine engine,
        ProtocolParts parts,
        @Nullable XrcDomain xrc,
        EngineTask.Owner owner) {
    /// The XRC domain of a target.
    ///
    /// @param number the number by which the engine distinguishes domains
    /// @param queues the open shared receive queues of the device that have a number, including those of other
    ///     domains
    public record XrcDomain(int number, XrcQueue.Finder queues) {}

    /// Returns the same with other parts.
    public QueuePairWiring with(ProtocolParts others) {
        return new QueuePairWiring(type, engine, others, xrc, owner);
    }

    /// Returns the XRC domain of a target.
    public XrcDomain xrcDomain() {
        return Objects.requireNonNull(xrc, "an XRC target has a domain");
    }

    /// Returns the transport service of its packets.
    public Transport transport() {
        return switch (type) {
            case RC -> Transport.RC;
            case UC -> Transport.UC;
            case UD -> Transport.UD;
            case XRC_INITIATOR, XRC_TARGET -> Transport.XRC;
            case RAW_PACKET -> throw new IllegalStateException("raw packets have no transport");
        };
    }
}
