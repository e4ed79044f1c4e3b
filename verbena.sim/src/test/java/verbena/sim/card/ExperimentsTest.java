package verbena.sim.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.sim.scenario.Outcome;
import verbena.sim.scenario.Scenario;

class ExperimentsTest {
    private static List<Scenario> all() {
        return Experiments.all();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("all")
    void theClaimsHold(Scenario experiment) {
        Outcome outcome = experiment.run(1, _ -> {});
        assertThat(outcome.claims()).isNotEmpty().allMatch(Outcome.Claim::holds);
        assertThat(outcome.figures())
                .isNotEmpty()
                .allSatisfy(
                        figure -> assertThat(figure.value()).as(figure.name()).isFinite());
    }

    @Test
    void eachHasAnotherNameAndSaysWhereItComesFrom() {
        assertThat(all().stream().map(Scenario::name))
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("[a-z-]+"));
        assertThat(all()).allSatisfy(each -> assertThat(each.source()).contains("20"));
    }

    @Test
    void aClaimFallsWithTheCard() {
        // A card without a cache for queue pairs does not have the published curve.
        var broken = new Experiment(
                "broken",
                "",
                "",
                beside -> beside.number(
                        "READs",
                        "M/s",
                        50.25,
                        beside.run(Cards.of("connect-ib qp-cache=4"), "read 32 threads=14 qps=84 window=24 symmetric")
                                .rate()));
        assertThat(broken.run(1, _ -> {}).holds()).isFalse();
    }
}
