package verbena.nic.kind;

import verbena.nic.engine.EngineTask;
import verbena.transport.QueuePairLife;

/// What carries out a queue pair's requests: frames, or a stream. For the engine's owner, but for what says otherwise.
public interface QueuePairDriver extends QueuePairLife {
    /// The queue pair as the engine knows it. Any thread.
    EngineTask station();

    /// The address of the peer that it is connected to; empty when there is none. Any thread.
    String peer();

    /// Whether an arrival waits for a receive, so that a thread that has posted one has to ring. Any thread.
    boolean isStalled();
}
