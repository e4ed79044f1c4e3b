package verbena.nic.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;
import verbena.foreign.linux.LinuxSockets;

/// The base of links whose thread sleeps by poll(2) ([PolledSleep]). A link has to name the events that end a sleep
/// ([#lastLook]) and the memory and descriptors that it holds ([#release()]). Linux only.
public abstract class PolledLink implements Link {
    protected final Occupancy occupancy = new Occupancy();
    protected final Arena arena = Arena.ofShared();
    protected final LinuxSockets linux = new LinuxSockets(arena);
    protected final PolledSleep sleep;
    private final LongUnaryOperator look = this::lastLook;

    /// @param watchedMax how many descriptors a thread that sleeps watches, at most
    /// @throws LinkException when the system gives no descriptor
    protected PolledLink(int watchedMax) {
        boolean isReady = false;
        try {
            sleep = new PolledSleep(linux, arena, occupancy, watchedMax);
            isReady = true;
        } finally {
            if (!isReady) {
                arena.close();
            }
        }
    }

    /// Looks for the last time before a sleep, as [PolledSleep#begin] requires. The thread that sleeps.
    protected abstract long lastLook(long timeoutNanos);

    /// Notes what has ended a sleep ([PolledSleep#isReadable]). The thread that sleeps.
    protected void afterSleep() {}

    /// Gives back what the link holds. Called once, when no thread uses it any more.
    protected abstract void release();

    @Override
    public final void await(long timeoutNanos) {
        PolledSleep.await(this, timeoutNanos);
    }

    @Override
    public final boolean canBePolled() {
        return true;
    }

    @Override
    public final MemorySegment pollfds() {
        return sleep.pollfds();
    }

    @Override
    public final int fallAsleep(long timeoutNanos) {
        return sleep.begin(timeoutNanos, look);
    }

    @Override
    public final void awake() {
        afterSleep();
        sleep.end();
    }

    @Override
    public final void wakeup() {
        sleep.wakeup();
    }

    /// Implements [Carrier#close()]; returns when the sleeping thread has left, and everything is released.
    @Override
    public final void close() {
        if (occupancy.close(sleep::ring)) {
            release();
            free();
        }
    }

    /// Frees what this class holds: the end of a link that could not be opened.
    protected final void free() {
        sleep.close();
        arena.close();
    }
}
