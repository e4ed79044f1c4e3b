package verbena.nic.kind;

import verbena.nic.engine.EngineTask;
import verbena.transport.QueuePairLife;

/// Carries out a queue pair's requests, by frames or by a stream. For the engine's owner, except where a method
/// allows any thread.
public interface QueuePairDriver extends QueuePairLife {
    /// The queue pair as the engine knows it. Any thread.
    EngineTask task();

    /// The address of the peer that it is connected to; empty when there is none. Any thread.
    String peer();

    /// Whether an arrival waits for a receive, so that a thread that posts one has to ring the doorbell. Any
    /// thread.
    boolean isStalled();
}
