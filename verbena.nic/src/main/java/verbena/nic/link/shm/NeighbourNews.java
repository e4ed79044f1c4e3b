package verbena.nic.link.shm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.sharing.Neighbours;

/// The events of neighbours that a link has for their listener, in the order in which they happened. The listener
/// gets them between two calls of the link, so that the listener may call the link.
///
/// For one thread at a time, except where a method allows any thread.
final class NeighbourNews {
    private final ArrayDeque<Runnable> news = new ArrayDeque<>();
    /// Whether there are any. The sleeping thread reads it.
    private volatile boolean isThere;

    Neighbours.Listener listener = new Unheard();

    /// The listener where there is no other.
    private static final class Unheard implements Neighbours.Listener {
        @Override
        public void onTold(int slot, MemorySegment told, int descriptor) {
            LinuxSockets.close(descriptor);
        }

        @Override
        public void onDying(int slot) {}

        @Override
        public void onGone(int slot) {}
    }

    /// Adds a message of a neighbour.
    ///
    /// @param told a copy
    void told(int slot, MemorySegment told, int descriptor) {
        add(() -> listener.onTold(slot, told, descriptor));
    }

    /// Adds the event that the process of a neighbour has begun to die.
    void dying(int slot) {
        add(() -> listener.onDying(slot));
    }

    /// Adds the event that a neighbour has gone; its memory is unmapped when the listener knows.
    void gone(int slot, ShmNeighbour neighbour) {
        add(() -> {
            listener.onGone(slot);
            neighbour.close();
        });
    }

    private void add(Runnable tell) {
        news.add(tell);
        isThere = true;
    }

    /// Returns whether there are events for the listener. Any thread.
    boolean isThere() {
        return isThere;
    }

    /// Calls the listener for each event; returns the number of events.
    int tell() {
        if (!isThere) {
            return 0;
        }
        isThere = false;
        int told = 0;
        for (Runnable next = news.poll(); next != null; next = news.poll()) {
            next.run();
            told++;
        }
        return told;
    }

    /// Drops the events that the listener has not had yet, with memory and descriptors.
    void drop() {
        listener = new Unheard();
        int _ = tell();
    }
}
