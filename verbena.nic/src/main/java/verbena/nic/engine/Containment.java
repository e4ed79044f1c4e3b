package verbena.nic.engine;

import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.EngineCounters;

/// The containment of exceptions. An exception in the code of a queue pair ends that queue pair
/// ([EngineTask.Owner]), is counted and reported. An exception that belongs to no queue pair and no command, in the
/// link for example, stops the engine and its device.
final class Containment {
    private final EngineCounters counters;
    private final EngineListener listener;
    private volatile @Nullable Throwable failure;

    Containment(EngineCounters counters, EngineListener listener) {
        this.counters = counters;
        this.listener = listener;
    }

    /// Returns the failure that stopped the engine; null while it works. Any thread.
    @Nullable
    Throwable failure() {
        return failure;
    }

    /// Stops the engine, because it cannot go on. Any thread; only the first call counts.
    void fail(Throwable cause) {
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = cause;
        }
        listener.onFailure(cause);
    }

    /// Ends this queue pair, whose code has failed, and nothing else. If its code fails again, the engine never
    /// calls it again. By the owner.
    void contain(EngineTask task, Throwable cause) {
        contained(cause);
        EngineTask.Owner whose = task.owner;
        if (whose == null) {
            return;
        }
        if (task.isBroken) {
            task.isLost = true;
            return;
        }
        task.isBroken = true;
        try {
            whose.onBroken("internal error, please report it: " + cause);
        } catch (RuntimeException | Error e) {
            contained(e);
            task.isLost = true;
        }
    }

    /// Counts and reports a failure in the code of one queue pair, one stream or one command, which ends alone. By
    /// the owner.
    void contained(Throwable cause) {
        counters.count(Counter.CONTAINED_FAILURES);
        listener.onContained(cause);
    }
}
