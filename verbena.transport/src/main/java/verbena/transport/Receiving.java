package verbena.transport;

import verbena.transport.memory.ScatterList;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.CompletionAccess;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Opcode;

/// The receive that a message goes into, from the moment it leaves its queue until it completes. Engine-confined.
public final class Receiving {
    private final QueuePairCore core;
    private ReceiveQueue queue;
    private final boolean isShared;
    private CompletionRing completions;
    private final ReceiveRequest receive;
    private boolean isOpen;

    public Receiving(QueuePairCore core, ProtocolParts parts) {
        this.core = core;
        this.queue = parts.receives();
        this.isShared = parts.receivesShared();
        this.completions = parts.receiveCompletions();
        this.receive = new ReceiveRequest(queue.maxSge());
    }

    /// Takes receives from another queue from now on, shared as the one before, and completes them elsewhere.
    public void aim(ReceiveQueue from, CompletionRing to) {
        assert !isOpen : "a message stays with the receive that it has";
        queue = from;
        completions = to;
    }

    /// Returns whether the queue is a shared one.
    public boolean isShared() {
        return isShared;
    }

    /// Takes the oldest receive, or keeps the one that it has; false when none is posted.
    public boolean open() {
        isOpen = isOpen || queue.take(receive);
        return isOpen;
    }

    /// Returns whether a receive is open.
    public boolean isOpen() {
        return isOpen;
    }

    /// Returns the memory that the message goes into.
    public ScatterList scatter() {
        return receive.scatter;
    }

    /// Completes the receive: the message is complete, and `frame` is its last packet.
    public void complete(Frame frame, Opcode opcode, WcOpcode as, long bytes) {
        complete(frame, opcode, as, bytes, 0, 0);
    }

    /// Completes the receive of a datagram.
    ///
    /// @param sender as in [verbena.verbs.spi.CompletionAccess#fill]
    /// @param flags of [verbena.verbs.spi.CompletionAccess], besides those for immediate data and invalidation
    public void complete(Frame frame, Opcode opcode, WcOpcode as, long bytes, long sender, int flags) {
        assert isOpen : "a message has a receive";
        isOpen = false;
        int value = 0;
        int allFlags = flags;
        if (opcode.hasImmediate()) {
            value = ImmDt.immediate(frame.slot, frame.start + opcode.immediateOffset());
            allFlags |= CompletionAccess.WITH_IMM;
        } else if (opcode.hasInvalidate()) {
            value = Ieth.rkey(frame.slot, frame.start + opcode.iethOffset());
            allFlags |= CompletionAccess.WITH_INV;
        }
        core.memory.completing(true);
        core.succeed(
                completions, receive.wrId, as, bytes, value, sender, allFlags, Bth.solicited(frame.slot, frame.start));
    }

    /// Completes the receive of a message that came without packets.
    ///
    /// @param value immediate data or the key that was invalidated, according to `flags`
    public void complete(WcOpcode as, long bytes, int value, int flags, boolean solicited) {
        isOpen = false;
        core.memory.completing(true);
        core.succeed(completions, receive.wrId, as, bytes, value, 0, flags, solicited);
    }

    /// Completes the receive with an error.
    public void fail(WcStatus status, String cause) {
        assert isOpen : "a message has a receive";
        isOpen = false;
        core.fail(completions, receive.wrId, status, WcOpcode.RECV, 0, cause);
    }

    /// Completes the receive in use and all that are posted as flushed, in order (ERR); those of a shared queue
    /// stay.
    public void flush() {
        if (isOpen) {
            isOpen = false;
            core.flush(completions, receive.wrId, WcOpcode.RECV);
        }
        while (!isShared && queue.take(receive)) {
            core.flush(completions, receive.wrId, WcOpcode.RECV);
        }
    }

    /// Forgets the receives, without completions (RESET).
    public void discard() {
        isOpen = false;
        if (!isShared) {
            queue.discard();
        }
    }
}
