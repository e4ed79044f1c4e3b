package verbena.nic.link.shm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.sharing.PeerSocket;
import verbena.nic.link.sharing.Presence;

/// The neighbours of a link by their slots: when each comes, begins to die, and goes. A function of what happens at
/// its sockets, which are the [Ground].
///
/// A link that connects says hello, with its slot. The other end answers with a hello of its own before it reads
/// anything else. Two cases need care:
///
/// - **A slot whose last holder still dies.** The kernel closes the descriptors of a dying process one by one. So a
/// new link may have taken the slot, while the old connection is still open. The new one waits until the old one
/// ends.
/// - **Two links that meet at the same moment** connect to each other, when one of them did not get its
/// [MeetingTurn]. Both keep the connection that the link with the lower slot has made. The other connection has no
/// answer yet, so nothing else was read there.
///
/// For one thread at a time, except where a method allows any thread.
final class Roster {
    /// The operations on sockets that the roster needs.
    interface Ground {
        /// Returns whether the other end of a connection is still open.
        boolean isOpen(PeerSocket connection);

        /// Sends a hello.
        void answer(PeerSocket connection);

        /// Reads one message, if there is one.
        void read(PeerSocket connection);

        /// Makes a connection wait: only its end matters then.
        void hold(PeerSocket connection);

        /// Ends the wait.
        void resume(PeerSocket connection);

        /// Watches a descriptor of a neighbour; null when it cannot be watched.
        @Nullable
        PeerSocket watch(int descriptor);

        void close(PeerSocket socket);

        /// Called when the process of a neighbour has begun to die.
        void onDying(int slot);

        /// Called when a neighbour has gone.
        void onGone(int slot, ShmNeighbour neighbour);
    }

    private record Waiting(PeerSocket connection, int slot) {}

    private final Ground ground;
    private final Presence presence = new Presence();
    private final @Nullable ShmNeighbour[] neighbours = new @Nullable ShmNeighbour[Presence.SLOTS];
    /// The connections of links whose slots have not been left yet.
    private final List<Waiting> waiting = new ArrayList<>();

    Roster(Ground ground) {
        this.ground = ground;
    }

    /// Sets the slot of this link.
    void settle(int own) {
        presence.settle(own);
    }

    int slot() {
        return presence.slot();
    }

    /// Returns how many neighbours there are. Any thread.
    int count() {
        return presence.count();
    }

    /// Returns the neighbour with a slot; null when there is none.
    @Nullable
    ShmNeighbour neighbour(int slot) {
        return neighbours[slot];
    }

    /// Returns the neighbour at the other end of a connection; null when it has not sent a hello, or has to wait.
    @Nullable
    ShmNeighbour at(PeerSocket connection) {
        return connection.slot == PeerSocket.NO_SLOT ? null : neighbours[connection.slot];
    }

    void forEach(Consumer<ShmNeighbour> action) {
        Arrays.stream(neighbours).filter(Objects::nonNull).forEach(action);
    }

    /// Returns whether the process of the neighbour with a slot still lives. Any thread, while the owner does not
    /// go on.
    boolean isThere(int slot) {
        ShmNeighbour neighbour = neighbours[slot];
        return neighbour != null && ground.isOpen(neighbour.socket);
    }

    // ---- a neighbour comes

    /// Notes that this link has connected to the link with a slot, and has sent its hello.
    void onConnected(PeerSocket connection, int slot) {
        take(connection, slot);
    }

    /// Handles the hello of the link at the other end of a connection; returns false when it must not have this
    /// slot.
    boolean onHello(PeerSocket connection, int slot) {
        if (slot < 0 || slot == presence.slot() || (connection.slot != PeerSocket.NO_SLOT && connection.slot != slot)) {
            return false;
        }
        ShmNeighbour holder = neighbours[slot];
        if (holder != null && holder.socket == connection) {
            holder.hasAnswered = true;
            return true;
        }
        while (holder != null && hasLeft(holder, slot)) {
            holder = neighbours[slot];
        }
        if (holder == null) {
            welcome(connection, slot);
        } else {
            waiting.add(new Waiting(connection, slot));
            ground.hold(connection);
        }
        return true;
    }

    /// Returns whether a slot has another holder than this one, or none. Ends a connection that is of no use.
    private boolean hasLeft(ShmNeighbour holder, int slot) {
        if (!holder.hasAnswered) {
            ground.read(holder.socket); // the answer may lie there, or the end
        }
        if (neighbours[slot] != holder) {
            return true;
        }
        boolean isSecond = !holder.hasAnswered && slot < presence.slot();
        if (!isSecond && ground.isOpen(holder.socket)) {
            return false;
        }
        close(holder.socket);
        return true;
    }

    private void welcome(PeerSocket connection, int slot) {
        take(connection, slot).hasAnswered = true;
        ground.answer(connection);
    }

    private ShmNeighbour take(PeerSocket connection, int slot) {
        boolean isFree = presence.greet(connection, slot);
        assert isFree : slot;
        var neighbour = new ShmNeighbour(connection);
        neighbours[slot] = neighbour;
        return neighbour;
    }

    // ---- a neighbour goes

    /// Adds the lifeline of a neighbour; returns false when it has sent a lifeline before.
    boolean onLifeline(ShmNeighbour neighbour, int descriptor) {
        if (neighbour.lifeline != null) {
            return false;
        }
        PeerSocket lifeline = ground.watch(descriptor);
        neighbour.lifeline = lifeline;
        if (lifeline != null) {
            lifeline.lifelineOf = neighbour.socket;
        }
        return true;
    }

    /// Handles a lifeline that has hung up: the neighbour's process has begun to die. Its socket reports the end.
    void onDying(PeerSocket connection) {
        ShmNeighbour neighbour = at(connection);
        if (neighbour != null) {
            closeLifeline(neighbour);
            ground.onDying(connection.slot);
        }
    }

    /// Returns whether a connection waits for the end of the last holder of its slot, and must not be read.
    boolean isWaiting(PeerSocket connection) {
        for (Waiting each : waiting) {
            if (each.connection == connection) {
                return true;
            }
        }
        return false;
    }

    /// Handles an event of a connection that waits, of which only the end matters.
    void onWaiting(PeerSocket connection) {
        if (!ground.isOpen(connection)) {
            close(connection);
        }
    }

    /// Closes a connection, and with it what the neighbour has shared.
    void close(PeerSocket connection) {
        ground.close(connection);
        waiting.removeIf(each -> each.connection == connection);
        ShmNeighbour neighbour = at(connection);
        if (presence.forget(connection) && neighbour != null) {
            int slot = connection.slot;
            neighbours[slot] = null;
            closeLifeline(neighbour);
            ground.onGone(slot, neighbour);
            letNextIn(slot);
        }
    }

    private void closeLifeline(ShmNeighbour neighbour) {
        if (neighbour.lifeline != null) {
            ground.close(neighbour.lifeline);
            neighbour.lifeline = null;
        }
    }

    /// Admits the first connection that waits for a slot. It may have ended meanwhile: its socket then reports the
    /// end, and the next connection has its turn.
    private void letNextIn(int slot) {
        for (int i = 0; i < waiting.size(); i++) {
            Waiting next = waiting.get(i);
            if (next.slot == slot) {
                waiting.remove(i);
                ground.resume(next.connection);
                welcome(next.connection, slot);
                return;
            }
        }
    }
}
