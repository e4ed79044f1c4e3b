package verbena.transport.unreliable;

import verbena.transport.QueuePairCore;
import verbena.transport.RequestWriter;
import verbena.transport.queue.Path;
import verbena.transport.queue.SendRequest;
import verbena.wire.Frame;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;

/// Writes datagrams: each has a destination of its own, and a DETH (IBTA 9.8.3). Engine-confined.
final class DatagramWriter extends RequestWriter {
    DatagramWriter(QueuePairCore core) {
        super(core, Transport.UD);
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
        Path path = request.path;
        core.begin(
                frame,
                opcode,
                payloadBytes,
                solicited,
                ask,
                psn,
                path == null ? p.destinationQpn : request.destinationQpn,
                path == null ? p.path : path);
        // IBTA 10.2.5: a Q_Key with its high bit set stands for the queue pair's own, which is privileged.
        int qkey = request.qkey < 0 ? p.qkey : request.qkey;
        Deth.write(frame.slot, frame.start + opcode.dethOffset(), qkey, p.qpn);
    }
}
