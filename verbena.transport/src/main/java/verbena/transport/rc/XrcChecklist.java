package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.QueuePairCore;
import verbena.transport.Receiving;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.XrcEth;

/// The checklist of an XRC target (IBTA A14). A target has neither receives nor memory: each request names the
/// shared receive queue that it is for, and reaches the memory of that queue's protection domain. So there is one
/// check more, and it comes first.
///
/// A number of no queue, or of a queue of another XRC domain, is refused with a NAK remote access error. The
/// annex was not at hand. The NAK is that of the XRC patches for rxe, and the drivers of hns and qedr raise
/// QP_ACCESS_ERR in both cases (decision 09).
final class XrcChecklist extends Checklist {
    private final XrcQueue.Finder queues;
    private final int xrcDomain;
    /// The queue that the present message is for, or the last message was for; null before the first.
    private @Nullable XrcQueue aim;

    XrcChecklist(QueuePairCore core, Receiving receive, XrcQueue.Finder queues, int xrcDomain) {
        super(core, receive);
        this.queues = queues;
        this.xrcDomain = xrcDomain;
    }

    @Override
    Verdict check(Frame frame, Opcode opcode) {
        Verdict verdict = checkQueue(frame, opcode);
        return verdict == Verdict.ACCEPTED ? super.check(frame, opcode) : verdict;
    }

    /// Checks that the shared receive queue exists, and is the queue that the message has begun with.
    private Verdict checkQueue(Frame frame, Opcode opcode) {
        int number = XrcEth.srqNumber(frame.slot, (long) frame.start + opcode.xrcEthOffset());
        XrcQueue named = queues.find(number);
        if (named == null || named.xrcDomain() != xrcDomain) {
            dropReceiveOfClosed();
            String why = named == null ? "there is none of this number" : "it is of another XRC domain";
            return because(Verdict.NO_QUEUE, opcode + " for shared receive queue " + number + ": " + why);
        }
        if (named == aim) {
            return Verdict.ACCEPTED;
        }
        if (!opcode.startsMessage()) {
            dropReceiveOfClosed();
            return invalid(opcode + " for shared receive queue " + number + ", which its message did not begin with");
        }
        if (!receive.isOpen()) { // else the sequence of opcodes is wrong, as the next check finds
            aim = named;
            p.protectionDomain = named.protectionDomain();
            receive.aim(named.receives(), named.completions());
        }
        return Verdict.ACCEPTED;
    }

    /// Drops the receive of a closed queue: no thread waits for its completion any more.
    void dropReceiveOfClosed() {
        XrcQueue of = aim;
        if (of != null && queues.find(of.number()) != of) {
            receive.discard();
        }
    }
}
