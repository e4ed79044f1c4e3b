package verbena.nic.link;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// A link around another that hands everything on: what a wrapper that traces, captures or damages changes a
/// method of. Threads as [Link] says.
public abstract class ForwardingLink implements Link {
    /// The link below, closed with this one.
    protected final Link link;

    protected ForwardingLink(Link link) {
        this.link = link;
    }

    @Override
    public List<GidEntry> gids() {
        return link.gids();
    }

    @Override
    public List<GidEntry> liveGids() {
        return link.liveGids();
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
    public boolean hasArrivals() {
        return link.hasArrivals();
    }

    @Override
    public boolean mayHaveMore() {
        return link.mayHaveMore();
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        return link.transmit(frames, from, count);
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
    public int slot() {
        return link.slot();
    }

    @Override
    public boolean claimService(long serviceId) {
        return link.claimService(serviceId);
    }

    @Override
    public void openService(long serviceId) {
        link.openService(serviceId);
    }

    @Override
    public void releaseService(long serviceId) {
        link.releaseService(serviceId);
    }

    @Override
    public int stamp() {
        return link.stamp();
    }

    @Override
    public int sourcePort() {
        return link.sourcePort();
    }

    @Override
    public void await(long timeoutNanos) {
        link.await(timeoutNanos);
    }

    @Override
    public boolean canBePolled() {
        return link.canBePolled();
    }

    @Override
    public int fallAsleep(long timeoutNanos) {
        return link.fallAsleep(timeoutNanos);
    }

    @Override
    public MemorySegment pollfds() {
        return link.pollfds();
    }

    @Override
    public void awake() {
        link.awake();
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
    public Map<String, Long> counters() {
        return link.counters();
    }

    @Override
    public void close() {
        link.close();
    }
}
