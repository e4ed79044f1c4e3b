package verbena.messages.rail;

import java.util.function.Consumer;

/// The handling of a peer that has lost one of its rails. Under the lock of the worker.
public final class LostRails {
    private final Departures departures;
    private final Slots slots;
    private volatile Consumer<Remote> listener = _ -> {};
    private long count;

    LostRails(Departures departures, Slots slots) {
        this.departures = departures;
        this.slots = slots;
    }

    /// Sets who is told of each lost rail, on a virtual thread. Any thread may.
    public void tell(Consumer<Remote> whom) {
        listener = whom;
    }

    public long count() {
        return count;
    }

    /// Moves all requests that were under way by a connection to the others of its peer; without any, the peer is
    /// lost.
    public void lose(Remote remote, int rail, String why) {
        if (!remote.peer().isLost() && remote.rails().lose(rail)) {
            drop(remote, rail, why);
            departures.pump(remote);
        }
    }

    private void drop(Remote remote, int rail, String why) {
        if (remote.rails().areAllLost()) {
            remote.lose(why);
            return;
        }
        count++;
        remote.ways().way(rail).disconnect();
        remote.loseRail(rail, slots);
        Consumer<Remote> now = listener;
        Thread.startVirtualThread(() -> now.accept(remote));
    }

    /// Gives up the rails that the peer has told to be lost.
    ///
    /// @param rails a bit for each
    void drop(Remote from, int rails) {
        for (int left = rails; left != 0; left &= left - 1) {
            drop(from, Integer.numberOfTrailingZeros(left), "the peer has lost it");
        }
    }
}
