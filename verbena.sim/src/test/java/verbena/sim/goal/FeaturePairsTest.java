package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import verbena.sim.traffic.Account;
import verbena.sim.traffic.Feature;
import verbena.sim.traffic.Profile;
import verbena.sim.traffic.Simulation;

/// Goal N3 for what reliable connections use together: in worlds whose seeds draw half of the features each, every
/// request completes once, in order and with the right bytes, everything drains, and nothing is left. Every pair of
/// features has really happened in some of the worlds.
class FeaturePairsTest {
    private static final long SEEDS = Goal.size(40, 2_000);
    private static final int OPERATIONS = 2_000;
    private static final int COLUMN = 6;

    @Test
    void everyPairOfFeaturesGoesTogetherInSomeWorld() {
        long start = System.nanoTime();
        Feature[] features = Feature.values();
        var worlds = new long[features.length][features.length];
        long packets = 0;
        long requests = 0;
        long broke = 0;
        for (long seed = Goal.seed(); seed < Goal.seed() + SEEDS; seed++) {
            Account account = new Simulation(seed, Profile.CROWD, OPERATIONS).run(Goal.captures());
            packets += account.packets();
            requests += account.completed() + account.failed();
            broke += account.broke();
            for (Feature one : features) {
                for (Feature other : features) {
                    boolean both = account.happened().get(one) > 0
                            && account.happened().get(other) > 0;
                    worlds[one.ordinal()][other.ordinal()] += both ? 1 : 0;
                }
            }
        }
        System.out.println(table(worlds));
        for (Feature one : features) {
            for (Feature other : features) {
                assertThat(worlds[one.ordinal()][other.ordinal()])
                        .as("worlds with %s and %s", one.label(), other.label())
                        .isPositive();
            }
        }
        Goal.report(
                "N3",
                start,
                "%,d worlds with %d features: each pair in some; %,d requests, %,d packets, %,d broken connections"
                        .formatted(SEEDS, features.length, requests, packets, broke));
    }

    /// In how many worlds two features happened; on the diagonal, one.
    private static String table(long[][] worlds) {
        int wide = Arrays.stream(Feature.values())
                .mapToInt(feature -> feature.label().length())
                .max()
                .orElse(0);
        var text = new StringBuilder("worlds in which both happened%n".formatted());
        for (Feature one : Feature.values()) {
            text.append(String.format(Locale.ROOT, "%" + wide + "s", one.label()));
            for (Feature other : Feature.values()) {
                if (other.ordinal() <= one.ordinal()) {
                    text.append(String.format(Locale.ROOT, "%" + COLUMN + "d", worlds[one.ordinal()][other.ordinal()]));
                }
            }
            text.append(System.lineSeparator());
        }
        return text.toString();
    }

    /// Each feature of the table has a row in the document.
    @Test
    void theDocumentNamesEveryFeature() throws IOException {
        List<String> rows = Arrays.stream(Feature.values())
                .map(feature -> "| " + feature.label() + " | ")
                .toList();
        assertThat(Files.readString(Path.of(System.getProperty("verbena.root"), "docs", "simulation.md")))
                .contains(rows);
    }
}
