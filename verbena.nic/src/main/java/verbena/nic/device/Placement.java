package verbena.nic.device;

import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;

/// The choice of the engine that a queue pair lives on. Queue pairs that share a queue live on one engine: the queue
/// has one writer, and a thread that polls the queue drives that engine. Any thread.
final class Placement {
    /// A queue that has an engine as its home. Under the lock of the placement.
    interface Placed {
        /// Returns the engine of its queue pairs, or of most of them; null before there is one.
        @Nullable
        Engine home();

        /// Notes that a queue pair of `engine` uses it.
        void use(Engine engine);
    }

    private final Engines engines;

    Placement(Engines engines) {
        this.engines = engines;
    }

    /// Returns the engine for a queue pair with these queues: the home of its shared receive queue, else of one of
    /// its completion queues, else the engine with the fewest queue pairs. A completion queue that has another home
    /// is shared by several engines from now on, and costs them a lock.
    synchronized Engine place(Placed sends, Placed receives, @Nullable Placed shared) {
        Engine home = shared == null ? null : shared.home();
        home = home == null ? receives.home() : home;
        home = home == null ? sends.home() : home;
        home = home == null ? engines.emptiest() : home;
        sends.use(home);
        receives.use(home);
        if (shared != null) {
            shared.use(home);
        }
        return home;
    }

    /// Returns the engine for an object without queues.
    synchronized Engine place() {
        return engines.emptiest();
    }

    /// Notes that receives of an engine's queue pairs complete here from now on.
    synchronized void settle(Placed completions, Engine home) {
        completions.use(home);
    }
}
