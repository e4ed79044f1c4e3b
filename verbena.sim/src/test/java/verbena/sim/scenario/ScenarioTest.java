package verbena.sim.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The experiments show what their publications show. A third of them is drawn (`-Dverbena.draw=N`), at small sizes.
/// The deep run (`-Dverbena.deep=true`) has all of them, at all sizes.
class ScenarioTest {
    private static final int SHARES = 3;

    private static Stream<Scenario> experiments() {
        if (Boolean.getBoolean("verbena.deep")) {
            return Scenarios.all().stream();
        }
        List<Scenario> small = List.of(
                new Unfairness(3),
                new Victim(2),
                new SlowReceiver(),
                new Convergence(),
                new Incast(),
                new Deadlock(),
                new LossRecovery(800_000),
                new WebSearch(),
                new AnotherSimulator());
        int first = Integer.getInteger("verbena.draw", 0) % SHARES;
        return IntStream.iterate(first, i -> i < small.size(), i -> i + SHARES).mapToObj(small::get);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("experiments")
    void theClaimsHold(Scenario scenario) {
        Outcome outcome = scenario.run(1, _ -> {});
        assertThat(outcome.claims()).isNotEmpty().allMatch(Outcome.Claim::holds);
        assertThat(outcome.figures())
                .isNotEmpty()
                .allSatisfy(
                        figure -> assertThat(figure.value()).as(figure.name()).isFinite());
    }

    @Test
    void eachHasAnotherNameAndSaysWhereItComesFrom() {
        List<Scenario> all = Scenarios.all();
        assertThat(all.stream().map(Scenario::name)).doesNotHaveDuplicates().allMatch(name -> name.matches("[a-z-]+"));
        assertThat(all).allSatisfy(each -> assertThat(each.source()).contains("20"));
    }

    @Test
    void theSameSeedHasTheSameOutcome() {
        var incast = new Incast();
        assertThat(incast.run(4, _ -> {}).figures())
                .isEqualTo(incast.run(4, _ -> {}).figures());
    }
}
