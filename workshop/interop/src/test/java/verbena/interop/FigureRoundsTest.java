package verbena.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FigureRoundsTest {
    @Test
    void aFigureIsTheMedianOfItsRoundsAndHasItsRange() {
        var rounds = new FigureRounds(new Run.Jvm(Path.of("java"), Path.of("agent"), true));
        for (double value : new double[] {30, 1_000, 20}) {
            rounds.add("kafka 4", "shm", Map.of("records a second", value));
        }
        rounds.add("kafka 4", "JDK NIO", Map.of("records a second", 2.0));
        rounds.add("kafka 4", "JDK NIO", Map.of("records a second", 3.0));
        assertThat(rounds.text().lines().map(String::strip))
                .containsExactly(
                        "",
                        "kafka 4: records a second",
                        "shm                  30.0   (20.0 to 1,000.0)",
                        "JDK NIO               2.5   (2.0 to 3.0)");
    }

    @Test
    void figuresGoThroughALineOfText() {
        var figures = Times.parse("one, 99.9 %, us=12.5; two=1.0E7");
        assertThat(figures).containsExactly(Map.entry("one, 99.9 %, us", 12.5), Map.entry("two", 1e7));
        assertThat(Times.parse(Times.text(figures))).isEqualTo(figures);
        assertThat(Times.parse("")).isEmpty();
    }
}
