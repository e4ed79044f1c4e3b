package verbena.nic.link.sharing;

import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The slots of a shared address that are taken: this link's own, and those of its neighbours, each with the
/// connection to it.
///
/// For one thread at a time, except [#count()].
public final class Presence {
    /// The number of parts that the numbers are divided into.
    public static final int SLOTS = 256;

    private final @Nullable PeerSocket[] neighbours = new @Nullable PeerSocket[SLOTS];
    private volatile int count;
    private int slot = PeerSocket.NO_SLOT;

    /// Tries the slots in random order; returns the first that `take` accepts, or [PeerSocket#NO_SLOT].
    public static int draw(RandomGenerator random, IntPredicate take) {
        int[] order = IntStream.range(0, SLOTS).toArray();
        for (int i = 0; i < order.length; i++) {
            int other = i + random.nextInt(order.length - i);
            int candidate = order[other];
            order[other] = order[i];
            if (take.test(candidate)) {
                return candidate;
            }
        }
        return PeerSocket.NO_SLOT;
    }

    /// Sets the slot of this link.
    public void settle(int own) {
        assert slot == PeerSocket.NO_SLOT && count == 0 : "a slot never changes";
        assert own >= 0 && own < neighbours.length : own;
        slot = own;
    }

    public int slot() {
        return slot;
    }

    /// Returns how many neighbours there are. Any thread.
    public int count() {
        return count;
    }

    /// Returns whether this link, or a neighbour, has the slot.
    boolean isTaken(int other) {
        return other == slot || neighbours[other] != null;
    }

    /// Returns the connection to the neighbour with this slot; null when there is none.
    @Nullable
    PeerSocket neighbour(int other) {
        return neighbours[other];
    }

    /// Notes which slot the link at the other end of a connection has announced. A neighbour that connects again is
    /// reached by its new connection.
    ///
    /// @param other the slot; [PeerSocket#NO_SLOT] when the link sent anything else
    /// @return false when the slot is not possible: no slot, our own, or not the one announced before
    public boolean greet(PeerSocket socket, int other) {
        if (other < 0 || other == slot || (socket.slot != PeerSocket.NO_SLOT && socket.slot != other)) {
            return false;
        }
        socket.slot = other;
        if (neighbours[other] == null) {
            setCount(count + 1);
        }
        neighbours[other] = socket;
        return true;
    }

    /// Removes a closed connection; returns whether a neighbour has left with it.
    public boolean forget(PeerSocket socket) {
        if (socket.slot == PeerSocket.NO_SLOT || neighbours[socket.slot] != socket) {
            return false;
        }
        neighbours[socket.slot] = null;
        setCount(count - 1);
        return true;
    }

    /// Sets the count, which only one thread writes.
    private void setCount(int neighbourCount) {
        assert neighbourCount >= 0 && neighbourCount < SLOTS : neighbourCount;
        count = neighbourCount;
    }

    /// Returns whether there are neighbours and all have higher slots: when a link leaves, one of the remaining
    /// links has to act.
    boolean isFirst() {
        for (int i = 0; i < slot; i++) {
            if (neighbours[i] != null) {
                return false;
            }
        }
        return count > 0;
    }
}
