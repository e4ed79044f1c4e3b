package verbena.transport.rc;

import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.verbs.QpState;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;

/// A reliable connection (IBTA 9.7): a [Requester] and a [Responder] that share nothing but the parameters. Each
/// arriving packet goes to exactly one of them. Engine-confined.
public final class ReliableConnection implements Protocol {
    /// @param shared whether `receives` is a shared receive queue
    /// @param signalAll whether every send request completes visibly
    public ReliableConnection(
            QueuePairParameters parameters,
            SendQueue sends,
            ReceiveQueue receives,
            boolean shared,
            boolean signalAll,
            CompletionRing sendCompletions,
            CompletionRing receiveCompletions,
            MemoryTable memory,
            Counters counters,
            QueuePairEvents events) {}

    /// The owner has changed [QueuePairParameters#state] and whatever goes with it; called also for changes within a
    /// state.
    public void onModified(QpState from, QpState to, long nowNanos) {}

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        return PacketFate.DROPPED_STATE;
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        return false;
    }

    @Override
    public long deadlineNanos() {
        return NEVER;
    }

    @Override
    public void onDeadline(long nowNanos) {}
}
