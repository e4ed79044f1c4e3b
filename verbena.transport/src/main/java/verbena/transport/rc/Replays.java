package verbena.transport.rc;

import verbena.transport.PacketFate;
import verbena.transport.QueuePairParameters;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Reth;

/// The answers of a [Responder] to requests that it has carried out before and that have responses of their own
/// (IBTA 9.7.5.1.3). Engine-confined.
final class Replays {
    private final QueuePairParameters p;
    private final OwedResponses owed;
    private final ResponderResources resources;

    Replays(QueuePairParameters p, OwedResponses owed, ResponderResources resources) {
        this.p = p;
        this.owed = owed;
        this.resources = resources;
    }

    /// Gives the response that the request had.
    PacketFate result(ResponseKind kind, int psn, int msn) {
        var resource = resources.find(kind, psn);
        if (resource == null) {
            return PacketFate.DROPPED_NO_REPLAY;
        }
        owed.addResult(resource, msn).isReplay = true;
        return PacketFate.DUPLICATE;
    }

    /// Repeats a READ. A duplicate may ask for the rest of the first one; it is read again from memory as that is
    /// now.
    PacketFate read(Frame frame, Opcode opcode, int psn, int msn) {
        int reth = frame.start + opcode.rethOffset();
        long at = Reth.virtualAddress(frame.slot, reth);
        long bytes = Reth.dmaLength(frame.slot, reth);
        var resource = resources.find(ResponseKind.READ, psn);
        if (resource == null || !resource.covers(Reth.rkey(frame.slot, reth), at, bytes)) {
            return PacketFate.DROPPED_NO_REPLAY;
        }
        var waiting = owed.findRead(psn);
        if (waiting == null || (p.repeatsAnswers && !owed.willSend(psn))) {
            owed.addRead(resource, psn, Psn.count(bytes, p.pathMtu), at, bytes, msn).isReplay = true;
            return PacketFate.DUPLICATE;
        }
        int index = Psn.distance(waiting.psn, psn);
        if (index < waiting.packet && !p.repeatsAnswers) {
            // Once more from there, in its turn: what was asked for after it still follows it.
            waiting.packet = index;
            waiting.isReplay = true;
        }
        return PacketFate.DUPLICATE;
    }
}
