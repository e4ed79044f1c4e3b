package verbena.tools.weak;

import java.lang.reflect.Method;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import verbena.transport.weak.Weakness;

/// A scheduler of virtual threads that runs one of them at a time, in the order in which they could run. When none
/// can, the world takes a step. The threads that these threads make have the same scheduler.
final class OneByOne implements Executor {
    static final OneByOne SCHEDULER = new OneByOne();

    private static final long IDLE_MILLIS = 1;

    private final BlockingQueue<Runnable> ready = new LinkedBlockingQueue<>();
    private volatile VirtualTime time = new VirtualTime(Weakness.parse("card", 0));

    private OneByOne() {
        Thread.ofPlatform().daemon().name("one by one").start(() -> {
            try {
                run();
            } catch (InterruptedException e) {
                throw new AssertionError("no program knows this thread", e);
            }
        });
    }

    private void run() throws InterruptedException {
        while (true) {
            Runnable next = ready.poll();
            if (next == null && !time.step()) {
                next = ready.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
            }
            if (next != null) {
                next.run();
            }
        }
    }

    @Override
    public void execute(Runnable next) {
        ready.add(next);
    }

    /// Has the time of a scene pass from now on.
    void use(VirtualTime next) {
        time = next;
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
}
