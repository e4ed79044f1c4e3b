package verbena.sim.card;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PredictionTest {
    private static final int REQUESTS = 20_000;

    /// A recording of one thread that keeps requests under way, as the recorder writes it.
    private static Recorded recording(
            String operation,
            int bytes,
            boolean isInline,
            int batch,
            int signal,
            int window,
            int gapNanos,
            int regions) {
        var lines = new ArrayList<String>();
        lines.add("recording 1");
        lines.add("region 1048576");
        int posted = 0;
        while (posted < REQUESTS) {
            int taken = Math.max(0, (posted + batch - window + signal - 1) / signal);
            lines.add("post 0 " + gapNanos + " " + taken + " " + batch);
            for (int i = 0; i < batch; i++) {
                posted++;
                lines.add("request " + operation + " " + bytes + " " + isInline + " " + (posted % signal == 0) + " 77 "
                        + posted % regions + " 4096");
            }
        }
        lines.add("sleeps 0");
        lines.add("left-out 0");
        return Recorded.parse(lines);
    }

    private static double experiment(String card, String load) {
        return CardRun.of(Cards.of(card), Load.of(load), 1, REQUESTS).rate();
    }

    private static Optional<Prediction.Change> change(Prediction prediction, String text) {
        return prediction.changes().stream()
                .filter(each -> each.text().contains(text))
                .findFirst();
    }

    @ParameterizedTest
    @ValueSource(strings = {"cx3", "cx5", "cx6"})
    void aRecordedProgramIsAsFastAsTheExperiment(String card) {
        Prediction read = Prediction.of(Cards.of(card), recording("read", 64, false, 1, 1, 16, 0, 1));
        assertThat(read.unhindered().rate()).isCloseTo(experiment(card, "read 64 window=16"), within(0.03));
        Prediction write = Prediction.of(Cards.of(card), recording("write", 28, true, 16, 16, 64, 0, 1));
        assertThat(write.unhindered().rate())
                .isCloseTo(experiment(card, "write 28 inline batch=16 signal=16 window=64"), within(0.03));
    }

    private static Percentage within(double share) {
        return Percentage.withPercentage(share * 100);
    }

    @Test
    void theGainOfAChangeIsThatOfTheImprovedProgram() {
        Card card = Cards.of("cx5");
        Prediction before = Prediction.of(card, recording("write", 28, true, 1, 1, 64, 0, 1));
        Prediction after = Prediction.of(card, recording("write", 28, true, 16, 1, 64, 0, 1));
        double gain = after.unhindered().rate() / before.unhindered().rate();
        assertThat(gain).isGreaterThan(1.5);
        assertThat(change(before, "one doorbell").orElseThrow().gain()).isCloseTo(gain, within(0.1));
        assertThat(gain)
                .isCloseTo(
                        experiment("cx5", "write 28 inline batch=16 window=64")
                                / experiment("cx5", "write 28 inline window=64"),
                        within(0.05));
        assertThat(change(after, "one doorbell")).isEmpty();
    }

    @Test
    void dataThatGoInlineAreRecommendedForShortRequestsAlone() {
        Card card = Cards.of("cx5");
        assertThat(change(Prediction.of(card, recording("write", 28, false, 1, 1, 1, 0, 1)), "inline"))
                .get()
                .satisfies(each -> assertThat(each.gain())
                        .isCloseTo(
                                experiment("cx5", "write 28 inline window=1") / experiment("cx5", "write 28 window=1"),
                                within(0.05)));
        assertThat(change(Prediction.of(card, recording("write", 4096, false, 1, 1, 1, 0, 1)), "inline"))
                .isEmpty();
    }

    @Test
    void manyRegionsAreFound() {
        Prediction prediction = Prediction.of(Cards.of("cx3"), recording("write", 64, false, 1, 1, 32, 0, 5_000));
        assertThat(prediction.changes().getFirst().text()).isEqualTo("register one region");
        assertThat(prediction.changes().getFirst().gain()).isGreaterThan(2);
    }

    @Test
    void aProgramThatWaitsForEachCompletionIsNotToldToBatch() {
        Prediction prediction = Prediction.of(Cards.of("cx5"), recording("read", 64, false, 1, 1, 1, 0, 1));
        assertThat(change(prediction, "one doorbell")).isEmpty();
        assertThat(change(prediction, "one completion in")).isEmpty();
        assertThat(change(prediction, "outstanding").orElseThrow().gain()).isCloseTo(2, within(0.05));
        assertThat(prediction.unhindered().bound()).isEqualTo("latency");
    }

    @Test
    void theProgramsOwnWorkIsTheLowerEnd() {
        Prediction prediction = Prediction.of(Cards.of("cx5"), recording("read", 64, false, 1, 1, 16, 2_000, 1));
        assertThat(prediction.asRecorded().rate()).isBetween(0.4, 0.5);
        assertThat(prediction.unhindered().rate()).isGreaterThan(5);
        assertThat(prediction.doubts()).anyMatch(each -> each.startsWith("the program's own work decides"));
        assertThat(Prediction.of(Cards.of("cx4"), recording("read", 64, false, 1, 1, 16, 0, 1))
                        .doubts())
                .anyMatch(each -> each.contains("no published curve"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "text | line 1: not a recording",
                "recording 1;post x 1 1 1 | line 2: 'post x 1 1 1'",
                "recording 1;request read 8 false true 1 1 1 | line 2",
                "recording 1;post 0 1 1 1;request copy 8 false true 1 1 1 | line 3",
                "recording 1;post 0 1 | line 2"
            })
    void whatIsNoRecordingIsToldWithItsLine(String text, String message) {
        assertThatThrownBy(() -> Recorded.parse(List.of(text.split(";", -1))))
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aProgramThatPostsNothingHasNoPrediction() {
        Recorded nothing = Recorded.parse(List.of("recording 1", "sleeps 0", "left-out 0"));
        assertThatThrownBy(() -> Prediction.of(Cards.of("cx5"), nothing))
                .hasMessageContaining("posted no send request");
    }
}
