package verbena.conformance;

/// A case and what came of it.
///
/// @param nanos how long it took
public record Result(Case tried, Outcome outcome, long nanos) {
    public boolean isGreen() {
        return !(outcome instanceof Outcome.Broken);
    }
}
