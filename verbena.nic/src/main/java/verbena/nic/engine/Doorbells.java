package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The queue pairs that threads have posted on since the engine's owner last looked. Any thread rings; the owner
/// takes.
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

    /// Links the queue pair to the list if this is the first ring since the last [EngineTask#answer]. The owner
    /// answers before it looks for posted requests.
    void ring(EngineTask task) {
        if (!task.ring()) {
            return;
        }
        EngineTask head;
        do {
            head = (EngineTask) NEWEST.getVolatile(this);
            task.nextRung = head;
        } while (!NEWEST.compareAndSet(this, head, task));
    }

    boolean isEmpty() {
        return NEWEST.getVolatile(this) == null;
    }

    /// Returns whether the list is empty, as a hint: a ring may be seen late.
    boolean seemsEmpty() {
        return NEWEST.getOpaque(this) == null;
    }

    /// Takes the whole list and returns its oldest task, or null when no doorbell has rung. [EngineTask#nextRung]
    /// leads to the others, so that tasks take turns in the order of their doorbells.
    @Nullable
    EngineTask take() {
        if (isEmpty()) {
            return null;
        }
        EngineTask task = (EngineTask) NEWEST.getAndSet(this, null);
        EngineTask oldest = null;
        while (task != null) {
            EngineTask next = task.nextRung;
            task.nextRung = oldest;
            oldest = task;
            task = next;
        }
        return oldest;
    }
}
