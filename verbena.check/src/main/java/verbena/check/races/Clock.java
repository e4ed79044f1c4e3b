package verbena.check.races;

import java.util.Arrays;

/// A vector clock: for each component the number up to which its steps are known.
final class Clock {
    private long[] known = {};

    long get(int component) {
        return component < known.length ? known[component] : 0;
    }

    /// Knows the steps of a component up to `number`.
    void raise(int component, long number) {
        if (number > get(component)) {
            if (component >= known.length) {
                known = Arrays.copyOf(known, Math.max(component + 1, known.length * 2));
            }
            known[component] = number;
        }
    }

    /// Knows what `other` knows.
    void join(Clock other) {
        for (int i = other.known.length - 1; i >= 0; i--) {
            raise(i, other.known[i]);
        }
    }

    Clock copy() {
        var copy = new Clock();
        copy.known = known.clone();
        return copy;
    }
}
