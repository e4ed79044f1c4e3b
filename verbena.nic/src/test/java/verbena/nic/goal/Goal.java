package verbena.nic.goal;

import java.util.Locale;

/// The size of a goal's test, and the one line that it prints.
final class Goal {
    /// `-Dverbena.deep=true`: the long run.
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    private Goal() {}

    static int size(int usual, int deep) {
        return DEEP ? deep : usual;
    }

    /// `-Dverbena.seed=N`, otherwise always the same.
    static long seed() {
        return Long.getLong("verbena.seed", 1);
    }

    static void report(String goal, long startNanos, String figure) {
        System.out.printf(Locale.ROOT, "goal %s: %s, %.1f s%n", goal, figure, (System.nanoTime() - startNanos) / 1e9);
    }
}
