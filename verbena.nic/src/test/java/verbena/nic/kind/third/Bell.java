package verbena.nic.kind.third;

import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import verbena.nic.link.Carrier;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;

/// A carrier that carries nothing: an engine sleeps in it until another rings.
final class Bell implements Carrier {
    private final List<GidEntry> gids;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition rung = lock.newCondition();
    private boolean isRung;

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
        lock.lock();
        try {
            if (!isRung && timeoutNanos < 0) {
                rung.awaitUninterruptibly();
            } else if (!isRung && timeoutNanos > 0) {
                long _ = rung.awaitNanos(timeoutNanos);
            }
            isRung = false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void wakeup() {
        lock.lock();
        try {
            isRung = true;
            rung.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        wakeup();
    }
}
