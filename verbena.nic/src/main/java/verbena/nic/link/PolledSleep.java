package verbena.nic.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongUnaryOperator;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.foreign.linux.SleepTimer;

/// The sleep of a thread in a link by poll(2): the events that end it, and the proof that no wake-up is lost.
///
/// # Why no wake-up is lost
///
/// Before a sleep, the sleeper announces it, and then the link looks for the last time whether there is something to
/// do. Four things end a sleep, and each is remembered for a sleeper that does not sleep yet:
///
/// - **[#wakeup()]**: [WakeSignal] has the proof. It rings the bell, whose event counter is readable until [#end()].
/// - **A descriptor that the link watches, and the timer.** poll(2) looks at them itself before it sleeps, and they
///   are readable until they are read.
/// - **A neighbour that writes to memory.** The link asks it to ring the bell, and then looks at the memory. The
///   neighbour writes, and then looks whether it was asked. There is a full fence between the two steps on both
/// sides, so at least one of them sees the other.
/// - **The end of the link**: [Occupancy#close] rings until the sleeper has left.
///
/// [#end()] takes rings back, and then notes that the sleeper is awake. A thread that rings has made its work
/// visible before, and the sleeper looks for work after [#end()]. So a ring that is taken back was heard. A ring
/// that comes after that stays, and ends the next sleep early.
///
/// For the sleeping thread, except where a method allows another.
public final class PolledSleep {
    private static final int BELL = 0;
    private static final int TIMER = 1;
    private static final int OWN = 2;

    private final Occupancy occupancy;
    private final WakeSignal signal = new WakeSignal();
    private final EventCounter bell;
    private final SleepTimer timer;
    /// The bell, the timer, and then what the link watches.
    private final MemorySegment pollfds;

    private int polled = OWN;

    /// @param arena to be closed after this
    /// @param watchedMax how many descriptors the link watches at most
    /// @throws LinkException when the system gives no descriptor
    PolledSleep(LinuxSockets linux, Arena arena, Occupancy occupancy, int watchedMax) {
        this.occupancy = occupancy;
        bell = new EventCounter(linux, arena);
        timer = new SleepTimer(linux, arena);
        pollfds = arena.allocate((OWN + (long) watchedMax) * Pollfd.BYTES, 8);
        if (bell.fd() < 0 || timer.fd() < 0) {
            int error = Math.min(bell.fd(), timer.fd());
            close();
            throw SocketFailure.of(bell.fd() < 0 ? "eventfd" : "timerfd", -error);
        }
    }

    /// Returns the descriptor of the bell, for neighbours that ring it. Any thread.
    public int bell() {
        return bell.fd();
    }

    MemorySegment pollfds() {
        return pollfds;
    }

    /// Sleeps as [Carrier#await(long)] does, in a carrier that can be polled.
    static void await(Carrier carrier, long timeoutNanos) {
        int count = carrier.fallAsleep(timeoutNanos);
        if (count == 0) {
            return;
        }
        try {
            // A signal may end the poll: the sleep may end early.
            int _ = LinuxSockets.poll(carrier.pollfds(), count, MemorySegment.NULL);
        } finally {
            carrier.awake();
        }
    }

    /// Begins a sleep as [Carrier#fallAsleep] does.
    ///
    /// @param lastLook looks whether there is something to do, and names what ends the sleep ([#watch]); takes the
    ///     time to sleep, which is negative for ever, and returns the time to sleep, 0 for not at all
    int begin(long timeoutNanos, LongUnaryOperator lastLook) {
        Occupancy.Stay stay = occupancy.sleep();
        if (stay == null) {
            return 0;
        }
        boolean isAsleep = false;
        try {
            isAsleep = signal.sleep() && prepare(timeoutNanos, lastLook);
        } finally {
            if (!isAsleep) {
                stay.close();
            }
        }
        return isAsleep ? polled : 0;
    }

    private boolean prepare(long askedNanos, LongUnaryOperator lastLook) {
        polled = OWN;
        long nanos = 0;
        try {
            nanos = askedNanos == 0 ? 0 : lastLook.applyAsLong(askedNanos);
        } finally {
            if (nanos == 0) {
                signal.awake();
            }
        }
        if (nanos > 0) {
            timer.set(System.nanoTime(), nanos);
        }
        Pollfds.watch(pollfds, BELL, bell.fd(), LinuxAbi.POLLIN);
        Pollfds.watch(pollfds, TIMER, timer.fd(), LinuxAbi.POLLIN);
        return nanos != 0;
    }

    /// Adds a descriptor that ends the sleep which begins, in a last look.
    ///
    /// @param fd negative for none
    /// @param events `POLLIN`, or `POLLIN | POLLOUT`
    public void watch(int fd, int events) {
        Pollfds.watch(pollfds, polled++, fd, events);
    }

    /// Returns whether poll(2) has found a descriptor worth a look, before [#end()].
    ///
    /// @param watched its number in the order of [#watch], from 0
    public boolean isReadable(int watched) {
        return Pollfds.isReadable(pollfds, OWN + watched);
    }

    /// Ends a sleep that [#begin] has begun.
    void end() {
        if (Pollfds.isReadable(pollfds, BELL)) {
            bell.clear();
        }
        if (Pollfds.isReadable(pollfds, TIMER)) {
            timer.clear();
        }
        signal.awake();
        occupancy.endSleep();
    }

    /// Ends the sleep, as [Carrier#wakeup()]. Any thread.
    public void wakeup() {
        if (signal.raise()) {
            bell.ring();
        }
    }

    /// Ends a sleep in any case. Any thread.
    public void ring() {
        bell.ring();
    }

    void close() {
        bell.close();
        timer.close();
    }
}
