package verbena.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// The course of a run, and how its figures are spread.
class TimelineTest {
    @Test
    void aTimelineOfTimesHasTheMedianOfEachStretch() {
        long[] nanos = LongStream.range(0, 1_000)
                .map(i -> i % 10 == 9 ? 1_000_000 : 2_000 + i)
                .toArray();
        Timeline timeline = Timeline.ofTimes(nanos, 1e-3 / 2);

        assertThat(timeline.values()).hasSize(Timeline.POINTS);
        assertThat(timeline.values().getFirst())
                .as("the median of ten, one far out, half of each")
                .isEqualTo(1.00225);
        assertThat(timeline.seconds().getLast()).isCloseTo(0.1022, within(0.001));
        assertThat(Timeline.ofTimes(new long[] {5_000}, 1e-3).values()).containsExactly(5.0);
        assertThat(Timeline.ofTimes(new long[0], 1e-3).values()).isEmpty();
    }

    @Test
    void aTimelineOfBytesHasMegabytesASecond() {
        Timeline timeline = Timeline.ofBytes(
                new long[] {7_000_000_000L, 7_500_000_000L, 7_500_000_000L, 8_000_000_000L},
                new long[] {0, 1 << 20, 1 << 20, 5 << 20});

        assertThat(timeline.seconds()).containsExactly(0.5, 1.0);
        assertThat(timeline.values()).containsExactly(2.0, 8.0);
    }

    @Test
    void aDistributionCountsEachTimeOnce() {
        Distribution distribution = Distribution.of(new double[] {1, 1.01, 2, 3.99, 1, 4, 1, 1, 1, 1});

        assertThat(distribution.percent().stream().mapToDouble(share -> share).sum())
                .isCloseTo(100, within(1e-9));
        assertThat(distribution.fromUs()).hasSameSizeAs(distribution.percent()).hasSize(18);
        assertThat(distribution.percent().getFirst()).isEqualTo(70);
        assertThat(distribution.fromUs().get(8)).isEqualTo(2);
        assertThat(distribution.percent().get(8)).isEqualTo(10);
        assertThat(distribution.percent().getLast())
                .as("the end of the last class")
                .isZero();
    }
}
