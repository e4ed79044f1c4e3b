package verbena.nic.device;

import verbena.nic.kind.LocalQueuePair;
import verbena.nic.observe.ObservedQueuePair;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;

/// A queue pair as its parts, and the other objects of its device, see it. For the owner of its engine, except where
/// a method says so.
interface DeviceQueuePair extends LocalQueuePair, ObservedQueuePair {
    /// Throws when it is closed. Any thread.
    void checkOpen(String verb);

    /// Throws when no send can be posted now. Any thread.
    void checkSendable(String verb);

    /// Implements [verbena.nic.engine.Engine#ring]. Any thread.
    void ring(int requests, long bytes, boolean needNoPackets);

    /// Notes that a poster has closed its batch. Any thread.
    void onBatchClosed();

    /// Resets the queue pair to a new one with another first PSN.
    void forget();

    /// Notes that a program has changed the state.
    void onModified(QpState from, QpState to);

    /// Notes that the protocol has changed the state by itself.
    void onState(QpState to);

    /// Notes that the connection has migrated to its alternate path.
    void onMigrated();

    void raise(AsyncEvent.Type type);

    /// Ensures that the queue pair is polled for packets.
    void makeReady();

    /// Moves to ERR for a reason that no completion can report.
    void breakDown(String cause);
}
