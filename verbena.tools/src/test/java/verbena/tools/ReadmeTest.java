package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import verbena.conformance.Suite;

/// What the documents promise of their programs is true.
class ReadmeTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));
    /// Commands that end by themselves within a second or two.
    private static final Pattern RUNS_BY_ITSELF = Pattern.compile("(?:explain|decode|status) ");

    @Test
    void theProgramOfTheReadmeDoesWhatItSays(@TempDir Path classes) throws Exception {
        assertThat(printedBy("README.md", "It prints `(.*?)`", classes)).isEqualTo("written from afar");
    }

    @Test
    void theServerAndItsClientDoWhatTheFirstStepsSay(@TempDir Path classes) throws Exception {
        assertThat(printedBy("docs/start.md", "The server prints `(.*?)`", classes))
                .isEqualTo("written from afar");
    }

    @Test
    void theReadmeIsShort() throws Exception {
        assertThat(Files.readAllLines(ROOT.resolve("README.md")))
                .hasSizeLessThanOrEqualTo(120)
                .allSatisfy(line -> assertThat(line.length()).as(line).isLessThanOrEqualTo(220));
    }

    @Test
    void theProgramWithoutAConnectionManagerDoesWhatTheMapSays(@TempDir Path classes) throws Exception {
        assertThat(printedBy("docs/verbs.md", "It prints `(.*?)`", classes)).isEqualTo("SUCCESS: written from afar");
    }

    /// What the page shows is part of a program that [#eachExamplePrintsWhatItSays] runs.
    @Test
    void thePageOfOrderShowsItsExample() throws Exception {
        String example = Files.readString(ROOT.resolve("examples/Seqlock.java"));
        assertThat(Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                        .matcher(Files.readString(ROOT.resolve("docs/ordering.md")))
                        .results()
                        .map(match -> match.group(1).indent(4)))
                .hasSize(2)
                .allSatisfy(part -> assertThat(example).contains(part));
    }

    @Test
    void thePageOfStreamsShowsItsExample() throws Exception {
        String example = Files.readString(ROOT.resolve("examples/Streams.java"));
        var shown = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(ROOT.resolve("docs/stream.md")));
        assertThat(shown.find()).isTrue();
        assertThat(example).contains(shown.group(1));
    }

    @Test
    void thePageOfMessagesShowsItsExample() throws Exception {
        String example = Files.readString(ROOT.resolve("examples/Calls.java"));
        String page = Files.readString(ROOT.resolve("docs/messages.md"));
        var shown = Pattern.compile("It prints\n`(.*?)`:\n\n```java\n(.*?)```", Pattern.DOTALL)
                .matcher(page);
        assertThat(shown.find()).isTrue();
        assertThat(example)
                .contains("/// Prints: " + shown.group(1) + "\n", shown.group(2).indent(8));
    }

    /// The last column names the section, and each figure of the row stands in it.
    @Test
    void eachFigureOfTheReadmeStandsInThePageOfPerformance() throws Exception {
        String readme = Files.readString(ROOT.resolve("README.md"));
        String performance = Files.readString(ROOT.resolve("docs/performance.md"));
        var rows = Pattern.compile(
                        "(?m)^\\| (.+?) \\| (.+?) \\| (.*?) ?\\| \\[.*?]\\(docs/performance\\.md#(.+?)\\) \\|$")
                .matcher(readme)
                .results()
                .toList();
        assertThat(rows).hasSizeGreaterThan(4);
        for (var row : rows) {
            String section = section(performance, row.group(4));
            assertThat(figures(row.group(2))).as(row.group()).isNotEmpty();
            Set<String> missing = figures(row.group(2) + " " + row.group(3));
            missing.removeAll(figures(section));
            assertThat(missing).as(row.group()).isEmpty();
        }
        var measured = Pattern.compile("Measured on two cores of an (AMD EPYC \\(family \\d+, model \\d+; [a-z ]+\\)),"
                        + " on loopback, from ([\\d-]+) to\\s+([\\d-]+)\\.")
                .matcher(readme);
        assertThat(measured.find()).as("machine and days").isTrue();
        assertThat(performance.replace('\n', ' ')).contains(measured.group(1), measured.group(2), measured.group(3));
    }

    private static String section(String page, String anchor) {
        return Pattern.compile("(?m)^(?=#)")
                .splitAsStream(page)
                .filter(text -> anchor(text.lines().findFirst().orElse("")).equals(anchor))
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no section " + anchor));
    }

    /// As GitHub makes it of a heading.
    private static String anchor(String heading) {
        return heading.replaceAll("^#+ ", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^a-z0-9 -]", "")
                .replace(' ', '-');
    }

    private static Set<String> figures(String text) {
        return Pattern.compile("(?<![\\w.,-])\\d[\\d.,]*(?![\\w])")
                .matcher(text)
                .results()
                .map(match -> match.group().replaceAll("[.,]$", ""))
                .collect(Collectors.toSet());
    }

    @Test
    void theReadmeAndThePageOfBuildingNameTheSameTimes() throws Exception {
        String readme = Files.readString(ROOT.resolve("README.md"));
        String hacking = Files.readString(ROOT.resolve("HACKING.md"));
        var build =
                Pattern.compile("build then takes (.*?) s on two idle cores").matcher(readme);
        var tests = Pattern.compile("runs the tests drawn for this commit, in about (\\d+) minutes")
                .matcher(readme);
        assertThat(build.find() && tests.find()).isTrue();
        assertThat(hacking).contains("| the first build | " + build.group(1) + " |");
        assertThat(hacking).contains("| the tests of a fresh clone | " + Integer.parseInt(tests.group(1)) * 60 + " |");
    }

    /// A number in round tens, which is not too large and not long out of date.
    @Test
    void theReadmeCountsThePromisesOfTheApi() throws Exception {
        var counted = Pattern.compile("more than (\\d+) promises").matcher(Files.readString(ROOT.resolve("README.md")));
        assertThat(counted.find()).isTrue();
        int promises = Suite.cases("*").size();
        assertThat(promises)
                .isBetween(Integer.parseInt(counted.group(1)), Integer.parseInt(counted.group(1)) * 11 / 10);
    }

    /// Compiles the programs of a document and runs them at once; what they print is what the document promises.
    private String printedBy(String document, String promise, Path classes) throws Exception {
        String text = Files.readString(ROOT.resolve(document));
        var promised = Pattern.compile(promise).matcher(text);
        assertThat(promised.find()).as("what it prints").isTrue();
        List<String> sources = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(text)
                .results()
                .map(match -> match.group(1))
                .filter(source -> source.contains("void main"))
                .toList();
        assertThat(sources).as("programs").isNotEmpty();
        SourcePrograms.compile(sources, classes);
        assertThat(SourcePrograms.printed(sources, classes)).isEqualTo(promised.group(1));
        return promised.group(1);
    }

    static Stream<String> documentsWithCommands() throws Exception {
        var names = new ArrayList<String>(List.of("README.md", "examples/README.md", "TESTING.md", "HACKING.md"));
        for (String folder : List.of("docs", "docs/learn")) {
            try (var files = Files.newDirectoryStream(ROOT.resolve(folder), "*.md")) {
                files.forEach(file -> names.add(ROOT.relativize(file).toString()));
            }
        }
        return names.stream().sorted();
    }

    /// Each has the command, its options and its arguments. What ends soon and needs no second end runs too, in a
    /// sixth of the chapters, as they are drawn ([Drawn]).
    @ParameterizedTest
    @MethodSource("documentsWithCommands")
    void eachCommandOfADocumentCanBeGiven(String document, @TempDir Path folder) throws Exception {
        Set<String> ofDevelopers = Files.readAllLines(ROOT.resolve(".dev/commands.txt")).stream()
                .map(line -> line.strip().split(" ", 2)[0])
                .collect(Collectors.toSet());
        List<String> runs = Drawn.of(6, documentsWithCommands().toList());
        var wrong = new ArrayList<String>();
        for (String[] words : commands(Files.readString(ROOT.resolve(document)))) {
            String command = String.join(" ", words);
            if (ofDevelopers.contains(words[0])) {
                continue;
            }
            try {
                Verbena.commandLine().parseArgs(words);
            } catch (CommandLine.ParameterException e) {
                if (e.getCommandLine().getCommandSpec().qualifiedName().equals("verbena " + command)) {
                    continue; // its name only
                }
                wrong.add(command + ": " + e.getMessage());
                continue;
            }
            if (document.startsWith("docs/learn/")
                    && runs.contains(document)
                    && RUNS_BY_ITSELF.matcher(command).lookingAt()) {
                for (int i = 1; i < words.length; i++) {
                    words[i] = words[i - 1].equals("--html")
                            ? folder.resolve(words[i]).toString()
                            : words[i].startsWith("golden/")
                                    ? ROOT.resolve(words[i]).toString()
                                    : words[i];
                }
                Cli cli = Cli.run(words);
                if (cli.status() != 0) {
                    wrong.add(command + ": " + cli.err());
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    /// What stands behind `./verbena`, in code of any kind, without comments and marks of what may be left out. A
    /// name alone is one of a command, not a command to give.
    private static List<String[]> commands(String document) {
        return Stream.of("(?m)^ {4,}(?:\\$ )?\\./verbena +([a-z].*)", "`(?:\\w+ [^`]*?)?\\./verbena\\s+([a-z][^`]*)`")
                .flatMap(code -> Pattern.compile(code).matcher(document).results())
                .map(match -> match.group(1)
                        .replaceAll("\\s+(?:[#&>|]|\\\\\\|).*|;.*", "")
                        .replaceAll("[\\[\\]]", ""))
                .map(command -> Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)")
                        .matcher(command)
                        .results()
                        .map(word -> word.group().replaceAll("^[\"']|[\"']$", ""))
                        .toArray(String[]::new))
                .filter(words -> words.length > 1)
                .toList();
    }

    @Test
    void commandsAreFoundInAllKindsOfCode() {
        assertThat(commands("""
                            ./verbena explain write   # tells
                        `./verbena pingpong rc [HOST]` and `taskset -c 0 ./verbena perf
                        send-lat` but neither ./verbena none nor `./verbena run`
                            $ ./verbena network try "star 3 1G" | head
                        """))
                .containsExactly(
                        new String[] {"explain", "write"},
                        new String[] {"network", "try", "star 3 1G"},
                        new String[] {"pingpong", "rc", "HOST"},
                        new String[] {"perf", "send-lat"});
    }

    /// Otherwise a client that fails leaves a thread that accepts for ever, and the program hangs.
    @Test
    void listenersOfExamplesCloseBeforeTheThreadsThatAccept() throws Exception {
        var sources = new ArrayList<>(SourcePrograms.examples());
        sources.add(Files.readString(ROOT.resolve("README.md")));
        var wrong = Pattern.compile(
                "(?s)try \\((?:(?!\\) \\{\n).)*?(?:\\.bind|\\.listen)\\((?:(?!\\) \\{\n).)*?= Executors\\.");
        assertThat(sources)
                .hasSizeGreaterThan(10)
                .noneMatch(source -> wrong.matcher(source).find());
    }

    @Test
    void eachExamplePrintsWhatItSays(@TempDir Path classes) throws Exception {
        List<String> examples = SourcePrograms.examples();
        assertThat(examples).hasSizeGreaterThan(5);
        SourcePrograms.compile(examples, classes);
        for (String example : examples) {
            String name = SourcePrograms.name(example);
            assertThat(SourcePrograms.printed(List.of(example), classes))
                    .as(name)
                    .isEqualTo(SourcePrograms.promised(example));
            assertThat(example.lines().count()).as(name).isLessThanOrEqualTo(120);
            assertThat(Files.readString(ROOT.resolve("examples/README.md"))).contains(name + ".java");
        }
    }

    @Test
    void theReplicatedStoreIsAsShortAsItsPageSays() throws Exception {
        long lines = 0;
        try (var files = Files.newDirectoryStream(ROOT.resolve("examples/kv"), "*.java")) {
            for (Path file : files) {
                lines += Files.readAllLines(file).stream()
                        .filter(line -> !line.isBlank() && !line.strip().startsWith("//"))
                        .count();
            }
        }
        assertThat(lines).isLessThanOrEqualTo(800);
        assertThat(Files.readString(ROOT.resolve("examples/README.md"))).contains("in " + lines + " lines of code");
    }

    @Test
    void everyFileThatTheReadmeLinksToExists() throws Exception {
        var link = Pattern.compile("\\]\\(([^)#:]+)\\)").matcher(Files.readString(ROOT.resolve("README.md")));
        while (link.find()) {
            assertThat(ROOT.resolve(link.group(1))).exists();
        }
    }

    /// The words by which people of the field search, in the pages that have the thing.
    @ParameterizedTest
    @CsvSource({
        "rendezvous, docs/messages.md",
        "eager, docs/messages.md",
        "doorbell batching, docs/fast-start.md",
        "doorbell batching, examples/README.md",
        "zero copy, README.md",
        "zero copy, docs/learn/03-zero-copy.md",
        "kernel bypass, README.md",
        "kernel bypass, docs/learn/03-zero-copy.md"
    })
    void theWordsOfTheFieldStandWhereTheThingIs(String word, String page) throws Exception {
        assertThat(Files.readString(ROOT.resolve(page)).toLowerCase(Locale.ROOT).replaceAll("\\s+", " "))
                .contains(word);
    }
}
