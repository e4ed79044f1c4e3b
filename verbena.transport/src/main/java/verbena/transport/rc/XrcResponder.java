package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;
import verbena.wire.ib.XrcEth;

/// The responder of an XRC target (IBTA A14). A target has neither receives nor memory: each request names the shared
/// receive queue that it is for, and reaches the memory of that queue's protection domain.
///
/// A name that is none, or of another XRC domain, is refused with a NAK remote access error. The annex was not at
/// hand: the NAK is that of the XRC patches for rxe, and the drivers of hns and qedr raise QP_ACCESS_ERR in both
/// cases (decision 0076).
final class XrcResponder extends Responder {
    private final QueuePairParameters p;
    private final Receiving receive;
    private final XrcQueue.Finder queues;
    private final int xrcDomain;
    /// What the present message is for, or the last one was; null before the first.
    private @Nullable XrcQueue aim;

    XrcResponder(QueuePairCore core, HalfOwner owner, Receiving receive, XrcQueue.Finder queues, int xrcDomain) {
        super(core, Transport.XRC, owner, receive);
        this.p = core.parameters;
        this.receive = receive;
        this.queues = queues;
        this.xrcDomain = xrcDomain;
    }

    @Override
    PacketFate onExpected(Frame frame, Opcode opcode, int psn) {
        int number = XrcEth.srqNumber(frame.slot, (long) frame.start + opcode.xrcEthOffset());
        XrcQueue named = queues.find(number);
        if (named == null || named.xrcDomain() != xrcDomain) {
            dropReceiveOfClosed();
            String why = named == null ? "there is none of this number" : "it is of another XRC domain";
            return refuse(psn, Syndrome.NAK_REMOTE_ACCESS, opcode + " for shared receive queue " + number + ": " + why);
        }
        if (named != aim) {
            if (!opcode.startsMessage()) {
                dropReceiveOfClosed();
                return refuse(
                        psn,
                        Syndrome.NAK_INVALID_REQUEST,
                        opcode + " for shared receive queue " + number + ", which its message did not begin with");
            }
            if (!receive.isOpen()) { // else the sequence of opcodes is wrong, as is found below
                aim = named;
                p.protectionDomain = named.protectionDomain();
                receive.aim(named.receives(), named.completions());
            }
        }
        return super.onExpected(frame, opcode, psn);
    }

    @Override
    void flush(boolean keepAnswers) {
        dropReceiveOfClosed();
        super.flush(keepAnswers);
    }

    /// A receive goes with its queue: nobody waits for its completion any more.
    private void dropReceiveOfClosed() {
        XrcQueue of = aim;
        if (of != null && queues.find(of.number()) != of) {
            receive.discard();
        }
    }
}
