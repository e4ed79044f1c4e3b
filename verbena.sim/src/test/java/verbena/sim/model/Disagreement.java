package verbena.sim.model;

/// A device did something else than the model says.
final class Disagreement extends AssertionError {
    private static final long serialVersionUID = 1L;

    Disagreement(String message) {
        super(message);
    }

    Disagreement(String message, Throwable cause) {
        super(message, cause);
    }
}
