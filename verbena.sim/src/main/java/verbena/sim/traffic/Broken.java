package verbena.sim.traffic;

/// A checker has found that the model does not hold: a bug.
public final class Broken extends AssertionError {
    Broken(String message) {
        super(message);
    }
}
