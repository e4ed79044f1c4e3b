package verbena.nic.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.foreign.linux.SleepTimer;

/// How a thread sleeps in an [EthernetLink]: it polls the wire, the resolver's news, a bell and a timer.
///
/// For the sleeping thread, except where a method allows another.
final class EthernetSleep {
    private static final int POLLED = 4;
    private static final int WIRE = 0;
    private static final int NEWS = 1;
    private static final int BELL = 2;
    private static final int TIMER = 3;

    private final Occupancy occupancy;
    private final WakeSignal signal = new WakeSignal();
    private final EventCounter bell;
    private final SleepTimer timer;
    private final MemorySegment pollfds;
    private volatile boolean hasNews;

    /// @param arena to be closed after this
    EthernetSleep(LinuxSockets linux, Arena arena, Occupancy occupancy) {
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

    MemorySegment pollfds() {
        return pollfds;
    }

    /// Begins a sleep as [Carrier#fallAsleep] says.
    ///
    /// @param self what this link has sent to itself
    int begin(long timeoutNanos, Wire wire, Resolver resolver, FrameRing self) {
        Occupancy.Stay stay = occupancy.sleep();
        if (stay == null) {
            return 0;
        }
        boolean isAsleep = false;
        try {
            if (signal.sleep()) {
                isAsleep = timeoutNanos != 0 && !self.hasRecords();
                if (isAsleep) {
                    prepare(timeoutNanos, wire, resolver);
                } else {
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

    private void prepare(long timeoutNanos, Wire wire, Resolver resolver) {
        if (timeoutNanos > 0) {
            timer.set(System.nanoTime(), timeoutNanos);
        }
        int events = wire.wasFull() ? LinuxAbi.POLLIN | LinuxAbi.POLLOUT : LinuxAbi.POLLIN;
        Pollfds.watch(pollfds, WIRE, wire.descriptor(), events);
        Pollfds.watch(pollfds, NEWS, resolver.descriptor(), LinuxAbi.POLLIN);
        Pollfds.watch(pollfds, BELL, bell.fd(), LinuxAbi.POLLIN);
        Pollfds.watch(pollfds, TIMER, timer.fd(), LinuxAbi.POLLIN);
    }

    /// Ends a sleep that [#begin] has begun.
    void end() {
        if (Pollfds.isReadable(pollfds, NEWS)) {
            hasNews = true;
        }
        if (Pollfds.isReadable(pollfds, BELL)) {
            bell.clear();
        }
        if (Pollfds.isReadable(pollfds, TIMER)) {
            timer.clear();
        }
        signal.awake();
        occupancy.endSleep();
    }

    /// Whether the resolver has news, which the caller looks at now. The thread that receives.
    boolean takeNews() {
        if (!hasNews) {
            return false;
        }
        hasNews = false; // before the look: later news set it again
        return true;
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
