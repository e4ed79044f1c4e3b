package verbena.conformance.rig;

/// The device did not do what was promised: what was expected, and what happened.
public final class Mismatch extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public Mismatch(String what, Object expected, Object actual) {
        super(what + ": expected " + expected + ", was " + actual);
    }

    public Mismatch(String message) {
        super(message);
    }
}
