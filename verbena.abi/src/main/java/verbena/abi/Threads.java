package verbena.abi;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/// Threads of ours are made by a thread of ours: they inherit its signal mask, in which all signals are blocked,
/// so the program's signals go to its own threads.
public final class Threads {
    private static final String NAME = "verbena-abi";
    private static final ExecutorService MAKER = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().daemon().name(NAME).unstarted(task));

    private Threads() {}

    /// Prepares threads at start-up, while all signals are blocked.
    public static void begin() {
        boolean _ = make(Threads::linkInterrupted);
    }

    /// Makes the JVM look up now the code that it calls when a thread of this library is interrupted. Later the
    /// program may hold the loader's lock when it closes an object for which that thread works: in a destructor,
    /// during `dlclose(3)`. The thread would wait for that lock within the JVM, and no garbage could be collected
    /// meanwhile.
    private static boolean linkInterrupted() {
        Thread.currentThread().interrupt();
        return Thread.interrupted();
    }

    /// Runs code that makes threads, such as opening a device, on the one thread for that.
    public static <T> T make(Supplier<T> made) {
        if (Thread.currentThread().getName().equals(NAME)) {
            return made.get();
        }
        try {
            return MAKER.submit(made::get).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException exception) {
                throw exception;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // threads of the program are not interrupted
        }
    }

    /// Starts a thread that ends with the process, if not before.
    public static Thread start(String name, Runnable task) {
        return make(() -> Thread.ofPlatform().daemon().name(name).start(task));
    }
}
