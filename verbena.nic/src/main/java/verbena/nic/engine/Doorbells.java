package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The queue pairs that were posted on since the engine's owner last looked. Any thread rings; the owner takes.
final class Doorbells {
    private static final VarHandle NEWEST;

    static {
        try {
            NEWEST = MethodHandles.lookup().findVarHandle(Doorbells.class, "newest", Station.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// Linked by [Station#nextRung].
    @SuppressWarnings("UnusedVariable") // by VarHandle
    private @Nullable Station newest;

    /// Only the first ring since the last answer links the queue pair; the answer comes before the look at what was
    /// posted ([Station#answer]).
    void ring(Station station) {
        if (!station.ring()) {
            return;
        }
        Station head;
        do {
            head = (Station) NEWEST.getVolatile(this);
            station.nextRung = head;
        } while (!NEWEST.compareAndSet(this, head, station));
    }

    boolean isEmpty() {
        return NEWEST.getVolatile(this) == null;
    }

    /// The same, as a hint: a ring may be seen late.
    boolean seemsEmpty() {
        return NEWEST.getOpaque(this) == null;
    }

    /// Takes all of them: the oldest, which leads to the others by [Station#nextRung]. Turns are given in the order of
    /// the doorbells. Null: none has rung.
    @Nullable
    Station take() {
        if (isEmpty()) {
            return null;
        }
        Station station = (Station) NEWEST.getAndSet(this, null);
        Station oldest = null;
        while (station != null) {
            Station next = station.nextRung;
            station.nextRung = oldest;
            oldest = station;
            station = next;
        }
        return oldest;
    }
}
