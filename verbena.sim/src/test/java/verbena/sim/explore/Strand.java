package verbena.sim.explore;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Code in a [SmallWorld] that other steps come in between, because it waits, or because an end may be late in the
/// middle of it. It stands still where [#pause] is called, by a seam of what is explored, until a step lets it
/// [go on][#goOn]. Its thread and that of the world never run at once, so worlds stay the same each time. Both are
/// virtual ([Explorer] sees to that), and so a step between them costs the system nothing.
///
/// What it has in local variables is not part of the state: where it [stands][#at], and the fields of all objects,
/// have to tell.
public final class Strand implements AutoCloseable {
    /// Ends the code of a strand whose world is closed.
    private static final class Over extends Error {
        private static final long serialVersionUID = 1;

        Over() {
            super("the world is over", null, false, false);
        }
    }

    private final Thread world = Thread.currentThread();
    private @Nullable Thread own;
    private @Nullable String at;
    private boolean isOver;
    private @Nullable Throwable failure;
    /// Whether it runs. The world's thread writes true, its own false.
    private volatile boolean runs;

    /// Begins, and runs until it is done or stands still.
    public void begin(Runnable code) {
        if (isUnderWay()) {
            throw new IllegalStateException("it is under way at " + at);
        }
        runs = true;
        own = Thread.ofVirtual().unstarted(() -> run(code));
        own.start();
        await();
    }

    private void run(Runnable code) {
        try {
            code.run();
        } catch (Over _) {
            // its world is closed
        } catch (Throwable e) {
            failure = e;
        }
        at = null;
        handOver();
    }

    /// Whether it runs in this thread.
    public boolean is(@Nullable Thread thread) {
        return thread == own;
    }

    /// Whether it has begun and is not done.
    public boolean isUnderWay() {
        return at != null;
    }

    /// Where it stands; an empty word when it is not under way.
    public String at() {
        return at == null ? "" : at;
    }

    /// Goes on until it is done or stands still again.
    public void goOn() {
        runs = true;
        LockSupport.unpark(own);
        await();
    }

    /// Stands still. Called by its code; other threads go on.
    public void pause(String where) {
        if (Thread.currentThread() != own) {
            return;
        }
        at = where;
        handOver();
        while (!runs) {
            LockSupport.park(this);
        }
        if (isOver) {
            throw new Over();
        }
    }

    private void handOver() {
        runs = false;
        LockSupport.unpark(world);
    }

    private void await() {
        while (runs) {
            LockSupport.park(this);
        }
        if (failure != null) {
            throw new AssertionError(failure);
        }
    }

    /// Its code goes no further.
    @Override
    public void close() {
        if (isUnderWay()) {
            isOver = true;
            goOn();
        }
    }
}
