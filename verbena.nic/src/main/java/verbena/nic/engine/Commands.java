package verbena.nic.engine;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Work that threads want the engine's owner to do. Any thread adds commands; the owner runs them in order of
/// arrival.
final class Commands {
    private final ConcurrentLinkedQueue<Task<?>> waiting = new ConcurrentLinkedQueue<>();
    private final Containment containment;

    Commands(Containment containment) {
        this.containment = containment;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /// Adds a command whose caller waits for the result.
    <T> Task<T> add(Supplier<T> command) {
        var task = new Task<>(command, Thread.currentThread());
        waiting.add(task);
        return task;
    }

    /// Adds a command that no thread waits for.
    void add(Runnable command) {
        waiting.add(new Task<>(
                () -> {
                    command.run();
                    return true;
                },
                null));
    }

    /// Runs at most `most` commands, as the owner; returns how many.
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

    /// Runs this command unless it has been run already. Called by a thread that is alone with the engine.
    void run(Task<?> task) {
        if (waiting.remove(task)) {
            carryOut(task);
        }
    }

    private void carryOut(Task<?> task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            containment.contained(e); // no thread waits for this command: a waiting caller gets the exception
        }
    }

    /// A command and, once it is done, its result.
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

        /// The value that the command returned; throws what the command threw. Only when it is done.
        @SuppressWarnings("NullAway") // null only when the command returned null
        T result() {
            assert done : "a result is there when its command is done";
            return switch (thrown) {
                case null -> value;
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                case Throwable e -> throw new AssertionError("a command throws nothing checked", e);
            };
        }
    }
}
