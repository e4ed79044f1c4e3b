package verbena.nic.link;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// A link that forwards every call to another link. A wrapper that traces, captures or damages packets overrides
/// some methods. Threads as in [Link].
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
    public <T> @Nullable T service(Class<T> kind) {
        T own = Link.super.service(kind);
        return own == null ? link.service(kind) : own;
    }

    @Override
    public int sourcePort(Gid from, Gid to) {
        return link.sourcePort(from, to);
    }

    @Override
    public int move(long nowNanos) {
        return link.move(nowNanos);
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
