package verbena.nic.engine;

import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// The rule that sends a request before the acknowledgement that it would follow, as in every exchange of small
/// messages. So both can be one message of the operating system, in which only the last packet may be shorter. The
/// peer restores their order, because a request may break its queue pair although the acknowledged message has
/// arrived.
final class Trailing {
    /// The length of an acknowledgement, from BTH to ICRC.
    private static final int ACKNOWLEDGEMENT_BYTES = Packet.length(Opcode.RC_ACKNOWLEDGE, 0);

    private Trailing() {}

    /// Returns whether the second packet is an acknowledgement that is older than this request, but may be sent
    /// behind it.
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

    /// Exchanges the packet at `i` and the next one.
    static void exchange(Frame[] frames, int i) {
        Frame first = frames[i];
        frames[i] = frames[i + 1];
        frames[i + 1] = first;
    }
}
