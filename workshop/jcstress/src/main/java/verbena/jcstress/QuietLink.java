package verbena.jcstress;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import verbena.nic.link.Link;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.Frame;

/// A link that carries nothing, and on which a thread can sleep.
public final class QuietLink implements Link {
    private static final GidEntry GID = new GidEntry(0, new Gid(0, 0xFFFF_7F00_0001L), GidType.ROCE_V2, "lo", 1);

    private volatile Thread sleeper;
    private volatile boolean woken;

    @Override
    public List<GidEntry> gids() {
        return List.of(GID);
    }

    @Override
    public int packetMax() {
        return 4096;
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
    public void join(Gid group) {}

    @Override
    public void leave(Gid group) {}

    @Override
    public void await(long timeoutNanos) {
        sleeper = Thread.currentThread();
        while (!woken) {
            LockSupport.park(this);
        }
        woken = false;
        sleeper = null;
    }

    @Override
    public void wakeup() {
        woken = true;
        LockSupport.unpark(sleeper);
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
    public void close() {}
}
