package verbena.sim.card;

import java.util.function.Consumer;
import verbena.sim.scenario.Outcome;
import verbena.sim.scenario.Scenario;

/// An experiment on cards.
///
/// @param steps what it measures, and what has to hold
record Experiment(String name, String title, String source, Steps steps) implements Scenario {
    /// The steps of an experiment.
    interface Steps {
        void take(Beside beside);
    }

    @Override
    public Outcome run(long seed, Consumer<String> progress) {
        var beside = new Beside(seed, progress);
        steps.take(beside);
        return beside.done();
    }
}
