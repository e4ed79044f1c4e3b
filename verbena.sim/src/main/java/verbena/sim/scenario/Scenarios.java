package verbena.sim.scenario;

import java.util.List;

/// The list of all experiments.
public final class Scenarios {
    private Scenarios() {}

    /// Lists them in the order in which one reads them.
    public static List<Scenario> all() {
        return List.of(
                new Unfairness(10),
                new Victim(10),
                new SlowReceiver(),
                new Convergence(),
                new Incast(),
                new Deadlock(),
                new LossRecovery(3_000_000),
                new WebSearch(),
                new AnotherSimulator());
    }
}
