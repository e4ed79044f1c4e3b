package verbena.sim.goal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import verbena.sim.World;
import verbena.sim.traffic.SimulationFailure;

/// What the tests of the reliability goals have in common: two sizes, a seed that can be chosen, one line with the
/// figure, and failures that say how to see them again.
final class Goal {
    static final boolean DEEP = Boolean.getBoolean("verbena.deep");

    private Goal() {}

    /// How much to do: by default, and with `-Dverbena.deep=true`.
    static long size(long usual, long deep) {
        return DEEP ? deep : usual;
    }

    /// The first seed; `-Dverbena.seed=N` chooses another.
    static long seed() {
        return Long.getLong("verbena.seed", 1);
    }

    /// One line for people who read the test's output.
    static void report(String id, long startNanos, String figure) {
        System.out.printf(
                Locale.ROOT,
                "goal %s: %s, seed %d, %.1f s%n",
                id,
                figure,
                seed(),
                (System.nanoTime() - startNanos) / 1e9);
    }

    /// Folder for captures of failures.
    static Path captures() {
        try {
            return Files.createDirectories(Path.of("target", "captures"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// How to run a test again with the same seed and size.
    static String command(Class<?> test) {
        return "mvn -pl verbena.sim -am test -Dtest=" + test.getSimpleName()
                + " -Dsurefire.failIfNoSpecifiedTests=false -Dverbena.seed=" + seed()
                + (DEEP ? " -Dverbena.deep=true" : "");
    }

    /// Something is wrong in a world that a test made.
    static SimulationFailure failure(World world, Throwable what, Class<?> test) {
        return SimulationFailure.of(world, what, command(test), captures());
    }
}
