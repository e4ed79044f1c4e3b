package verbena.verbs;

/// Argument checks that name the argument.
final class Checks {
    private Checks() {}

    static int range(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + min + " to " + max + ", got " + value);
        }
        return value;
    }
}
