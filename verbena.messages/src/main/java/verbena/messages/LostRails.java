package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.VerbsException;

/// What happens when a rail is lost: with one peer, or with all when a device fails or is given back.
final class LostRails {
    private final Traffic traffic;
    private volatile Consumer<RemoteWorker> listener = _ -> {};
    /// Under the lock of the traffic.
    private long count;

    LostRails(Traffic traffic) {
        this.traffic = traffic;
    }

    void tell(Consumer<RemoteWorker> whom) {
        listener = whom;
    }

    long count() {
        return count;
    }

    /// What was under way by a connection goes by the others of its peer; without any, the peer is lost.
    void loseWay(Way way, String why) {
        RemoteWorker remote = way.remote;
        traffic.lock.lock();
        try {
            if (!remote.peer().isLost() && remote.rails().lose(way.rail.index)) {
                drop(way, why);
                traffic.departures.pump(remote);
            }
        } finally {
            traffic.lock.unlock();
        }
    }

    /// A connection has ended. Frames of it may have arrived that no thread has read; so the end comes by the same
    /// queue, behind them.
    void end(Way way) {
        RemoteWorker remote = way.remote;
        traffic.lock.lock();
        try {
            if (!remote.peer().isLost() && way.isUsable()) {
                way.postEnd();
                return;
            }
        } catch (VerbsException e) {
            loseWay(way, "device " + way.rail.index + " of the worker has failed: " + e.getMessage());
        } finally {
            traffic.lock.unlock();
        }
        remote.releaseIfLost();
    }

    /// All that has arrived by a connection is handled, and no more will come. Under the lock of the traffic.
    void ended(Way way) {
        loseWay(way, "the peer has left, or is gone");
        Thread.startVirtualThread(way.remote::releaseIfLost); // it waits for the device
    }

    private void drop(Way way, String why) {
        RemoteWorker remote = way.remote;
        if (remote.rails().areAllLost()) {
            traffic.lose(remote, why);
            return;
        }
        int rail = way.rail.index;
        count++;
        way.disconnect();
        remote.transfers().loseRail(rail);
        remote.operations().loseRail(rail, traffic.slots);
        remote.withdraw(rail);
        Consumer<RemoteWorker> now = listener;
        Thread.startVirtualThread(() -> now.accept(remote));
    }

    /// A device has failed, or is given back.
    void loseRail(Rail rail, String why) {
        List<Way> ways;
        traffic.lock.lock();
        try {
            rail.isClosed = true;
            ways = rail.numbers.all();
        } finally {
            traffic.lock.unlock();
        }
        ways.forEach(each -> loseWay(each, why));
    }

    /// Gives a device back.
    void leave(Rail rail) {
        loseRail(rail, "this side has left its device " + rail.index);
        List<Way> ways;
        traffic.lock.lock();
        try {
            ways = rail.numbers.all();
        } finally {
            traffic.lock.unlock();
        }
        for (Way each : ways) {
            each.interrupt();
            each.close();
            traffic.lock.lock();
            try {
                rail.numbers.remove(each);
            } finally {
                traffic.lock.unlock();
            }
        }
        rail.closeQueues();
        traffic.arrivals.join(rail);
        traffic.lock.lock();
        try {
            traffic.longMessages.registrations.loseRail(rail.index);
        } finally {
            traffic.lock.unlock();
        }
        rail.closeMemory();
    }

    /// The peer tells of lost rails. What is wrong with it is the answer.
    @Nullable
    String told(RemoteWorker from, MemorySegment frame) {
        List<Way> before = from.ways().filter(Way::isUsable).toList();
        String wrong = from.rails().onTold(frame);
        if (wrong == null) {
            for (Way each : before) {
                if (!each.isUsable()) {
                    drop(each, "the peer has lost it");
                }
            }
        }
        return wrong;
    }
}
