package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.foreign.SystemFunction;

/// A signal to other processes that this process is about to end, before the kernel has freed its memory.
///
/// A process that dies loses its memory first and its descriptors last. With the memory of a JVM, that takes
/// tens of milliseconds, and for so long a socket at the other end shows nothing. But descriptors belong to
/// threads: a thread can have a table of its own (close_range(2), `CLOSE_RANGE_UNSHARE`), and a dying thread
/// closes it without waiting for the others. So one thread here sleeps for ever, and its table has one
/// descriptor: the writing end of a pipe. Other processes have the reading end, which hangs up when that thread
/// ends, in any way.
///
/// The other threads of the process may still run then, for some microseconds.
public final class Lifeline {
    private static final int NONE = -1;
    private static final int STACK_BYTES = 64 << 10;

    private static final class Holder {
        static final int DESCRIPTOR = new Lifeline().open();
    }

    private final SystemFunction syscall = SystemFunction.named("syscall");
    private final MemorySegment state = Arena.global().allocate(Linker.Option.captureStateLayout());
    /// Whether the thread holds the writing end, and that only; null before it knows.
    private volatile @Nullable Boolean isHeld;

    private Lifeline() {}

    /// Returns the reading end, for other processes; it stays open. The first call makes it. Negative when this
    /// system gives none: Linux before 5.9, or no right to the calls.
    public static int descriptor() {
        return Holder.DESCRIPTOR;
    }

    private int open() {
        MemorySegment ends = Arena.global().allocate(JAVA_INT, 2);
        if (SystemFunction.named("pipe2").tryCall(state, ends.address(), LinuxAbi.O_CLOEXEC, 0) < 0) {
            return NONE;
        }
        int reading = ends.getAtIndex(JAVA_INT, 0);
        int writing = ends.getAtIndex(JAVA_INT, 1);
        Thread opener = Thread.currentThread();
        Thread holder = new Thread(null, () -> hold(writing, opener), "verbena-lifeline", STACK_BYTES);
        holder.setDaemon(true);
        holder.start();
        while (isHeld == null) {
            LockSupport.park(this);
        }
        LinuxSockets.close(writing);
        if (Boolean.TRUE.equals(isHeld)) {
            return reading;
        }
        LinuxSockets.close(reading);
        return NONE;
    }

    /// Holds the writing end. Nothing that runs here after the first call may need a descriptor, of a class file
    /// for example.
    private void hold(int writing, Thread opener) {
        boolean held = closeRange(writing + 1, -1, LinuxAbi.CLOSE_RANGE_UNSHARE)
                && (writing == 0 || closeRange(0, writing - 1, 0));
        isHeld = held;
        LockSupport.unpark(opener);
        while (held) {
            LockSupport.park(this);
        }
    }

    /// Calls close_range by its number, because older C libraries have no function for it.
    private boolean closeRange(int first, int last, int flags) {
        return syscall.tryCall(state, LinuxAbi.SYS_CLOSE_RANGE, first, last, flags, 0) >= 0;
    }
}
