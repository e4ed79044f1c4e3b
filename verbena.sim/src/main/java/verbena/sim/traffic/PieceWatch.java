package verbena.sim.traffic;

import java.util.HashMap;
import java.util.Map;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Reth;

/// A watch that counts READ requests which continue where the one before them ends, as a READ of several pieces
/// looks on the wire.
final class PieceWatch extends ForwardingLink {
    private record Last(long end, int psn) {}

    private final Tally tally;
    /// The last READs by the queue pair that they went to.
    private final Map<Integer, Last> reads = new HashMap<>();

    PieceWatch(Link link, Tally tally) {
        super(link);
        this.tally = tally;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        int taken = link.transmit(frames, from, count);
        for (int i = from; i < from + taken; i++) {
            look(frames[i]);
        }
        return taken;
    }

    private void look(Frame frame) {
        Opcode opcode = Packet.opcode(frame);
        if (opcode != Opcode.RC_READ_REQUEST && opcode != Opcode.XRC_READ_REQUEST) {
            return;
        }
        int at = frame.start + opcode.rethOffset();
        long address = Reth.virtualAddress(frame.slot, at);
        int psn = Bth.psn(frame.slot, frame.start);
        int queuePair = Bth.destinationQp(frame.slot, frame.start);
        Last last = reads.get(queuePair);
        if (last != null && last.end == address && Psn.isAfter(psn, last.psn)) {
            tally.count(Feature.READ_PIECES);
        }
        reads.put(queuePair, new Last(address + Reth.dmaLength(frame.slot, at), psn));
    }
}
