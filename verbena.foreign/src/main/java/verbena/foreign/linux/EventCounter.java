package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An eventfd(2): ends the sleep of a thread that polls it.
public final class EventCounter {
    private final int fd;
    private final MemorySegment one;
    /// The sleeper's.
    private final MemorySegment scratch;
    private boolean open; // under the lock

    /// @param arena to be closed after this
    public EventCounter(LinuxSockets linux, Arena arena) {
        fd = linux.eventCounter();
        open = fd >= 0;
        one = arena.allocate(JAVA_LONG);
        one.set(JAVA_LONG, 0, 1);
        scratch = arena.allocate(JAVA_LONG);
    }

    /// Returns the descriptor to poll; negative, the system's error, when it could not be had.
    public int fd() {
        return fd;
    }

    /// Rings the counter. Any thread, also after [#close()]: the lock keeps the descriptor from being closed, and
    /// its number used again, during the call.
    public synchronized void ring() {
        if (open) {
            LinuxSockets.addToEventCounter(fd, one);
        }
    }

    /// Clears the counter, for a sleeper that was woken.
    public void clear() {
        LinuxSockets.clearEventCounter(fd, scratch);
    }

    public synchronized void close() {
        if (open) {
            open = false;
            LinuxSockets.close(fd);
        }
    }
}
