package verbena.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import verbena.tools.report.Goal;
import verbena.tools.report.Latency;
import verbena.tools.report.Result;

class GoalsTest {
    private final List<Entry> entries = new ArrayList<>();

    @Test
    void aRatioIsThatOfTheMediansAndItsSpreadThatOfTheRounds() {
        bandwidth(VerbenaPair.WRITE, Sizes.LARGE, 100, 400, 300);
        bandwidth(Programs.PUT_OVER_TCP, Sizes.LARGE, 100, 100, 200);

        assertThat(goals().known)
                .first(InstanceOfAssertFactories.type(Goal.class))
                .isEqualTo(new Goal("WRITE, 64 KiB, over UCX put over TCP", "x", 3, 1, 4, 1.5, false, true));
    }

    @Test
    void aGoalThatIsNotReachedSaysSo() {
        bandwidth(VerbenaPair.WRITE, Sizes.HUGE, 100);
        bandwidth(VerbenaPair.READ, Sizes.HUGE, 84);

        assertThat(goals().known).singleElement().satisfies(goal -> {
            assertThat(goal.name()).isEqualTo("READ, 1 MiB, over WRITE");
            assertThat(goal.reached()).isFalse();
        });
    }

    @Test
    void lessIsBetterForLatenciesAndCosts() {
        entries.add(entry(VerbenaPair.WRITE, Sizes.SMALL, latency(5)));
        entries.add(entry(Programs.TAG_OVER_TCP, Sizes.SMALL, latency(4)));
        rate(VerbenaPair.MANY, 1);
        rate(VerbenaPair.FEW, 1.2);

        assertThat(goals().known).extracting(Goal::value).containsExactly(1.25, 1.2, 1.2);
        assertThat(goals().known).extracting(Goal::reached).containsExactly(false, true, true);
    }

    @Test
    void whatWasNotMeasuredIsNamed() {
        assertThat(Goals.overLoopback(entries, new Costs(List.of(0.5), List.of(), List.of())).known)
                .extracting(Goal::name, Goal::reached)
                .containsExactly(org.assertj.core.groups.Tuple.tuple("allocated for each WRITE, by both ends", false));
        assertThat(goals().unknown).hasSize(23).contains("8-byte WRITEs in batches");
    }

    @Test
    void besideOthersItCountsWhatGetsDone() {
        String jdk = NioPair.JDK + NioPair.ECHO;
        String shm = NioPair.SHM + NioPair.ECHO;
        entries.add(entry(jdk, 16, roundTrips(900), roundTrips(1_000), roundTrips(3_000)));
        entries.add(entry(shm, 16, roundTrips(2_000), roundTrips(660), roundTrips(600)));
        bandwidth(NioPair.JDK + NioPair.STREAM, Sizes.LARGE, 300);
        bandwidth(NioPair.SHM + NioPair.STREAM, Sizes.LARGE, 210);

        assertThat(Goals.underNioBesideOthers(entries).known)
                .extracting(Goal::value, Goal::reached)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(0.66, false),
                        org.assertj.core.groups.Tuple.tuple(0.7, true));
    }

    private Goals goals() {
        return Goals.overLoopback(entries, new Costs());
    }

    private void bandwidth(String series, int size, double... values) {
        var results = new ArrayList<Result>();
        for (double value : values) {
            results.add(new Result(series, size, 1, value, null, null));
        }
        entries.add(entry(series, size, results.toArray(Result[]::new)));
    }

    private void rate(String series, double value) {
        entries.add(entry(series, Sizes.SMALL, new Result(series, Sizes.SMALL, 1, null, value, null)));
    }

    private static Result roundTrips(long count) {
        return new Result(null, 16, count, null, null, new Latency(1, 5, 10, 20, 30));
    }

    private static Result latency(double median) {
        return new Result(null, Sizes.SMALL, 1, null, null, new Latency(1, median, 10, 20, 30));
    }

    private static Entry entry(String series, int size, Result... results) {
        var entry = new Entry(series, size, 1, (_, _) -> results[0]);
        entry.results.addAll(List.of(results));
        return entry;
    }
}
