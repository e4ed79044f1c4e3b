package verbena.sim.script;

/// What happened is not what a line says; becomes a [ScriptFailure] where the script is at hand.
final class Mismatch extends RuntimeException {
    final String actual;

    Mismatch(String actual) {
        super(actual);
        this.actual = actual;
    }
}
