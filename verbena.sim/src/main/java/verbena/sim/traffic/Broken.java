package verbena.sim.traffic;

/// A checker has found that the model does not hold: a bug.
public final class Broken extends AssertionError {
    Broken(String message) {
        super(message);
    }

    /// Throws when `holds` does not.
    ///
    /// @param where the check that found it
    /// @param what to be said, word by word
    static void unless(boolean holds, Object where, Object... what) {
        if (!holds) {
            var text = new StringBuilder(where.toString()).append(':');
            for (Object word : what) {
                text.append(' ').append(word);
            }
            throw new Broken(text.toString());
        }
    }
}
