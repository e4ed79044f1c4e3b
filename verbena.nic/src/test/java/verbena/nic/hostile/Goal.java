package verbena.nic.hostile;

/// The size of a goal's test, its seed, and the one line that it prints.
final class Goal {
    /// `-Dverbena.deep=true`: the long run.
    static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    private Goal() {}

    /// `-Dverbena.seed=N`, otherwise always the same.
    static long seed() {
        return Long.getLong("verbena.seed", 1);
    }

    static long size(long usual, long deep) {
        return DEEP ? deep : usual;
    }

    static void print(String goal, String figure) {
        System.out.println(goal + ": " + figure);
    }

    /// The command that repeats one test from `seed`.
    static String repeat(Class<?> test, long seed) {
        return "mvn -pl verbena.nic -am test -Dtest=" + test.getSimpleName()
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dverbena.seed=" + seed
                + (DEEP ? " -Dverbena.deep=true" : "");
    }
}
