package verbena.nic.link;

import java.util.List;
import java.util.Map;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// A carrier without frames in the form that an engine needs: no packet arrives, and none can be sent.
public final class FramelessLink implements Link {
    private final Carrier carrier;

    /// @param carrier closed with this link
    public FramelessLink(Carrier carrier) {
        this.carrier = carrier;
    }

    // ---- forwarded to the carrier

    @Override
    public List<GidEntry> gids() {
        return carrier.gids();
    }

    @Override
    public List<GidEntry> liveGids() {
        return carrier.liveGids();
    }

    @Override
    public int slot() {
        return carrier.slot();
    }

    @Override
    public int move(long nowNanos) {
        return carrier.move(nowNanos);
    }

    @Override
    public void await(long timeoutNanos) {
        carrier.await(timeoutNanos);
    }

    @Override
    public void wakeup() {
        carrier.wakeup();
    }

    @Override
    public Map<String, Long> counters() {
        return carrier.counters();
    }

    @Override
    public void close() {
        carrier.close();
    }

    // ---- frames, of which there are none

    @Override
    public int packetMax() {
        return 0;
    }

    @Override
    public int receive(Frame[] frames, int from, int count) {
        return 0;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        return count;
    }

    @Override
    public void join(Gid group) {
        throw new LinkException(LinkException.Kind.UNSUPPORTED, "multicast group " + group + ": there are no frames");
    }

    @Override
    public void leave(Gid group) {}

    @Override
    public long malformed() {
        return 0;
    }

    @Override
    public long unsendable() {
        return 0;
    }
}
