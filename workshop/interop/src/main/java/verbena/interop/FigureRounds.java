package verbena.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;

/// Measures systems over the JDK's channels and, unmodified, over RDMA. All take turns, round by round, so that
/// other load on the machine hits all of them.
final class FigureRounds {
    private static final int ROUNDS = 3;

    /// The scenes in which a system is measured; those with the agent from the start are named by their device.
    private static final List<Scene> WAYS =
            List.of(Scene.plain(), Scene.moving(), Scene.over("shm"), Scene.over("rocev2"), Scene.over("iwarp"));

    private final Run.Jvm jvm;
    /// The values by figure and then by scene: a value for each round.
    private final SequencedMap<String, SequencedMap<String, List<Double>>> found = new LinkedHashMap<>();

    private int failed;

    FigureRounds(Run.Jvm jvm) {
        this.jvm = jvm;
    }

    /// Measures all, and prints medians and ranges. Returns whether all could be measured.
    boolean run(List<Subject> subjects) throws IOException, InterruptedException {
        int rounds = jvm.isSmall() ? 1 : ROUNDS;
        for (int round = 1; round <= rounds; round++) {
            for (Subject subject : subjects) {
                for (Scene way : WAYS) {
                    System.err.printf("round %d of %d: %s, %s%n", round, rounds, subject.name(), way.what());
                    measure(subject, way);
                }
            }
        }
        System.out.print(text());
        return failed == 0;
    }

    private void measure(Subject subject, Scene way) throws IOException, InterruptedException {
        try {
            add(subject.name() + " " + subject.version(), way.what(), new Run(jvm, subject, way).measure());
        } catch (RunFailed e) {
            failed++;
            System.out.println(subject.name() + ", " + way.what() + ": FAILED: " + e.getMessage());
            e.lastWords().forEach(line -> System.out.println("    " + line));
        }
    }

    void add(String subject, String way, Map<String, Double> figures) {
        figures.forEach((name, value) -> found.computeIfAbsent(subject + ": " + name, _ -> new LinkedHashMap<>())
                .computeIfAbsent(way, _ -> new ArrayList<>())
                .add(value));
    }

    /// Medians and ranges.
    String text() {
        var out = new StringBuilder();
        found.forEach((figure, ways) -> {
            out.append(String.format("%n%s%n", figure));
            ways.forEach((way, values) -> {
                double[] sorted =
                        values.stream().mapToDouble(each -> each).sorted().toArray();
                int n = sorted.length;
                double median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
                out.append(String.format(
                        Locale.ROOT, "  %-12s %,12.1f   (%,.1f to %,.1f)%n", way, median, sorted[0], sorted[n - 1]));
            });
        });
        return out.toString();
    }
}
