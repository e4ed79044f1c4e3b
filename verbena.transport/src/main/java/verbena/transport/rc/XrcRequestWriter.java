package verbena.transport.rc;

import verbena.transport.QueuePairCore;
import verbena.transport.RequestWriter;
import verbena.transport.queue.SendRequest;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;
import verbena.wire.ib.XrcEth;

/// Writes packets of requests that go to an XRC target: each names the shared receive queue that its request is for
/// (IBTA A14). Engine-confined.
final class XrcRequestWriter extends RequestWriter {
    XrcRequestWriter(QueuePairCore core) {
        super(core, Transport.XRC);
    }

    @Override
    protected void begin(
            Frame frame,
            SendRequest request,
            Opcode opcode,
            int payloadBytes,
            boolean solicited,
            boolean ask,
            int psn) {
        super.begin(frame, request, opcode, payloadBytes, solicited, ask, psn);
        XrcEth.write(frame.slot, (long) frame.start + Bth.BYTES, request.srqNumber); // the first behind the BTH
    }
}
