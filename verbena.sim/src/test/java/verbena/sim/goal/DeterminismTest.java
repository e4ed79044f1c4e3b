package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.sim.traffic.Profile;
import verbena.sim.traffic.Simulation;

/// Goal N4: the same seed gives the same packets and completions to the last bit, again and under every collector.
class DeterminismTest {
    private static final int OPERATIONS = 300;
    private static final long SEEDS = Goal.size(50, 200);
    private static final long SEEDS_OF_A_CHILD = Goal.size(10, SEEDS);

    private static String digest(long seed) {
        return new Simulation(seed, Profile.ANY, OPERATIONS)
                .run(Goal.captures())
                .digest();
    }

    /// Prints the digests of so many seeds from one on: the child.
    public static void main(String[] args) {
        long first = Long.parseLong(args[0]);
        LongStream.range(first, first + Long.parseLong(args[1])).forEach(seed -> System.out.println(digest(seed)));
    }

    @Test
    void aSeedRunTwiceGivesTheSameDigest() {
        long start = System.nanoTime();
        List<String> digests = new ArrayList<>();
        for (long seed = Goal.seed(); seed < Goal.seed() + SEEDS; seed++) {
            String digest = digest(seed);
            assertThat(digest(seed)).as("seed " + seed).isEqualTo(digest);
            digests.add(digest);
        }
        assertThat(digests).doesNotHaveDuplicates();
        Goal.report("N4", start, SEEDS + " seeds run twice gave the same SHA-256 of packets and completions");
    }

    /// One of them is drawn (`-Dverbena.draw=N`); all with `-Dverbena.deep=true`.
    private static Stream<String> collectors() {
        List<String> all = List.of("-XX:+UseZGC", "-XX:+UseG1GC", "-XX:+UseSerialGC");
        return Goal.DEEP ? all.stream() : Stream.of(all.get(Integer.getInteger("verbena.draw", 0) % all.size()));
    }

    @ParameterizedTest
    @MethodSource("collectors")
    void anotherCollectorGivesTheSameDigest(String collector) throws Exception {
        long start = System.nanoTime();
        List<String> digests = LongStream.range(Goal.seed(), Goal.seed() + SEEDS_OF_A_CHILD)
                .mapToObj(DeterminismTest::digest)
                .toList();
        assertThat(child(collector)).isEqualTo(digests);
        Goal.report("N4", start, SEEDS_OF_A_CHILD + " seeds gave the same in a JVM with " + collector);
    }

    private static List<String> child(String collector) throws Exception {
        var command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                collector,
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                DeterminismTest.class.getName(),
                Long.toString(Goal.seed()),
                Long.toString(SEEDS_OF_A_CHILD));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var lines = process.inputReader()) {
            List<String> digests = lines.lines().toList();
            assertThat(process.waitFor()).isZero();
            return digests;
        } finally {
            process.destroyForcibly();
        }
    }
}
