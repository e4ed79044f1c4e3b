package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The queue pairs that were posted on since the engine's owner last looked. Any thread rings; the owner takes.
final class Doorbells {
    private static final VarHandle NEWEST;

    static {
        try {
            NEWEST = MethodHandles.lookup().findVarHandle(Doorbells.class, "newest", EngineTask.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// Linked by [EngineTask#nextRung].
    @SuppressWarnings("UnusedVariable") // by VarHandle
    private @Nullable EngineTask newest;

    /// Only the first ring since the last answer links the queue pair; the answer comes before the look at what was
    /// posted ([EngineTask#answer]).
    void ring(EngineTask station) {
        if (!station.ring()) {
            return;
        }
        EngineTask head;
        do {
            head = (EngineTask) NEWEST.getVolatile(this);
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

    /// Takes all of them: the oldest, which leads to the others by [EngineTask#nextRung]. Turns are given in the order
    /// of
    /// the doorbells. Null: none has rung.
    @Nullable
    EngineTask take() {
        if (isEmpty()) {
            return null;
        }
        EngineTask station = (EngineTask) NEWEST.getAndSet(this, null);
        EngineTask oldest = null;
        while (station != null) {
            EngineTask next = station.nextRung;
            station.nextRung = oldest;
            oldest = station;
            station = next;
        }
        return oldest;
    }
}
