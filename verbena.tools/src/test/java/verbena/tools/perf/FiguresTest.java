package verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import verbena.verbs.QpType;

/// The arithmetic of perftest.
class FiguresTest {
    @Test
    void latenciesLeaveOutTheTwoLongest() {
        // 1 to 1002, from the last to the first.
        var found = new Latencies(
                IntStream.rangeClosed(1, 1002).mapToDouble(i -> 1003 - i).toArray());

        assertThat(found.min()).isEqualTo(1);
        assertThat(found.max()).as("the third longest but one in the row").isEqualTo(1001);
        assertThat(found.median()).isEqualTo(500.5);
        assertThat(found.average()).isEqualTo(500.5);
        assertThat(found.deviation()).isCloseTo(288.67, within(0.01));
        assertThat(found.percentile(0.99)).isEqualTo(991);
        assertThat(found.percentile(0.999)).isEqualTo(1000);
    }

    @Test
    void fourTimesAreEnough() {
        var found = new Latencies(new double[] {4, 3, 2, 1});

        assertThat(found.min()).isEqualTo(1);
        assertThat(found.median()).isEqualTo(1.5);
        assertThat(found.max()).isEqualTo(3);
        assertThat(found.percentile(0.99)).isEqualTo(3);
    }

    @Test
    void bandwidthIsInMebibytesOrGigabits() {
        Bandwidth mebibytes = Bandwidth.of(1 << 20, 100, 1_000_000_000, 5e6, false);
        Bandwidth gigabits = Bandwidth.of(1 << 20, 100, 1_000_000_000, 0, true);

        assertThat(mebibytes.average()).isEqualTo(100);
        assertThat(mebibytes.peak()).isEqualTo(200);
        assertThat(mebibytes.messageRate()).isEqualTo(100e-6);
        assertThat(gigabits.average()).isEqualTo(100 * 8.388608 / 1000, within(1e-9));
        assertThat(gigabits.peak()).isZero();
        assertThat(gigabits.result(null, true, null).bandwidthMBps()).isEqualTo(100, within(1e-9));
    }

    @Test
    void thePeakIsTheBestStretchFromAPostToACompletion() {
        long[] posted = {0, 10, 20, 100};
        long[] completed = {50, 60, 130, 140};

        // From the first to the second: 60 for two messages, and so the least.
        assertThat(Bandwidth.peakNanos(posted, completed, 4, 1, 1)).isEqualTo(30, within(1e-9));
    }

    @Test
    void withModerationACompletionStandsForSeveralAndTheLastOneCounts() {
        long[] posted = {0, 1, 2, 3, 4};
        long[] completed = {0, 40, 0, 60, 61};

        // 0..1: 20 each; 0..3: 15 each; 0..4: 61 for 5.
        assertThat(Bandwidth.peakNanos(posted, completed, 5, 1, 2)).isEqualTo(61 / 5.0, within(1e-9));
    }

    @Test
    void smallMessagesGoRoundInAPageAndDatagramsLeaveRoomForTheirHeader() {
        var layout = new Layout(QpType.RC, 4, 4096, 64, 8);

        assertThat(layout.bytes()).isEqualTo(8 * 4096);
        assertThat(layout.sendOffset(3)).isEqualTo(3 * 4096);
        assertThat(layout.remoteOffset(0)).isEqualTo(4 * 4096);
        assertThat(layout.step(8)).isEqualTo(64);
        assertThat(layout.step(65)).isEqualTo(128);
        assertThat(layout.slots(8)).isEqualTo(64);
        assertThat(layout.slots(2048)).isEqualTo(2);
        assertThat(layout.slots(2049)).isEqualTo(1);

        var datagrams = new Layout(QpType.UD, 1, 4096, 64, 4096);
        assertThat(datagrams.receiveOffset(0)).isEqualTo(4096 + 24);
        assertThat(datagrams.receiveOffset(0) + datagrams.receiveBytes(4096)).isEqualTo(datagrams.bytes());
    }
}
