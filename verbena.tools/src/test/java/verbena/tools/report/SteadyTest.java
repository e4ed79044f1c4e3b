package verbena.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/// When a warm-up ends, from figures that were not measured: one round takes a tenth of a second.
class SteadyTest {
    private static final long ROUND = 100_000_000;
    private static final long SECOND = 10 * ROUND;

    private final Steady steady = new Steady(1, 3 * SECOND);
    private long nanos;

    @Test
    void figuresThatStandStillEndItAfterTwoStretches() {
        for (int round = 1; round < 2 * Steady.STRETCH; round++) {
            assertThat(round(0, 50)).as("round %d", round).isFalse();
        }
        assertThat(round(0, 50)).isTrue();
        assertThat(steady.isReached()).isTrue();
        assertThat(steady.words()).isEqualTo("1.0 s until the figures were stable");
    }

    @Test
    void figuresThatStillGrowDoNotEndIt() {
        double figure = 1;
        for (int round = 0; round < 20; round++) {
            assertThat(round(0, figure)).isFalse();
            figure *= 1.1;
        }
        for (int round = 0; round < 7; round++) {
            assertThat(round(0, figure))
                    .as("%d rounds after the last growth", round + 1)
                    .isFalse();
        }
        assertThat(round(0, figure)).isTrue();
    }

    @Test
    void singleRoundsMayBeFarOut() {
        for (int i = 0; i < 4; i++) {
            assertThat(round(0, 50)).isFalse();
        }
        assertThat(round(0, 500)).isFalse();
        for (int i = 0; i < 4; i++) {
            assertThat(round(0, 50)).isFalse();
        }
        assertThat(round(0, 5)).isTrue();
        assertThat(steady.isReached()).isTrue();
    }

    @Test
    void whileTheCompilersWorkItGoesOn() {
        for (int i = 0; i < 15; i++) {
            assertThat(round(ROUND / 2, 50)).as("round %d", i).isFalse();
        }
        for (int i = 0; i < 3; i++) {
            assertThat(round(0, 50)).isFalse();
        }
        assertThat(round(0, 50))
                .as("one of the last five rounds was compiled in, for half of its time")
                .isTrue();
    }

    @Test
    void theSlowestContenderCounts() {
        var three = new Steady(3, 3 * SECOND);
        for (int round = 1; round <= 12; round++) {
            boolean done = three.add(round * ROUND, 0, 10, 20, round < 5 ? 30 : 15);
            assertThat(done).as("round %d", round).isEqualTo(round == 12);
        }
        assertThatThrownBy(() -> three.add(0, 0, 1, 2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("figures: 3 expected, got 2");
    }

    @Test
    void itEndsInAnyCaseAndSaysWhy() {
        for (int round = 1; round < 30; round++) {
            assertThat(round(0, round / 5 % 2 == 0 ? 50 : 100)).isFalse();
        }
        assertThat(round(0, 50)).isTrue();
        assertThat(steady.isReached()).isFalse();
        assertThat(steady.words())
                .isEqualTo("3.0 s, and the figures were not stable: they changed by 100 % within a few rounds");

        var slow = new Steady(1, SECOND);
        assertThat(slow.add(2 * SECOND, 0, 50)).isTrue();
        assertThat(slow.words()).endsWith("there were 1 rounds only");

        var compiling = new Steady(1, 2 * SECOND);
        for (int round = 1; round <= 20; round++) {
            assertThat(compiling.add(round * ROUND, round * ROUND, 50)).isEqualTo(round == 20);
        }
        assertThat(compiling.words()).endsWith("the compilers still worked");
    }

    private long compiled;

    private boolean round(long compiledMore, double figure) {
        nanos += ROUND;
        compiled += compiledMore;
        return steady.add(nanos, compiled, figure);
    }
}
