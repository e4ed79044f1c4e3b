package verbena.tools.weak;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import verbena.transport.weak.Weakness;

/// A scheduler of virtual threads that runs one of them at a time, in the order in which they could run. When none
/// can, the world takes a step. The threads that these threads make have the same scheduler.
///
/// While a thread is blocked by a monitor that a thread of the system holds, the world waits, as it does for a thread
/// that runs. The JDK's cleaner holds some after each garbage collection. On a busy machine minutes of the world's time
/// would pass until the JDK has the thread run again.
final class OneByOne implements Executor {
    static final OneByOne SCHEDULER = new OneByOne();

    private static final long IDLE_MILLIS = 1;
    /// The time after which a thread is taken to be blocked by another one of the program, which waits for the world.
    private static final long BLOCKED_MILLIS = 10_000;

    private final BlockingQueue<Runnable> ready = new LinkedBlockingQueue<>();
    /// The threads that will run again although nothing happens in the world.
    private final Set<Thread> due = new HashSet<>();

    private final Thread carrier;

    private final VirtualTimers timers = new VirtualTimers(this::nanoTime);
    private volatile Era era = new Era(0, new VirtualTime(Weakness.parse("card", 0)));

    /// The time of a scene.
    ///
    /// @param begin the time of the virtual threads' clock when it began
    private record Era(long begin, VirtualTime time) {
        long nanoTime() {
            return begin + time.nowNanos();
        }
    }

    private OneByOne() {
        VirtualClock.use(this::nanoTime);
        timers.install();
        carrier = Thread.ofPlatform().daemon().name("one by one").start(() -> {
            try {
                run();
            } catch (InterruptedException e) {
                throw new AssertionError("no program knows this thread", e);
            }
        });
    }

    private void run() throws InterruptedException {
        while (true) {
            Runnable next = next();
            if (next != null) {
                Thread thread = thread(next);
                due.remove(thread);
                next.run();
                if (thread.getState() == Thread.State.BLOCKED || thread.getState() == Thread.State.RUNNABLE) {
                    due.add(thread);
                }
            }
        }
    }

    /// Returns what can run; null when nothing could, and the world has taken a step.
    private @Nullable Runnable next() throws InterruptedException {
        Runnable next = ready.poll();
        if (next == null && !due.isEmpty()) {
            next = ready.poll(BLOCKED_MILLIS, TimeUnit.MILLISECONDS);
        }
        if (next != null) {
            return next;
        }
        due.clear();
        Era now = era;
        long timer = timers.nextNanos();
        boolean isMoved = now.time.step(timer == VirtualTimers.NEVER ? timer : timer - now.begin);
        timers.runDue();
        return isMoved ? null : ready.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /// Returns the time of the virtual threads' clock. It passes only when the world takes a step.
    private long nanoTime() {
        return era.nanoTime();
    }

    @Override
    public void execute(Runnable next) {
        ready.add(next);
    }

    /// Returns whether no thread can run, and nothing happens in the world.
    boolean isIdle() {
        return carrier.getState() == Thread.State.TIMED_WAITING;
    }

    /// Has the time of a scene pass from now on.
    void use(VirtualTime next) {
        era = new Era(era.nanoTime(), next);
    }

    /// Starts a thread. The JDK has schedulers for virtual threads, but no interface for them yet.
    void start(Runnable task) {
        try {
            Method make = Class.forName("java.lang.ThreadBuilders")
                    .getDeclaredMethod("newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
            make.setAccessible(true);
            ((Thread) make.invoke(null, this, "program", 0, task)).start();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the JDK has changed", e);
        }
    }

    /// Returns the thread that a task of this scheduler continues. The task is a reference to a method of that thread.
    private static Thread thread(Runnable task) {
        for (Field each : task.getClass().getDeclaredFields()) {
            if (Thread.class.isAssignableFrom(each.getType())) {
                try {
                    each.setAccessible(true);
                    return (Thread) each.get(task);
                } catch (IllegalAccessException e) {
                    throw new LinkageError("the JDK has changed", e);
                }
            }
        }
        throw new LinkageError("the JDK has changed: a task of a virtual thread does not have it");
    }
}
