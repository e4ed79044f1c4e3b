package verbena.nic.kind.third;

import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import verbena.nic.link.Carrier;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;

/// A carrier that carries nothing: an engine sleeps in it until another engine rings.
final class Bell implements Carrier {
    private final List<GidEntry> gids;
    private final Semaphore rings = new Semaphore(0);

    Bell(Gid address) {
        gids = List.of(new GidEntry(0, address, GidType.ROCE_V2, "switchboard", 1));
    }

    @Override
    public List<GidEntry> gids() {
        return gids;
    }

    @Override
    public int move(long nowNanos) {
        return 0;
    }

    @Override
    public void await(long timeoutNanos) {
        if (timeoutNanos < 0) {
            rings.acquireUninterruptibly();
        } else {
            try {
                boolean _ = rings.tryAcquire(timeoutNanos, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        int _ = rings.drainPermits();
    }

    @Override
    public void wakeup() {
        rings.release();
    }

    @Override
    public void close() {
        wakeup();
    }
}
