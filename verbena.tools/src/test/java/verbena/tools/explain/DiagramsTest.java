package verbena.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Help.Ansi;

/// The drawings of a recording that is always the same.
class DiagramsTest {
    private static String terminal(Ansi ansi, int columns, boolean ascii) {
        var out = new StringWriter();
        new TextDiagram(new PrintWriter(out), ansi, columns, ascii).print(FixedRecording.RECORDING);
        return out.toString();
    }

    @Test
    void theTerminalShowsFourLanes() {
        assertThat(terminal(Ansi.OFF, 90, true)).isEqualTo("""
                explain fixed: one of each, & <odd> "signs"; #1

                Two ends.

                 no       us  since last app A  device A                                    device B app B
                --- Begin --------------------------------------------------------------------------------
                  1        1.0      +1.0  |--->| doorbell                                           |    |
                  2        2.0      +1.0  |    |--- WRITE_FIRST psn 1 b+0 len 9 | 4 --------------->|    |
                  3        2.0      +0.0  |    |--- WRITE_LAST psn 2; #x <y> | 5 ------->x          |    |
                  4       11.0      +9.0  |    |                              4 bytes placed at b+0 *    |
                  5       12.0      +1.0  |    |<---------------------- NAK sequence psn 2 msn 0 ---|    |
                  6    1,500.0  +1,488.0  |    |                        completion 7: RECV, SUCCESS |--->|

                What happened

                Begin. A part.
                  1 doorbell (took 2.5 us). Rings.
                  2 WRITE_FIRST psn 1 b+0 len 9 | 4 (in flight for 8.1 us). A packet.
                  3 WRITE_LAST psn 2; #x <y> | 5. A packet.
                  4 4 bytes placed at b+0. Looked at.
                  5 NAK sequence psn 2 msn 0 (in flight for 3.0 us). A packet.
                  6 completion 7: RECV, SUCCESS. Done.

                Summary
                  Packets: 2 (1 lost) from A, 1 from B.
                """);
    }

    @ParameterizedTest
    @ValueSource(ints = {72, 80, 100, 160})
    void itIsAsWideAsTheTerminalAndNoWider(int columns) {
        String text = terminal(Ansi.OFF, columns, false);
        assertThat(text.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(columns));
        assertThat(text.lines()).anyMatch(line -> line.length() == columns);
        assertThat(text).contains("►", "◄", "✗", "●", "µs").doesNotContain("\u001b");
    }

    @Test
    void manyThatSayTheSameAreFolded() {
        var events = new ArrayList<Event>();
        events.add(Event.phase(0, "Begin", ""));
        for (int i = 1; i <= 20; i++) {
            events.add(new Event(
                    i * 1_000L,
                    500,
                    Event.Kind.PACKET,
                    Place.DEVICE_A,
                    Place.DEVICE_B,
                    "WRITE_MIDDLE psn " + i,
                    "More of it.",
                    null));
        }
        var out = new StringWriter();
        new TextDiagram(new PrintWriter(out), Ansi.OFF, 100, true)
                .print(new Recording(Cast.ENDS, "fixed", "", List.of(), events, List.of()));

        assertThat(out.toString().lines().filter(line -> line.contains("psn")))
                .hasSize(5) // four in the diagram, and the note
                .anyMatch(line -> line.startsWith(" 20") && line.contains("psn 20"))
                .anyMatch(line -> line.startsWith("  1-20 WRITE_MIDDLE psn 1. More of it."));
        assertThat(out.toString()).contains("~ 16 more like these");
    }

    @Test
    void coloursAreForTerminals() {
        assertThat(terminal(Ansi.ON, 100, false)).contains("\u001b[31m", "\u001b[36m");
        assertThat(terminal(Ansi.ON, 100, false).replaceAll("\u001b\\[[0-9;]*m", ""))
                .isEqualTo(terminal(Ansi.OFF, 100, false));
    }

    @Test
    void plantUmlHasAnArrowForEachAndNothingThatItWouldMisread() {
        assertThat(PlantUml.of(FixedRecording.RECORDING)).isEqualTo("""
                @startuml
                title explain fixed: one of each, & ~<odd> "signs"; #1
                hide footbox
                participant "application A" as appA
                participant "device A" as devA
                participant "device B" as devB
                participant "application B" as appB
                == Begin ==
                appA -> devA : [1.0 µs] doorbell
                devA ->> devB : [2.0 µs] WRITE_FIRST psn 1 b+0 len 9 | 4
                devA ->x devB : [2.0 µs] WRITE_LAST psn 2; #x ~<y> | 5 (lost)
                note over devB : [11.0 µs] 4 bytes placed at b+0
                devB ->> devA : [12.0 µs] NAK sequence psn 2 msn 0
                devB --> appB : [1,500.0 µs] completion 7: RECV, SUCCESS
                @enduml
                """);
    }

    @Test
    void mermaidHasAnArrowForEachAndNothingThatItWouldMisread() {
        assertThat(Mermaid.of(FixedRecording.RECORDING)).isEqualTo("""
                sequenceDiagram
                    participant appA as application A
                    participant devA as device A
                    participant devB as device B
                    participant appB as application B
                    Note over appA,appB: Begin
                    appA->>devA: 1.0 µs doorbell
                    devA->>devB: 2.0 µs WRITE_FIRST psn 1 b+0 len 9 | 4
                    devA-xdevB: 2.0 µs WRITE_LAST psn 2#59; #35;x #lt;y#gt; | 5 (lost)
                    Note over devB: 11.0 µs 4 bytes placed at b+0
                    devB->>devA: 12.0 µs NAK sequence psn 2 msn 0
                    devB-->>appB: 1,500.0 µs completion 7: RECV, SUCCESS
                """);
    }
}
