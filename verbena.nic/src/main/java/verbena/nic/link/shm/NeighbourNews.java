package verbena.nic.link.shm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.sharing.Neighbours;

/// What a link has to tell the listener of its neighbours, in the order in which it happened. Told between two calls of
/// the link, so that the listener may call the link.
///
/// For one thread at a time, except where a method allows any thread.
final class NeighbourNews {
    private final ArrayDeque<Runnable> news = new ArrayDeque<>();
    /// Whether there are any. The sleeping thread reads it.
    private volatile boolean isThere;

    Neighbours.Listener listener = new Unheard();

    /// Listens where no other does.
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

    /// A neighbour has told something.
    ///
    /// @param told a copy
    void told(int slot, MemorySegment told, int descriptor) {
        add(() -> listener.onTold(slot, told, descriptor));
    }

    /// The process of a neighbour has begun to die.
    void dying(int slot) {
        add(() -> listener.onDying(slot));
    }

    /// A neighbour has gone; its memory goes when the listener knows.
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

    /// Whether the listener has to be told something. Any thread.
    boolean isThere() {
        return isThere;
    }

    /// Tells the listener; returns how much there was.
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

    /// Drops what the listener has not been told, with memory and descriptors.
    void drop() {
        listener = new Unheard();
        int _ = tell();
    }
}
