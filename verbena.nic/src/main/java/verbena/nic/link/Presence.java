package verbena.nic.link;

import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Which slots of a shared address are taken: this link's own, and those of its neighbours, each with the connection
/// that leads there.
///
/// For one thread at a time, but for [#count()].
final class Presence {
    private final @Nullable PeerSocket[] neighbours = new @Nullable PeerSocket[SharedAddress.SLOTS];
    private volatile int count;
    private int slot = PeerSocket.NO_SLOT;

    /// Tries the slots in an order that chance decides; returns the first that `take` takes, or
    /// [PeerSocket#NO_SLOT].
    static int draw(RandomGenerator random, IntPredicate take) {
        int[] order = IntStream.range(0, SharedAddress.SLOTS).toArray();
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

    /// This link has this slot from now on.
    void settle(int own) {
        assert slot == PeerSocket.NO_SLOT && count == 0 : "a slot never changes";
        assert own >= 0 && own < neighbours.length : own;
        slot = own;
    }

    int slot() {
        return slot;
    }

    /// How many neighbours there are. Any thread.
    int count() {
        return count;
    }

    /// Whether this link, or a neighbour, has the slot.
    boolean isTaken(int other) {
        return other == slot || neighbours[other] != null;
    }

    /// The connection to the neighbour with this slot; null when there is none.
    @Nullable
    PeerSocket neighbour(int other) {
        return neighbours[other];
    }

    /// The link at the other end of a connection says which slot it has. A neighbour that connects again is reached
    /// by its new connection.
    ///
    /// @param other [PeerSocket#NO_SLOT] when it has said something else
    /// @return false when it cannot be: no slot, our own, or another one than it said before
    boolean greet(PeerSocket socket, int other) {
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

    /// A connection is closed; true when a neighbour has left by that.
    boolean forget(PeerSocket socket) {
        if (socket.slot == PeerSocket.NO_SLOT || neighbours[socket.slot] != socket) {
            return false;
        }
        neighbours[socket.slot] = null;
        setCount(count - 1);
        return true;
    }

    /// Only this thread writes it.
    private void setCount(int neighbourCount) {
        assert neighbourCount >= 0 && neighbourCount < SharedAddress.SLOTS : neighbourCount;
        count = neighbourCount;
    }

    /// Whether there are neighbours, and all have higher slots: one of those who stay has to act when one leaves.
    boolean isFirst() {
        for (int i = 0; i < slot; i++) {
            if (neighbours[i] != null) {
                return false;
            }
        }
        return count > 0;
    }
}
