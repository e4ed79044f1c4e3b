package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/// Every command with `--json` prints one object that any program reads, with all figures that its text has.
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class JsonCommandsTest {
    private static final ObjectMapper STRICT = new ObjectMapper()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final Pattern NUMBER = Pattern.compile("(?<![\\w.])-?\\d[\\d,]*(\\.\\d+)?(?![\\w.])");
    private static final String PERF = " --loopback -d shm --warm-up 0";

    @TempDir
    Path folder;

    /// How each is called here, by name.
    private static SortedMap<String, String> calls() {
        var calls = new TreeMap<String, String>();
        calls.put("verbena card run", "card run on-demand --seed 2");
        calls.put("verbena card try", "card try cx3 read+64+threads=2 -n 2000");
        calls.put("verbena check litmus", "check litmus ring -d shm --runs 3");
        calls.put("verbena cp", "cp --compare --size 1 --rounds 1");
        calls.put("verbena demo", "demo --seconds 0.02");
        calls.put("verbena network run", "network run pfc-deadlock --seed 2");
        calls.put("verbena network try", "network try star+4+100G+1us --workload incast --seed 1");
        calls.put("verbena top", "top --once --interval 0.1");
        for (CommandLine each : all(Verbena.commandLine()).toList()) {
            String name = each.getCommandSpec().qualifiedName();
            if (name.startsWith("verbena perf ") && hasJson(each)) {
                calls.put(name, name.substring("verbena ".length()) + PERF + " -n 200");
            }
        }
        return calls;
    }

    private static boolean hasJson(CommandLine command) {
        return command.getCommandSpec().findOption("--json") != null;
    }

    private static Stream<CommandLine> all(CommandLine line) {
        return Stream.concat(
                Stream.of(line), line.getSubcommands().values().stream().flatMap(JsonCommandsTest::all));
    }

    private static Cli run(String call, String... more) {
        var words = new ArrayList<String>();
        Stream.of(call.split(" ", -1)).map(word -> word.replace('+', ' ')).forEach(words::add);
        words.addAll(List.of(more));
        Cli cli = Cli.run(words.toArray(String[]::new));
        assertThat(cli.status()).as(cli.err()).isZero();
        return cli;
    }

    @Test
    void eachCommandWithJsonIsTriedHere() {
        var names = new TreeSet<String>();
        all(Verbena.commandLine())
                .filter(JsonCommandsTest::hasJson)
                .forEach(each -> names.add(each.getCommandSpec().qualifiedName()));
        assertThat(calls().keySet()).containsExactlyElementsOf(names);
    }

    /// Returns a sixth of them, as it is drawn.
    static Stream<String> each() {
        return Drawn.of(6, List.copyOf(calls().values())).stream();
    }

    @ParameterizedTest
    @MethodSource("each")
    void itIsOneObjectWithFigures(String call) throws IOException {
        String out = run(call, "--json").out();
        assertThat(numbers(STRICT.readTree(out))).isNotEmpty();
        assertThat(out).as("negative zero").doesNotContainPattern("[ \\[:]-0(\\.0*)?[,}\\] \\n]");
    }

    /// Returns a third of the calls, as it is drawn. They run in virtual time, so two runs are one.
    static Stream<String> anExperimentHasTheSameFiguresInBoth() {
        return Drawn.of(
                3,
                List.of(
                        "network run pfc-deadlock --seed 2",
                        "network try star+4+100G+1us --workload incast --seed 1",
                        "network try star+4+100G+1us --workload incast --seed 1 --selective"))
                .stream();
    }

    @ParameterizedTest
    @MethodSource
    void anExperimentHasTheSameFiguresInBoth(String call) throws IOException {
        JsonNode json = STRICT.readTree(run(call, "--json").out());
        assertThat(json.get("figures")).isNotEmpty();
        String text = run(call).out();
        for (JsonNode figure : json.get("figures")) {
            String line = text.lines()
                    .filter(each -> each.startsWith("  " + figure.get("name").asText() + "  "))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no line for " + figure + " in:\n" + text));
            allAreIn(line.substring(figure.get("name").asText().length() + 2), numbers(figure));
        }
        assertThat(text.lines().filter(line -> line.matches("  \\S.*  +[\\d,.]+( .*)?")))
                .as("lines of figures")
                .hasSize(json.get("figures").size());
    }

    /// Returns a third of the calls, as it is drawn. Text and file are of one run.
    static Stream<String> aMeasurementHasTheSameFiguresInBoth() {
        return Drawn.of(
                3,
                List.of(
                        "write-bw -n 200 -s 4096",
                        "send-bw -b --report-both -n 200 -s 4096",
                        "write-bw --report_gbits -n 200 -s 4096",
                        "read-lat -n 200 -s 4096",
                        "write-lat -D 1 -s 4096",
                        "send-lat -n 200 -s 4096"))
                .stream();
    }

    @ParameterizedTest
    @MethodSource
    void aMeasurementHasTheSameFiguresInBoth(String call) throws IOException {
        Path file = folder.resolve("report.json");
        String text = run("perf " + call + PERF, "--out_json_file=" + file).out();
        var known = numbers(STRICT.readTree(Files.readString(file)).get("results"));
        boolean isGigabits = call.contains("gbits");
        if (isGigabits) { // the text's unit, of the report's
            List.copyOf(known).forEach(each -> known.add(each * (1 << 20) / 125e6));
        }
        if (call.contains("-D")) {
            List.copyOf(known).forEach(each -> known.add(each * 1e6)); // messages a second
        }
        List<String> rows =
                text.lines().filter(line -> line.startsWith(" 4096 ")).toList();
        assertThat(rows).as(text).hasSize(call.contains("both") ? 3 : 1);
        rows.forEach(row -> allAreIn(row, known));
    }

    private static List<Double> numbers(JsonNode of) {
        var found = new ArrayList<Double>();
        if (of.isNumber()) {
            found.add(of.asDouble());
        }
        of.forEach(each -> found.addAll(numbers(each)));
        return found;
    }

    /// A zero where nothing was measured is left out of JSON.
    private static void allAreIn(String text, List<Double> known) {
        NUMBER.matcher(text)
                .results()
                .map(found -> found.group().replace(",", ""))
                .forEach(number -> {
                    int digits = number.contains(".") ? number.length() - number.indexOf('.') - 1 : 0;
                    double value = Double.parseDouble(number);
                    double tolerance = Math.max(0.51 * Math.pow(10, -digits), value * 1e-5);
                    assertThat(value == 0 || known.stream().anyMatch(each -> Math.abs(each - value) <= tolerance))
                            .as("%s of \"%s\" in %s", number, text, known)
                            .isTrue();
                });
    }
}
