package verbena.nic.engine;

import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// A request and the acknowledgement before it, as in every exchange of small messages, leave in the other order where
/// they can be one message of the operating system, in which only the last packet may be the shorter one. The peer
/// turns
/// them around again: a request may break its queue pair, and what it acknowledges has arrived.
final class Trailing {
    /// An acknowledgement, BTH through ICRC.
    private static final int ACKNOWLEDGEMENT_BYTES = Packet.length(Opcode.RC_ACKNOWLEDGE, 0);

    private Trailing() {}

    /// Whether the second packet is an acknowledgement that has left, or may leave, behind this request although it is
    /// older.
    static boolean isBehind(Frame request, Frame acknowledgement) {
        if (acknowledgement.length != ACKNOWLEDGEMENT_BYTES || request.length <= ACKNOWLEDGEMENT_BYTES) {
            return false;
        }
        Opcode opcode = Opcode.of(Bth.opcode(request.slot, request.start));
        return opcode != null
                && !opcode.isResponse()
                && Opcode.of(Bth.opcode(acknowledgement.slot, acknowledgement.start)) == Opcode.RC_ACKNOWLEDGE
                && Bth.destinationQp(request.slot, request.start)
                        == Bth.destinationQp(acknowledgement.slot, acknowledgement.start);
    }

    /// The packet at `i` and the next change places.
    static void exchange(Frame[] frames, int i) {
        Frame first = frames[i];
        frames[i] = frames[i + 1];
        frames[i + 1] = first;
    }
}
