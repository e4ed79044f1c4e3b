package verbena.sim.model;

import java.util.LinkedHashSet;
import java.util.Set;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Syndrome;

/// Listens on a device's way out for what it refuses. A refusal is said once and not repeated when it gets lost;
/// where packets do, it is said often enough.
final class NakTap extends ForwardingLink {
    private final int times;
    private final Set<Refused> heard = new LinkedHashSet<>();

    /// @param to the queue pair that is told
    record Refused(int to, int syndrome) {}

    /// @param times how often a refusal is sent
    NakTap(Link link, int times) {
        super(link);
        this.times = times;
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
            if (opcode == Opcode.RC_ACKNOWLEDGE || opcode == Opcode.XRC_ACKNOWLEDGE) {
                int syndrome = Aeth.syndrome(frames[i].slot, frames[i].start + opcode.aethOffset());
                if (Syndrome.isNak(syndrome) && syndrome != Syndrome.NAK_SEQUENCE) {
                    for (int again = 1; again < times; again++) {
                        link.transmit(frames, i, 1);
                    }
                }
                if (!Syndrome.isAck(syndrome)) {
                    heard.add(new Refused(Bth.destinationQp(frames[i].slot, frames[i].start), syndrome));
                }
            }
        }
        return n;
    }
}
