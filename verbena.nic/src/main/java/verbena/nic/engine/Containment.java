package verbena.nic.engine;

import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.Counters;

/// What an exception ends. One in the code of a queue pair ends that queue pair ([EngineTask.Owner]), and is counted
/// and
/// told. One that belongs to no queue pair and no command, in the link for example, stops the engine and its device.
final class Containment {
    private final Counters counters;
    private final Engine.Listener listener;
    private volatile @Nullable Throwable failure;

    Containment(Counters counters, Engine.Listener listener) {
        this.counters = counters;
        this.listener = listener;
    }

    /// Why the engine stands still; null while it works. Any thread.
    @Nullable
    Throwable failure() {
        return failure;
    }

    /// It is impossible to go on. Any thread; only the first time counts.
    void fail(Throwable cause) {
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = cause;
        }
        listener.onFailure(cause);
    }

    /// The code of this queue pair has failed: it ends, and nothing else does. When even that fails, it is never
    /// called again. By the owner.
    void contain(EngineTask station, Throwable cause) {
        contained(cause);
        EngineTask.Owner whose = station.owner;
        if (whose == null) {
            return;
        }
        if (station.isBroken) {
            station.isLost = true;
            return;
        }
        station.isBroken = true;
        try {
            whose.onBroken("internal error, please report it: " + cause);
        } catch (RuntimeException | Error e) {
            contained(e);
            station.isLost = true;
        }
    }

    /// Something has failed in the code of one queue pair, one stream or one command, which ends alone. By the owner.
    void contained(Throwable cause) {
        counters.count(Counter.CONTAINED_FAILURES);
        listener.onContained(cause);
    }
}
