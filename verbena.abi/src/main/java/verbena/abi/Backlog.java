package verbena.abi;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// A listener's connections: those on their way, and those that the program has not accepted yet. Guarded by the
/// lock of the listener.
final class Backlog {
    private static final int LENGTH_MIN = 128;

    private final Set<Rsocket> arriving = new HashSet<>();
    private final ArrayDeque<Rsocket> arrived = new ArrayDeque<>();
    private int length;

    /// How many there may be. Some programs ask for very few.
    void limit(int wanted) {
        length = Math.max(wanted, LENGTH_MIN);
    }

    int length() {
        return length;
    }

    boolean hasRoom() {
        return arriving.size() + arrived.size() < length;
    }

    void add(Rsocket connection) {
        arriving.add(connection);
    }

    /// It is connected. False when it was given up before.
    boolean onArrived(Rsocket connection) {
        return arriving.remove(connection) && arrived.add(connection);
    }

    void onGivenUp(Rsocket connection) {
        arriving.remove(connection);
    }

    boolean hasArrived() {
        return !arrived.isEmpty();
    }

    /// The oldest that has arrived.
    Rsocket first() {
        return arrived.getFirst();
    }

    void removeFirst() {
        arrived.removeFirst();
    }

    /// All, which are no more in here.
    List<Rsocket> clear() {
        var all = new ArrayList<>(arrived);
        all.addAll(arriving);
        arrived.clear();
        arriving.clear();
        return all;
    }
}
