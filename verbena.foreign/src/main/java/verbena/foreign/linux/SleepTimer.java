package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.linux.LinuxAbi.Itimerspec;

/// A timerfd(2) that ends the sleep of the thread that polls it. It stays set from one sleep to the next.
///
/// A timeout in the system call would be set and taken back in each sleep. The kernel then programs the clock of its
/// processor twice, if the timeout is shorter than its tick. On a virtual machine that costs more than all the rest
/// of the sleep: 3 µs on the guest that it was measured on. But a program that exchanges messages hardly ever
/// sleeps until a deadline, because deadlines move with every message.
///
/// For the sleeper only.
public final class SleepTimer {
    /// A sleep may last so much too long.
    public static final long LATE_NANOS = 20_000;
    /// A time that is set serves as long as this part of the sleep is left before it: so it is set anew before it
    /// ends a sleep in vain.
    public static final int PART = 4;

    private static final int NANOS_PER_SECOND = 1_000_000_000;

    private final int fd;
    private final MemorySegment time;
    private final MemorySegment scratch;
    private boolean isSet;
    private long setNanos;

    /// @param arena to be closed after this
    public SleepTimer(LinuxSockets linux, Arena arena) {
        fd = linux.timer();
        time = arena.allocate(Itimerspec.BYTES, 8);
        scratch = arena.allocate(JAVA_LONG);
    }

    /// Returns the descriptor to poll; negative, the system's error, when it could not be had.
    public int fd() {
        return fd;
    }

    /// Ends a sleep that begins now, after `timeoutNanos` or before.
    public void set(long now, long timeoutNanos) {
        if (serves(isSet, setNanos - now, timeoutNanos)) {
            return;
        }
        time.set(JAVA_LONG, Itimerspec.IT_VALUE, timeoutNanos / NANOS_PER_SECOND);
        time.set(JAVA_LONG, Itimerspec.IT_VALUE + Long.BYTES, timeoutNanos % NANOS_PER_SECOND);
        LinuxSockets.setTimer(fd, time);
        isSet = true;
        setNanos = now + timeoutNanos;
    }

    /// Returns whether a timer that is set to end a sleep `left` nanoseconds from now need not be set to
    /// `timeoutNanos`.
    public static boolean serves(boolean isSet, long left, long timeoutNanos) {
        return isSet && left > 0 && left <= timeoutNanos + LATE_NANOS && left >= timeoutNanos / PART;
    }

    /// Clears the timer, which has ended a sleep.
    public void clear() {
        isSet = false;
        LinuxSockets.clearEventCounter(fd, scratch); // a timer that ran out is read as an event counter is
    }

    public void close() {
        if (fd >= 0) {
            LinuxSockets.close(fd);
        }
    }
}
