package verbena.nic.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.foreign.linux.SleepTimer;

/// How a thread sleeps in a [ShmLink]: it asks the writers of all rings to ring the bell, looks once more whether there
/// is something, and polls the bell, a timer and the sockets.
///
/// For the sleeping thread, except where a method allows another.
final class ShmSleep {
    /// How many descriptors are polled.
    private static final int POLLED = 3;

    private static final int BELL = 0;
    private static final int TIMER = 1;
    private static final int SOCKETS = 2;
    /// How long to wait before the next try when the process has no descriptor left for a new connection.
    private static final long STUCK_NANOS = 100_000_000;

    private final Occupancy occupancy;
    private final WakeSignal signal = new WakeSignal();
    private final EventCounter bell;
    private final SleepTimer timer;
    private final MemorySegment pollfds;
    /// Whether the sleeping thread has seen that a socket has something.
    private volatile boolean isRung;

    /// @param arena to be closed after this
    ShmSleep(LinuxSockets linux, Arena arena, Occupancy occupancy) {
        this.occupancy = occupancy;
        bell = new EventCounter(linux, arena);
        timer = new SleepTimer(linux, arena);
        pollfds = arena.allocate(POLLED * Pollfd.BYTES, 8);
        if (bell.fd() < 0 || timer.fd() < 0) {
            int error = Math.min(bell.fd(), timer.fd());
            close();
            throw SocketFailure.of(bell.fd() < 0 ? "eventfd" : "timerfd", -error);
        }
    }

    /// The descriptor of the event counter that ends a sleep, for neighbours. Any thread.
    int bell() {
        return bell.fd();
    }

    MemorySegment pollfds() {
        return pollfds;
    }

    /// Begins a sleep as [Carrier#fallAsleep] says.
    int begin(long timeoutNanos, ShmNeighbours neighbours, FrameRing self, Services services) {
        Occupancy.Stay stay = occupancy.sleep();
        if (stay == null) {
            return 0;
        }
        boolean isAsleep = false;
        try {
            if (signal.sleep()) {
                isAsleep = timeoutNanos != 0 && prepare(timeoutNanos, neighbours, self, services);
                if (!isAsleep) {
                    tellWriters(neighbours, false);
                    signal.awake();
                }
            }
        } finally {
            if (!isAsleep) {
                stay.close();
            }
        }
        return isAsleep ? POLLED : 0;
    }

    /// Asks neighbours to wake this link; false when there are frames, or a request that waits is due.
    private boolean prepare(long asked, ShmNeighbours neighbours, FrameRing self, Services services) {
        boolean isStuck = neighbours.isStuck();
        long timeoutNanos = isStuck ? sooner(asked, STUCK_NANOS) : asked;
        if (services.due() != Long.MAX_VALUE) {
            timeoutNanos = sooner(timeoutNanos, Math.max(0, services.due() - System.nanoTime()));
        }
        if (timeoutNanos == 0 || neighbours.news.isThere() || !tellWriters(neighbours, true)) {
            return false;
        }
        VarHandle.fullFence(); // a writer adds a frame and then looks, this thread the other way round
        if (self.hasRecords() || hasRecords(neighbours)) {
            return false;
        }
        if (timeoutNanos > 0) {
            timer.set(System.nanoTime(), timeoutNanos);
        }
        Pollfds.watch(pollfds, BELL, bell.fd(), LinuxAbi.POLLIN);
        Pollfds.watch(pollfds, TIMER, timer.fd(), LinuxAbi.POLLIN);
        Pollfds.watch(pollfds, SOCKETS, isStuck ? -1 : neighbours.watcher(), LinuxAbi.POLLIN);
        return true;
    }

    /// The shorter of two times, of which the first may be negative for ever.
    private static long sooner(long timeoutNanos, long other) {
        return timeoutNanos < 0 ? other : Math.min(timeoutNanos, other);
    }

    /// False when a neighbour has gone this moment; the others ring once more than they would have to.
    private static boolean tellWriters(ShmNeighbours neighbours, boolean sleeps) {
        try {
            for (ShmNeighbour neighbour : neighbours.heard()) {
                FrameRing ring = neighbour.incoming;
                if (ring != null && sleeps) {
                    ring.sleep();
                } else if (ring != null) {
                    ring.awake();
                }
            }
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private static boolean hasRecords(ShmNeighbours neighbours) {
        try {
            for (ShmNeighbour neighbour : neighbours.heard()) {
                FrameRing ring = neighbour.incoming;
                if (ring != null && ring.hasRecords()) {
                    return true;
                }
            }
            return false;
        } catch (IllegalStateException e) {
            return true; // a neighbour has gone this moment
        }
    }

    /// Ends a sleep that [#begin] has begun.
    void end(ShmNeighbours neighbours) {
        boolean _ = tellWriters(neighbours, false);
        if (Pollfds.isReadable(pollfds, BELL)) {
            bell.clear();
        }
        if (Pollfds.isReadable(pollfds, TIMER)) {
            timer.clear();
        }
        if (Pollfds.isReadable(pollfds, SOCKETS)) {
            isRung = true;
        }
        signal.awake();
        occupancy.endSleep();
    }

    /// Whether a socket has something. Any thread.
    boolean isRung() {
        return isRung;
    }

    /// The sockets are about to be looked at. The thread that receives.
    void answer() {
        isRung = false;
    }

    /// As [Carrier#wakeup()]. Any thread.
    void wakeup() {
        if (signal.raise()) {
            ring();
        }
    }

    /// Ends a sleep in any case. Any thread.
    void ring() {
        bell.ring();
    }

    void close() {
        bell.close();
        timer.close();
    }
}
