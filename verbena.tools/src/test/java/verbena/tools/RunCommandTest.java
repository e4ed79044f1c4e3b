package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/// `verbena run` is documented by a class and done by the start script: both know the same options.
class RunCommandTest {
    private static final Pattern LABEL = Pattern.compile("(?m)^ +(-[^)]*)\\)");
    private static final List<String> ENDS = List.of("--", "-*");

    private final List<OptionSpec> documented =
            new CommandLine(RunCommand.class).getCommandSpec().options();

    @Test
    void theStartScriptTakesTheOptionsThatAreDocumentedAndNoOthers() throws IOException {
        assertThat(labels())
                .filteredOn(label -> !label.endsWith("=*") && !ENDS.contains(label))
                .containsExactlyInAnyOrderElementsOf(documented.stream()
                        .flatMap(option -> Arrays.stream(option.names()))
                        .toList());
    }

    @Test
    void aLongOptionWithAValueTakesItBehindAnEqualsSignToo() throws IOException {
        assertThat(labels())
                .filteredOn(label -> label.endsWith("=*"))
                .containsExactlyInAnyOrderElementsOf(documented.stream()
                        .filter(option -> option.arity().max() > 0)
                        .map(option -> option.longestName() + "=*")
                        .toList());
    }

    @Test
    void aWrongUsageIsOneLineAndStatusTwo() throws Exception {
        for (String wrong : List.of("--nope x", "--faults", "-d a -d b --faults loss:1% x", "--")) {
            Process script = new ProcessBuilder(
                            "sh", "-c", Cli.root().resolve("dist/bin/verbena") + " run " + wrong + " 2>&1")
                    .start();
            String said = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(script.waitFor()).as(said).isEqualTo(2);
            assertThat(said)
                    .startsWith("verbena run: ")
                    .endsWith(". See 'verbena run --help'.\n")
                    .hasLineCount(1);
        }
    }

    /// What stands in front of the `)` of a case that begins with an option.
    private static List<String> labels() throws IOException {
        String script = Files.readString(Cli.root().resolve("dist/bin/verbena"));
        String parser = script.substring(script.indexOf("run_program() {"), script.indexOf("exec \"$@\""));
        // The second switch tells apart what the first has let through.
        String outer = parser.replaceAll("(?s)case \\$1 in\\s+--faults.*?esac", "");
        return LABEL.matcher(outer)
                .results()
                .flatMap(result -> Arrays.stream(result.group(1).split(" \\| ")))
                .toList();
    }
}
