package verbena.tools.weak;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The timers of virtual threads: a thread that sleeps, or waits with a time limit, goes on at a time of their clock.
/// They belong to the thread that runs the virtual threads.
final class VirtualTimers extends ScheduledThreadPoolExecutor {
    /// The time that does not come.
    static final long NEVER = Long.MAX_VALUE;

    private static final long LONGEST_NANOS = TimeUnit.DAYS.toNanos(1);

    private final LongSupplier clock;
    private final Queue<Timer> timers = new PriorityQueue<>();
    private long number;

    VirtualTimers(LongSupplier clock) {
        super(0);
        this.clock = clock;
    }

    /// Has the JDK use these timers for virtual threads whose scheduler is none of its own.
    void install() {
        try {
            Field field = Class.forName("java.lang.VirtualThread$DelayedTaskSchedulers")
                    .getDeclaredField("INSTANCE");
            field.setAccessible(true);
            Arrays.fill((Object[]) field.get(null), this);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the JDK has changed", e);
        }
    }

    /// Returns the time of the next timer; [#NEVER] when there is none.
    long nextNanos() {
        Timer next = timers.peek();
        return next == null ? NEVER : next.nanos;
    }

    /// Runs the timers whose time has come.
    void runDue() {
        while (nextNanos() <= clock.getAsLong()) {
            timers.remove().run();
        }
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        long nanos = unit.toNanos(delay);
        var timer = new Timer(task, nanos > LONGEST_NANOS ? NEVER : clock.getAsLong() + nanos);
        timers.add(timer);
        return timer;
    }

    private final class Timer extends FutureTask<@Nullable Void> implements ScheduledFuture<@Nullable Void> {
        private final long nanos;
        private final long order = number++;

        Timer(Runnable task, long nanos) {
            super(task, null);
            this.nanos = nanos;
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            timers.remove(this);
            return super.cancel(mayInterrupt);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(nanos - clock.getAsLong(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            Timer its = (Timer) other;
            return nanos == its.nanos ? Long.compare(order, its.order) : Long.compare(nanos, its.nanos);
        }
    }
}
