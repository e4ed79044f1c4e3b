package verbena.sim.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.sim.script.PacketScript.rc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// That a script which did not happen fails, and says where; and how many scripts there are.
class PacketScriptTest {
    @Test
    void aFailureShowsTheScriptWithTheFirstDifferingLineAndWhatHappened() {
        assertThatThrownBy(() -> rc().run("""
                a         post  write 3000 -> r1+0
                a -> b    WRITE_FIRST   psn 100  | 1024
                a -> b    WRITE_MIDDLE  psn 102  | 1000
                b -> a    ACK  psn 102
                """))
                .isInstanceOf(ScriptFailure.class)
                .hasMessage("""
                line 3 of the script did not happen

                    a         post  write 3000 -> r1+0
                    a -> b    WRITE_FIRST   psn 100  | 1024
                  > a -> b    WRITE_MIDDLE  psn 102  | 1000
                  ! a -> b  WRITE_MIDDLE  psn 101                 | 1024
                  ! psn: expected 102, was 101
                  ! payload: expected 1000 bytes, was 1024
                    b -> a    ACK  psn 102

                what happened:
                    +0ms           a -> b     WRITE_FIRST   psn 100  r1+0 len 3000  | 1024
                                     => accepted
                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                a -> b ACK psn 100                                          | has nothing to send
                a state ERR                                                 | a state RTS
                a completion wr 1 success                                   | has no completion
                a event COMM_EST                                            | has no event
                b counter accepted 1                                        | counter accepted 0
                b memory r1+0 len 8 as sent                                 | expected
                b word r1+0 is 5                                            | b word r1+0 is
                b notified                                                  | was notified 0 times
                peer -> b WRITE_ONLY psn 100 r1+0  => duplicate             | => accepted
                peer -> b WRITE_ONLY psn 100 r1+0 ackreq                    | expected the end of the script
                peer -> b WRITE_ONLY psn 100 rkey 1 len 8                   | expected the end of the script
                a post write 8 -> r1+0                                      | expected the end of the script
                a post recv 8 wr 1 ; a modify ERR                           | left over: a completion wr 1
                b modify notify-drained SQD                                 | left over: b event SQ_DRAINED
                a post write 8 -> r1+0 ; nothing                            | expected nothing, but at +0ms
                a post write 8 -> r1+0 ; a -x b WRITE_ONLY ; nothing until +68ms | at +67.108864ms
                a post write 8 -> r1+0 ; a -x b WRITE_ONLY ; +67ms a -> b WRITE_ONLY | next deadline is in +0.108864ms
                a post write 8 -> r1+0 ; a -> b WRITE_ONLY ; b memory unchanged ; b -> a ACK | r1+0 has changed
                """)
    void whatDidNotHappenFails(String lines, String message) {
        assertThatThrownBy(() -> rc().run(lines.replace(" ; ", "\n")))
                .isInstanceOf(ScriptFailure.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                c post send 1                  | there is no end called c
                a dance                        | no end can "dance"
                a post send                    | bytes is missing
                a post send x                  | bytes is a number
                a post send 1 quickly          | "quickly" means nothing here
                a post write 1 -> r9+0         | is a number
                a completion wr 1 done         | has no completion
                b counter luck 1               | there is no counter called luck
                peer -> b WRITE_ONLY => maybe  | there is no fate called maybe
                """)
    void whatMeansNothingIsRefused(String lines, String message) {
        assertThatThrownBy(() -> rc().run(lines)).hasMessageContaining(message);
    }

    @Test
    void twoRunsAreAlike() {
        String script = """
                a         post  write 8 -> r1+0
                a -> b    WRITE_ONLY  psn 100  rkey 1
                """;
        String first = failure(script);
        assertThat(failure(script)).isEqualTo(first).contains("rkey: expected");
    }

    @ParameterizedTest
    @CsvSource({"rc, 310", "uc, 110", "ud, 75", "xrc, 25"})
    void thereAreScriptsForEveryRule(String service, int least) throws IOException {
        Path tests = Path.of(Objects.requireNonNull(System.getProperty("verbena.root")))
                .resolve("verbena.sim/src/test/java/verbena/sim/" + service);
        int scripts = 0;
        try (Stream<Path> files = Files.list(tests)) {
            for (Path file : files.toList()) {
                scripts += Files.readString(file).split("\\.run\\(\"\"\"", -1).length - 1;
            }
        }
        System.out.println(scripts + " packet scripts of " + service.toUpperCase(Locale.ROOT));
        assertThat(scripts).isGreaterThanOrEqualTo(least);
    }

    private static String failure(String script) {
        try {
            rc().run(script);
        } catch (ScriptFailure failure) {
            return String.valueOf(failure.getMessage());
        }
        throw new IllegalStateException("it did not fail");
    }
}
