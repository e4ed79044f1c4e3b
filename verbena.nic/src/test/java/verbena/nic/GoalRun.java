package verbena.nic;

import java.util.Locale;

/// The size of a goal's test, its seed, and the one line that it prints.
public final class GoalRun {
    /// `-Dverbena.deep=true`: the long run.
    public static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    private GoalRun() {}

    /// `-Dverbena.seed=N`, otherwise always the same.
    public static long seed() {
        return Long.getLong("verbena.seed", 1);
    }

    public static int size(int usual, int deep) {
        return DEEP ? deep : usual;
    }

    public static void print(String goal, String figure) {
        System.out.println(goal + ": " + figure);
    }

    /// The same with the time since a start.
    public static void report(String goal, long startNanos, String figure) {
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        print("goal " + goal, String.format(Locale.ROOT, "%s, %.1f s", figure, seconds));
    }

    /// The command that repeats one test from `seed`.
    public static String repeat(Class<?> test, long seed) {
        return "mvn -pl verbena.nic -am test -Dtest=" + test.getSimpleName()
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dverbena.seed=" + seed
                + (DEEP ? " -Dverbena.deep=true" : "");
    }
}
