package verbena.nic.link.udp;

import java.util.List;
import verbena.nic.link.Claimable;
import verbena.nic.link.LinkException;
import verbena.nic.link.PolledLink;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// A link at addresses whose UDP port another user's process has: nothing comes or goes. A program can look at such
/// a device, and its first queue pair is refused. Linux only.
public final class WatchingLink extends PolledLink implements Claimable {
    private final List<GidEntry> gids;
    private final LinkException why;

    /// @param why the port cannot be had
    public WatchingLink(List<GidEntry> gids, LinkException why) {
        super(0);
        this.gids = List.copyOf(gids);
        this.why = why;
    }

    @Override
    public void claim() {
        throw new LinkException(why.kind(), String.valueOf(why.getMessage()), why);
    }

    @Override
    public List<GidEntry> gids() {
        return gids;
    }

    @Override
    public int packetMax() {
        return Frame.PACKET_MAX & ~3; // packets are whole words (IBTA 9.2, PadCnt)
    }

    @Override
    public int receive(Frame[] frames, int from, int count) {
        return 0;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        throw new IllegalStateException("there is no queue pair that could send");
    }

    @Override
    public void join(Gid group) {
        claim();
    }

    @Override
    public void leave(Gid group) {
        claim();
    }

    @Override
    public long malformed() {
        return 0;
    }

    @Override
    public long unsendable() {
        return 0;
    }

    @Override
    protected long lastLook(long timeoutNanos) {
        return timeoutNanos;
    }

    @Override
    protected void release() {}
}
