package verbena.tools.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A clause of the standards that stands at a rule stands at a script, too: `./verbena test --clauses` has all of
/// them.
class ClausesTest {
    @Test
    void aRulesClauseHasAScript() throws IOException {
        assertThat(Clauses.of(House.ROOT).withoutScript())
                .as("clauses at a rule and at no script: cite them where they are tested, or write the script")
                .isEmpty();
    }

    @Test
    void aCitationIsReadWhereverItsLineEnds(@TempDir Path root) throws IOException {
        write(root, "verbena.transport/src/main/java/Rule.java", """
                /// In order (IBTA 9.7.2, C9-88 and 10.8.3.3), by the way of 10.0.0.1 and decision 48,
                /// of IBTA 11.4 and RFC 5040, 7306, and 5 ms (RFC 5044, 7.1.2; RFC 5041 8).
                """);
        assertThat(Clauses.of(root).withoutScript())
                .containsExactly("IBTA 9.7.2", "IBTA 10.8.3.3", "IBTA C9-88", "RFC 5041 8", "RFC 5044 7.1.2");
        write(root, "verbena.sim/src/test/java/Script.java", "// IBTA 9.7.2.1, C9-88.\n");
        write(root, "verbena.conformance/src/main/java/Case.java", "// IBTA 10.8.3\n// RFC 5041 8\n");
        write(root, "verbena.tools/src/main/java/Tool.java", "// IBTA 12.6\n");
        assertThat(Clauses.of(root).withoutScript()).containsExactly("IBTA 10.8.3.3", "RFC 5044 7.1.2");
    }

    private static void write(Path root, String name, String text) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
