package verbena.sim.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What the explorer takes, on a map of places.
class ExplorerTest {
    /// From a place to another.
    private record Road(int from, int to, Step.Kind kind) {}

    private static Road usual(int from, int to) {
        return new Road(from, to, Step.Kind.USUAL);
    }

    private static Road time(int from, int to) {
        return new Road(from, to, Step.Kind.TIME);
    }

    private static Road fault(int from, int to) {
        return new Road(from, to, Step.Kind.FAULT);
    }

    private static final class Places implements SmallWorld {
        private static final int WRONG = 99;

        private final List<Road> roads;
        private int at;

        Places(Road... roads) {
            this.roads = List.of(roads);
        }

        @Override
        public List<Step> steps() {
            var steps = new ArrayList<Step>();
            for (Road road : roads) {
                if (road.from == at) {
                    steps.add(new Step(road.kind, () -> "to " + road.to, () -> at = road.to));
                }
            }
            return steps;
        }

        @Override
        public void check() {
            assertThat(at).isNotEqualTo(WRONG);
        }

        @Override
        public void checkAtRest() {}

        @Override
        public long now() {
            return Fingerprint.BEGINNING;
        }
    }

    private static Explored explore(int deviations, Road... roads) {
        return Explorer.explore("places", () -> new Places(roads), new Fingerprint(), deviations);
    }

    @Test
    void aPlaceThatIsFoundWithFewerDeviationsLaterIsGoneOnFrom() {
        Road[] roads = {fault(0, 1), fault(1, 4), usual(1, 2), usual(2, 3), usual(3, 4), fault(4, Places.WRONG)};
        assertThatThrownBy(() -> explore(2, roads))
                .isInstanceOfSatisfying(
                        Counterexample.class,
                        found -> assertThat(found.schedule())
                                .containsExactly("! to 1", "  to 2", "  to 3", "  to 4", "! to 99"));
    }

    @Test
    void noMoreDeviationsAreTakenThanAreAskedFor() {
        Road[] roads = {fault(0, 1), fault(1, 2), fault(2, Places.WRONG)};
        assertThat(explore(2, roads).states()).isEqualTo(3);
        assertThatThrownBy(() -> explore(3, roads)).isInstanceOf(Counterexample.class);
    }

    @Test
    void timeThatPassesByItselfIsNoDeviation() {
        assertThat(explore(0, usual(0, 1), time(0, 3), time(1, 2)).states()).isEqualTo(3);
        assertThat(explore(1, usual(0, 1), time(0, 3), time(1, 2)).states()).isEqualTo(4);
    }

    @Test
    void usualStepsThatGoOnForEverAreFound() {
        assertThatThrownBy(() -> explore(0, usual(0, 1), usual(1, 2), usual(2, 1)))
                .hasMessageContaining("the last 2 steps may go on for ever");
    }

    @Test
    void eachWayToTheEndIsASchedule() {
        assertThat(explore(0, usual(0, 1), usual(0, 2), usual(1, 3), usual(2, 3))
                        .schedules())
                .isEqualTo(2);
    }
}
