package verbena.nic.roce;

import verbena.nic.engine.EngineTask;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.queue.Path;
import verbena.verbs.Gid;
import verbena.verbs.QpState;

/// A queue pair whose messages travel in frames.
final class FrameDriver implements QueuePairDriver {
    private final QueuePairProtocol protocol;
    private final QueuePairParameters parameters;
    private final EngineTask task;

    FrameDriver(QueuePairProtocol protocol, QueuePairWiring wiring) {
        this.protocol = protocol;
        this.parameters = wiring.parts().parameters();
        this.task = new EngineTask(protocol, wiring.transport(), wiring.parts().counters(), wiring.owner());
    }

    /// Sets the UDP port that the peer sends from, until it is reset; 0 for any.
    void peerSourcePort(int port) {
        parameters.peerSourcePort = port;
    }

    /// Sets whether the peer knows selective repeat of answers to READs, and of requests; a reset clears both.
    void selectiveRepeat(boolean answers, boolean requests) {
        parameters.repeatsAnswers = answers;
        parameters.repeatsRequests = requests;
    }

    @Override
    public EngineTask task() {
        return task;
    }

    @Override
    public String peer() {
        Path to = parameters.path;
        return to == Path.NONE ? "" : new Gid(to.destinationHigh(), to.destinationLow()).toString();
    }

    /// Returns false: a packet that finds no receive is answered and forgotten.
    @Override
    public boolean isStalled() {
        return false;
    }

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
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
    public void peerGone(String cause) {
        protocol.peerGone(cause);
    }

    @Override
    public String rootCause() {
        return protocol.rootCause();
    }
}
