package verbena.sim.scenario;

import java.util.function.Consumer;

/// An experiment: a network, a workload, and claims that have to hold. The same seed gives the same outcome.
public interface Scenario {
    /// Returns one word for the command line.
    String name();

    /// Returns a title that names in one line the effect that it shows.
    String title();

    /// Returns the publication that showed it first.
    String source();

    /// Runs it; takes seconds to a minute.
    ///
    /// @param progress told in words, now and then, how far it is
    Outcome run(long seed, Consumer<String> progress);
}
