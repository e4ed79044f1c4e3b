package verbena.transport.rc;

import verbena.transport.QueuePairCore;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Transport;
import verbena.wire.ib.XrcEth;

/// Writes packets of requests that go to an XRC target: each names the shared receive queue that its request is for
/// (IBTA A14). Engine-confined.
final class XrcRequestWriter extends RequestWriter {
    XrcRequestWriter(QueuePairCore core) {
        super(core, Transport.XRC);
    }

    @Override
    MemoryVerdict write(Frame frame, SendRequest request, int index, int psns, int psn, boolean ask) {
        MemoryVerdict verdict = super.write(frame, request, index, psns, psn, ask);
        if (verdict == MemoryVerdict.OK) {
            XrcEth.write(frame.slot, (long) frame.start + Bth.BYTES, request.srqNumber); // the first behind the BTH
        }
        return verdict;
    }
}
