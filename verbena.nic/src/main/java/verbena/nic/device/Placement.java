package verbena.nic.device;

import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;

/// Which engine queue pairs live on. Those that share a queue live on one engine, where the queue has one writer, and a
/// thread that polls the queue drives that engine. Any thread.
final class Placement {
    private final Engines engines;

    Placement(Engines engines) {
        this.engines = engines;
    }

    /// Where a queue pair with these queues will live: where one of them is at home already, a shared receive queue
    /// before all, else where there are fewest. A completion queue that is at home elsewhere is shared by several
    /// engines from now on, and costs them a lock.
    synchronized Engine place(
            SoftCompletionQueue sends, SoftCompletionQueue receives, @Nullable SoftSharedReceiveQueue shared) {
        Engine home = shared == null ? null : shared.home();
        home = home == null ? receives.home() : home;
        home = home == null ? sends.home() : home;
        home = home == null ? engines.emptiest() : home;
        sends.use(home);
        receives.use(home);
        if (shared != null) {
            shared.home(home);
        }
        return home;
    }

    /// A home for what brings none.
    synchronized Engine place() {
        return engines.emptiest();
    }

    /// Receives of an engine's queue pairs complete here from now on.
    synchronized void settle(SoftCompletionQueue completions, Engine home) {
        completions.use(home);
    }
}
