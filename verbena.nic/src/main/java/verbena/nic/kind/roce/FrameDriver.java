package verbena.nic.kind.roce;

import verbena.nic.engine.EngineTask;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.transport.Path;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.verbs.Gid;
import verbena.verbs.QpState;

/// A queue pair whose messages travel in frames.
final class FrameDriver implements QueuePairDriver {
    private final QueuePairProtocol protocol;
    private final QueuePairParameters parameters;
    private final EngineTask station;

    FrameDriver(QueuePairProtocol protocol, QueuePairWiring wiring) {
        this.protocol = protocol;
        this.parameters = wiring.parameters();
        this.station = new EngineTask(protocol, wiring.transport(), wiring.counters(), wiring.owner());
    }

    /// What its packets carry in place of the ICRC until it is reset; 0 for the ICRC.
    void stamp(int value) {
        station.stamp(value);
    }

    /// Where the peer sends from until this is reset; 0 for any UDP port.
    void peerSourcePort(int port) {
        parameters.peerSourcePort = port;
    }

    @Override
    public EngineTask station() {
        return station;
    }

    @Override
    public String peer() {
        Path to = parameters.path;
        return to == Path.NONE ? "" : new Gid(to.destinationHigh(), to.destinationLow()).toString();
    }

    /// A packet that finds no receive is answered and forgotten.
    @Override
    public boolean isStalled() {
        return false;
    }

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        if (to == QpState.RESET) {
            station.stamp(0);
        }
        protocol.onModified(from, to, nowNanos);
    }

    @Override
    public boolean isDraining() {
        return protocol.isDraining();
    }

    @Override
    public void breakDown(String cause) {
        protocol.breakDown(cause);
    }

    @Override
    public String rootCause() {
        return protocol.rootCause();
    }
}
