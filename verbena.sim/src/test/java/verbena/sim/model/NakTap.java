package verbena.sim.model;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import verbena.nic.link.Link;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Syndrome;

/// Listens on a device's way out for what it refuses. A refusal is said once and not repeated when it gets lost; where
/// packets do, it is said often enough.
final class NakTap implements Link {
    private final Link link;
    private final int times;
    private final Set<Refused> heard = new LinkedHashSet<>();

    /// @param to the queue pair that is told
    record Refused(int to, int syndrome) {}

    /// @param times how often a refusal is sent
    NakTap(Link link, int times) {
        this.link = link;
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
            Opcode opcode = Opcode.of(Bth.opcode(frames[i].slot, Packet.BTH));
            if (opcode == Opcode.RC_ACKNOWLEDGE) {
                int syndrome = Aeth.syndrome(frames[i].slot, Packet.BTH + opcode.aethOffset());
                if (Syndrome.isNak(syndrome) && syndrome != Syndrome.NAK_SEQUENCE) {
                    for (int again = 1; again < times; again++) {
                        link.transmit(frames, i, 1);
                    }
                }
                if (!Syndrome.isAck(syndrome)) {
                    heard.add(new Refused(Bth.destinationQp(frames[i].slot, Packet.BTH), syndrome));
                }
            }
        }
        return n;
    }

    @Override
    public List<GidEntry> gids() {
        return link.gids();
    }

    @Override
    public int packetMax() {
        return link.packetMax();
    }

    @Override
    public int receive(Frame[] frames, int from, int count) {
        return link.receive(frames, from, count);
    }

    @Override
    public void join(Gid group) {
        link.join(group);
    }

    @Override
    public void leave(Gid group) {
        link.leave(group);
    }

    @Override
    public void await(long timeoutNanos) {
        link.await(timeoutNanos);
    }

    @Override
    public void wakeup() {
        link.wakeup();
    }

    @Override
    public long malformed() {
        return link.malformed();
    }

    @Override
    public long unsendable() {
        return link.unsendable();
    }

    @Override
    public void close() {
        link.close();
    }
}
