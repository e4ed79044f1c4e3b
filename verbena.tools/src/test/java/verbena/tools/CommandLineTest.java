package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import verbena.tools.kit.Size;

class CommandLineTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "devices",
                "info",
                "pingpong",
                "pingpong rc",
                "pingpong uc",
                "pingpong ud",
                "pingpong srq",
                "rping",
                "ucmatose",
                "udaddy",
                "mckey",
                "xclient",
                "xserver",
                "fabric",
                "fabric up",
                "fabric show",
                "fabric down",
                "run",
                "agent",
                "help",
                "decode",
                "status",
                "top",
                "capture",
                "demo",
                "explain",
                "sim",
                "network",
                "network list",
                "network run",
                "network try",
                "card",
                "card list",
                "card run",
                "card try",
                "card predict",
                "conform"
            })
    void everyCommandHasHelp(String command) {
        Cli cli = Cli.run((command + " --help").strip().split(" ", -1));

        assertThat(cli.status()).isZero();
        assertThat(cli.err()).isEmpty();
        assertThat(cli.out()).contains(("Usage: verbena " + command).strip()).contains("--help", "--version");
        assertThat(cli.out()).doesNotContain("\u001b");
        assertThat(cli.outLines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "devices",
                "info",
                "pingpong",
                "pingpong rc",
                "pingpong uc",
                "pingpong ud",
                "pingpong srq",
                "rping",
                "ucmatose",
                "udaddy",
                "mckey",
                "xclient",
                "xserver",
                "fabric",
                "fabric up",
                "fabric show",
                "fabric down",
                "run",
                "agent",
                "help",
                "decode",
                "status",
                "top",
                "capture",
                "demo",
                "explain",
                "sim",
                "network",
                "network list",
                "network run",
                "network try",
                "card",
                "card list",
                "card run",
                "card try",
                "card predict",
                "conform"
            })
    void everyCommandTellsTheVersion(String command) {
        Cli cli = Cli.run((command + " --version").strip().split(" ", -1));

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines().getFirst()).matches("verbena \\d+\\.\\d+.*");
    }

    @Test
    void theOverviewNamesEachCommandInItsGroup() {
        Cli cli = Cli.run("--help");
        assertThat(cli.out())
                .containsSubsequence(
                        "Try:",
                        "  demo ",
                        "  explain ",
                        "  pingpong ",
                        "  help ",
                        "Diagnose:",
                        "  doctor ",
                        "  devices ",
                        "  info ",
                        "  status ",
                        "  top ",
                        "  capture ",
                        "  decode ",
                        "Measure:",
                        "  perf ",
                        "Move data:",
                        "  cp ",
                        "  serve ",
                        "  agent ",
                        "C programs",
                        "  run ",
                        "  rping ",
                        "  ucmatose ",
                        "  udaddy ",
                        "  mckey ",
                        "  xclient ",
                        "  xserver ",
                        "Laboratory:",
                        "  fabric ",
                        "  network ",
                        "  sim ",
                        "  conform ")
                .doesNotContain("demo-peer", "cp-peer", "train");
        var hidden = List.of("demo-peer", "cp-peer", "train");
        Verbena.commandLine().getSubcommands().keySet().stream()
                .filter(name -> !hidden.contains(name))
                .forEach(name -> assertThat(cli.out()).containsPattern("(?m)^  " + name + " "));
    }

    @Test
    void withoutACommandTheOverviewGoesToStandardError() {
        Cli cli = Cli.run();

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.out()).isEmpty();
        assertThat(cli.err()).contains("Diagnose:");
    }

    @Test
    void anUnknownCommandSuggestsTheNearOnes() {
        Cli cli = Cli.run("devces");

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).startsWith("verbena: unknown command 'devces'; did you mean 'devices'");
    }

    @Test
    void anUnknownOptionSuggestsTheNearOnes() {
        Cli cli = Cli.run("pingpong", "rc", "--sise", "3");

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error())
                .contains("unknown option '--sise'; did you mean '--size'", "'verbena pingpong rc --help'");
    }

    @Test
    void anArgumentTooManyIsNamed() {
        Cli cli = Cli.run("devices", "all");

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).contains("one argument too many: 'all'");
    }

    @Test
    void aStackTraceIsShownWhenAskedForAndOnlyThen() {
        assertThat(Cli.run("decode", "/no/such.pcap").error()).isEqualTo("verbena decode: /no/such.pcap: no such file");
        Cli traced = Cli.run("decode", "--stacktrace", "/no/such.pcap");
        assertThat(traced.status()).isEqualTo(1);
        assertThat(traced.err()).contains("\tat verbena.tools.decode.DecodeCommand");
        assertThat(Cli.run("--stacktrace", "decode", "/no/such.pcap").err())
                .contains("\tat verbena.tools.decode.DecodeCommand");
    }

    @Test
    void helpOfACommandIsWhatItsOptionShows() {
        assertThat(Cli.run("help")).isEqualTo(Cli.run("--help"));
        assertThat(Cli.run("help", "perf", "write-bw")).isEqualTo(Cli.run("perf", "write-bw", "--help"));
        assertThat(Cli.run("help", "perf", "writ").error())
                .isEqualTo("verbena help: there is no command 'writ'. See 'verbena help --help'.");
    }

    @Test
    void onlyTheModelOfTheNamedCommandIsMade() {
        assertThat(Verbena.commandLine(new String[] {"perf", "write-bw"}).getSubcommands())
                .containsOnlyKeys("perf");
        assertThat(Verbena.commandLine(new String[] {"--version"}).getSubcommands())
                .isEmpty();
        assertThat(Verbena.commandLine(new String[] {"help", "perf"}).getSubcommands())
                .containsKeys("perf", "help", "demo");
        assertThat(Verbena.commandLine(new String[] {"per"}).getSubcommands()).containsKeys("perf", "demo");
    }

    /// Every option that is a size reads all units, and says so of what it does not know.
    @Test
    void sizesAreReadInTheSameUnitsByAllCommands() {
        var sizes = new ArrayList<String>();
        for (CommandLine command : all(Verbena.commandLine())) {
            for (OptionSpec option : command.getCommandSpec().options()) {
                String name = command.getCommandSpec().qualifiedName() + " " + option.longestName();
                assertThat(option.paramLabel()).as(name).doesNotMatch("(?i)[kmg]i?b");
                if (option.paramLabel().matches("BYTES|SIZE") && option.arity().max() > 0) {
                    sizes.add(name);
                    assertThat(option.type() == String.class || option.converters()[0] instanceof Size)
                            .as(name)
                            .isTrue();
                }
            }
        }
        assertThat(sizes)
                .contains("verbena perf write-bw --size", "verbena capture --max-size", "verbena cp --chunk")
                .hasSizeGreaterThan(10);
        assertThat(Cli.run("explain", "write", "-s", "64Q").error()).contains("'--size'", "such as 65536, 64K", "64Q");
        assertThat(Cli.run("capture", "-p", "1", "--max-size", "64Q", "-").status())
                .isEqualTo(2);
        assertThat(Cli.run("network", "try", "star 3 1G 10us", "--bytes", "64Q").status())
                .isEqualTo(2);
        assertThat(Cli.run("cp", "--chunk", "64Q", "a", "b:").status()).isEqualTo(2);
        assertThat(Cli.run("cp", "--chunk", "4097", "a", "b:").error()).contains("--chunk");
    }

    private static List<CommandLine> all(CommandLine line) {
        return Stream.concat(
                        Stream.of(line), line.getSubcommands().values().stream().flatMap(each -> all(each).stream()))
                .toList();
    }
}
