package verbena.nic.kind;

import verbena.nic.engine.EngineTask;
import verbena.transport.QueuePairLife;

/// The executor of a queue pair's requests, by frames or by a stream. For the engine's owner, except where a method
/// allows any thread.
public interface QueuePairDriver extends QueuePairLife {
    /// Returns the queue pair as the engine knows it. Any thread.
    EngineTask task();

    /// Returns the address of the peer that it is connected to; empty when there is none. Any thread.
    String peer();

    /// Returns whether an arrival waits for a receive, so that a thread that posts one has to ring the doorbell.
    /// Any thread.
    boolean isStalled();
}
