package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The record of the thread that owns the engine: one at a time, for one piece of work at a time. Any thread may
/// try.
///
/// The next owner sees everything that an owner wrote. No thread waits here for the ownership: it leaves its work
/// where the owner finds it ([Driver]).
final class Ownership {
    private static final VarHandle OWNER;
    private static final VarHandle TURNS;

    static {
        try {
            var lookup = MethodHandles.lookup();
            OWNER = lookup.findVarHandle(Ownership.class, "owner", Thread.class);
            TURNS = lookup.findVarHandle(Ownership.class, "turns", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// The owner of an engine that is closed, for ever.
    private static final Thread NO_THREAD = Thread.ofPlatform().unstarted(() -> {});

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private volatile @Nullable Thread owner;

    /// The number of times that the engine was owned. Written by owners only.
    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long turns;

    /// Makes the caller the owner, unless a thread owns the engine already. Not called by the owner.
    boolean tryOwn() {
        return OWNER.getVolatile(this) == null && OWNER.compareAndSet(this, null, Thread.currentThread());
    }

    /// Gives the ownership back.
    void disown() {
        assert isMine() : "only the owner gives the ownership back";
        OWNER.setVolatile(this, null);
    }

    /// Returns whether the caller owns the engine.
    boolean isMine() {
        return OWNER.getOpaque(this) == Thread.currentThread();
    }

    /// Ends the ownership: no thread owns the engine from now on. False while a thread still owns it.
    boolean tryEnd() {
        return OWNER.compareAndSet(this, null, NO_THREAD) || isOver();
    }

    /// Returns whether the engine is closed, and its last owner has finished.
    boolean isOver() {
        return OWNER.getVolatile(this) == NO_THREAD;
    }

    /// Returns how many pieces of work owners have begun.
    long turns() {
        return (long) TURNS.getVolatile(this);
    }

    /// Counts a piece of work that the owner begins; [Driver] describes what this number proves. All threads agree
    /// that it comes before [#disown()].
    void countTurn() {
        assert isMine() : "only the owner works";
        TURNS.setRelease(this, (long) TURNS.get(this) + 1); // only owners write
    }
}
