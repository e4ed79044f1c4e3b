package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
                "conform"
            })
    void everyCommandTellsTheVersion(String command) {
        Cli cli = Cli.run((command + " --version").strip().split(" ", -1));

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines().getFirst()).matches("verbena \\d+\\.\\d+.*");
    }

    @Test
    void theOverviewNamesEachCommandButTheDemosOwn() {
        assertThat(Cli.run("--help").out())
                .contains(
                        "demo ",
                        "explain ",
                        "devices ",
                        "info ",
                        "pingpong ",
                        "rping ",
                        "ucmatose ",
                        "udaddy ",
                        "mckey ",
                        "decode ",
                        "status ",
                        "top ",
                        "capture ",
                        "sim ",
                        "network ",
                        "run ",
                        "fabric ",
                        "help ",
                        "conform ")
                .doesNotContain("demo-peer", "cp-peer", "train");
    }

    @Test
    void withoutACommandTheOverviewGoesToStandardError() {
        Cli cli = Cli.run();

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.out()).isEmpty();
        assertThat(cli.err()).contains("Commands:");
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
}
