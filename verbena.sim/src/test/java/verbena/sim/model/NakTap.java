package verbena.sim.model;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Syndrome;

/// Listens on a device's way out for what it refuses. A refusal is sent once, and not again when it gets lost. Where
/// packets do, the tap sends it often enough.
///
/// A SEND with invalidate may end the responder without any NAK (decision 05). What the responder has sent before is
/// then its last word: when that is lost, requests that were carried out fail with too many retries. So the tap
/// repeats all answers to a queue pair that has sent such a request.
final class NakTap extends ForwardingLink {
    private final int times;
    private final Set<Refused> heard = new LinkedHashSet<>();
    /// The queue pairs whose peer may end in silence.
    private final Set<Integer> askers = new HashSet<>();

    /// @param to the queue pair that is told
    record Refused(int to, int syndrome) {}

    /// @param times how often a refusal is sent
    NakTap(Link link, int times) {
        super(link);
        this.times = times;
    }

    /// Repeats all answers to a queue pair from now on.
    void repeatAnswersTo(int qpn) {
        askers.add(qpn);
    }

    /// What has been refused since it was asked last.
    Set<Refused> take() {
        var taken = Set.copyOf(heard);
        heard.clear();
        return taken;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        int n = link.transmit(frames, from, count);
        for (int i = from; i < from + n; i++) {
            Opcode opcode = Opcode.of(Bth.opcode(frames[i].slot, frames[i].start));
            int to = Bth.destinationQp(frames[i].slot, frames[i].start);
            boolean isLast = opcode.isResponse() && askers.contains(to);
            if (opcode == Opcode.RC_ACKNOWLEDGE || opcode == Opcode.XRC_ACKNOWLEDGE) {
                int syndrome = Aeth.syndrome(frames[i].slot, frames[i].start + opcode.aethOffset());
                boolean isFatal = Syndrome.isNak(syndrome) && syndrome != Syndrome.NAK_SEQUENCE;
                isLast = isFatal || (isLast && Syndrome.isAck(syndrome));
                if (!Syndrome.isAck(syndrome)) {
                    heard.add(new Refused(to, syndrome));
                }
            }
            for (int again = 1; isLast && again < times; again++) {
                link.transmit(frames, i, 1);
            }
        }
        return n;
    }
}
