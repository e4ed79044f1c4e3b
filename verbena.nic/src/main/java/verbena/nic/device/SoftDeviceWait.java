package verbena.nic.device;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.nic.engine.SpinPolicy;
import verbena.verbs.internal.DeviceWait;

/// A waiter that visits an engine ([Engine#visit]), and sleeps by a poll(2) that watches further descriptors.
final class SoftDeviceWait implements DeviceWait {
    /// The number of descriptors that a link and a program may watch, each.
    private static final int WATCHED_MAX = 64;

    private final Engines engines;
    private final BooleanSupplier isOver;
    private final SpinPolicy policy = new SpinPolicy();
    private final MemorySegment linkFds;
    /// The entries of the link, and behind them the entries of the program.
    private final MemorySegment pollfds;

    private final MemorySegment timeout;
    private final int[] fds = new int[WATCHED_MAX];
    private final int[] events = new int[WATCHED_MAX];
    private int watched;
    private boolean isReady;

    SoftDeviceWait(Engines engines, BooleanSupplier isOver) {
        this.engines = engines;
        this.isOver = isOver;
        Arena arena = Arena.ofAuto();
        pollfds = arena.allocate(2L * WATCHED_MAX * Pollfd.BYTES, 8);
        linkFds = pollfds.asSlice(0, (long) WATCHED_MAX * Pollfd.BYTES);
        timeout = arena.allocate(Timespec.BYTES, 8);
    }

    @Override
    public boolean watch(int fd, int wanted) {
        if (watched == WATCHED_MAX) {
            return false;
        }
        fds[watched] = fd;
        events[watched++] = wanted;
        return true;
    }

    @Override
    public void watchNone() {
        watched = 0;
    }

    @Override
    public boolean isReady() {
        return isReady;
    }

    @Override
    public boolean await(long nanos) {
        isReady = false;
        if (engines.all().size() > 1) {
            return false; // it could sleep in one link only
        }
        Engine engine = engines.first();
        long start = System.nanoTime();
        policy.begin(start);
        if (policy.looks()) {
            engine.look(policy, isOver, start, nanos);
        }
        boolean done = isOver.getAsBoolean() || sleep(engine, start, nanos);
        policy.end(System.nanoTime());
        return done;
    }

    private boolean sleep(Engine engine, long start, long nanos) {
        int count = engine.visit(isOver, linkFds);
        while (count > 0) {
            for (int i = 0; i < watched; i++) {
                Pollfds.watch(pollfds, count + i, fds[i], events[i]);
            }
            int found = LinuxSockets.poll(pollfds, count + watched, left(start, nanos));
            isReady = found > 0 && isReady(count);
            if (found == 0 || isReady) {
                engine.endVisit();
                return true;
            }
            count = engine.visit(isOver, linkFds); // a signal may have ended the poll: nothing is ready then
        }
        return count == 0 || isOver.getAsBoolean(); // what it waits for may have come while it waited for the place
    }

    private MemorySegment left(long start, long nanos) {
        if (nanos == Long.MAX_VALUE) {
            return MemorySegment.NULL;
        }
        long left = Math.max(0, nanos - (System.nanoTime() - start));
        timeout.set(JAVA_LONG, Timespec.TV_SEC, TimeUnit.NANOSECONDS.toSeconds(left));
        timeout.set(JAVA_LONG, Timespec.TV_NSEC, left % TimeUnit.SECONDS.toNanos(1));
        return timeout;
    }

    private boolean isReady(int from) {
        for (int i = from; i < from + watched; i++) {
            if (Pollfds.hasResult(pollfds, i)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void beginElsewhere() {
        engines.parked(1);
    }

    @Override
    public void endElsewhere() {
        engines.parked(-1);
    }

    @Override
    public void wake() {
        engines.first().wakeGuest();
    }
}
