package verbena.sim.scenario;

import java.util.function.Consumer;

/// An experiment: a network, a workload, and claims that have to hold. The same seed gives the same outcome.
public interface Scenario {
    /// One word for the command line.
    String name();

    /// What it shows, in one line.
    String title();

    /// Where it was shown first.
    String source();

    /// Runs it; takes seconds to a minute.
    ///
    /// @param progress told in words, now and then, how far it is
    Outcome run(long seed, Consumer<String> progress);
}
