package verbena.nic.engine;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What threads want done by the engine's owner. Any thread adds; the owner carries out, in the order of arrival.
final class Commands {
    private final ConcurrentLinkedQueue<Task<?>> waiting = new ConcurrentLinkedQueue<>();
    private final Containment containment;

    Commands(Containment containment) {
        this.containment = containment;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /// A command whose caller waits for it.
    <T> Task<T> add(Supplier<T> command) {
        var task = new Task<>(command, Thread.currentThread());
        waiting.add(task);
        return task;
    }

    /// A command that no thread waits for.
    void add(Runnable command) {
        waiting.add(new Task<>(
                () -> {
                    command.run();
                    return true;
                },
                null));
    }

    /// The owner carries out some of them, `most` at most; returns how many.
    int run(int most) {
        int n = 0;
        while (n < most) {
            Task<?> task = waiting.poll();
            if (task == null) {
                break;
            }
            carryOut(task);
            n++;
        }
        return n;
    }

    /// Carries out this one, unless that was done already. By a thread that is alone with the engine.
    void run(Task<?> task) {
        if (waiting.remove(task)) {
            carryOut(task);
        }
    }

    private void carryOut(Task<?> task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            containment.contained(e); // no thread waits for it: a caller would have been told
        }
    }

    /// One command, and then its result.
    static final class Task<T> {
        private final Supplier<T> command;
        private final @Nullable Thread caller;
        private @Nullable T value;
        private @Nullable Throwable thrown;
        private volatile boolean done;

        private Task(Supplier<T> command, @Nullable Thread caller) {
            this.command = command;
            this.caller = caller;
        }

        boolean isDone() {
            return done;
        }

        private void run() {
            try {
                value = command.get();
            } catch (RuntimeException | Error e) {
                if (caller == null) {
                    throw e;
                }
                thrown = e;
            }
            done = true; // publishes the result
            if (caller != null && !caller.equals(Thread.currentThread())) {
                LockSupport.unpark(caller);
            }
        }

        /// What the command gave back, or threw. Only when it is done.
        @SuppressWarnings("NullAway") // null only when the command gave null
        T result() {
            return switch (thrown) {
                case null -> value;
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                case Throwable e -> throw new AssertionError("a command throws nothing checked", e);
            };
        }
    }
}
