package verbena.tools.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;

class NetworkCommandTest {
    @TempDir
    private Path folder;

    @Test
    void theListNamesEachExperimentAndItsPublication() {
        Cli cli = Cli.run("network", "list");

        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .contains(
                        "pfc-unfairness",
                        "pfc-victim",
                        "slow-receiver",
                        "convergence",
                        "incast",
                        "pfc-deadlock",
                        "irn",
                        "web-search",
                        "another-simulator");
        assertThat(cli.out()).contains("SIGCOMM 2015");
    }

    @Test
    void anExperimentPrintsItsFiguresAndClaims() {
        Cli cli = Cli.run("network", "run", "pfc-deadlock");

        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .contains("clockwise, goodput at the end", "Gbit/s", "holds: clockwise")
                .doesNotContain("DOES NOT HOLD");
        assertThat(cli.err()).contains("up and down ...");
    }

    @Test
    void anExperimentIsAnObjectForPrograms() {
        Cli cli = Cli.run("network", "run", "pfc-deadlock", "--json", "--seed", "2");

        assertThat(cli.status()).isZero();
        assertThat(cli.out()).startsWith("{").contains("\"reached\": true", "--seed 2");
    }

    @Test
    void aPageThatCannotBeWrittenIsNamedBeforeTheRun() {
        Path file = folder.resolve("no-such-folder").resolve("page.html");
        Cli cli = Cli.run("network", "run", "pfc-deadlock", "--html", file.toString());

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).contains("--html", file.toString());
    }

    @Test
    void aPageHasPlots() throws Exception {
        Path file = folder.resolve("page.html");
        Cli cli = Cli.run("network", "run", "pfc-deadlock", "--html", file.toString());

        assertThat(cli.status()).isZero();
        assertThat(Files.readString(file)).contains("Goodput of all, clockwise", "uPlot");
    }

    @Test
    void whatIsWrongIsNamed() {
        assertThat(Cli.run("network", "run", "pfc-deadlok").error())
                .contains("no experiment 'pfc-deadlok'", "pfc-deadlock");
        assertThat(Cli.run("network", "run", "all", "--html", "x").error()).contains("--html: one experiment");
        assertThat(Cli.run("network", "run").status()).isEqualTo(2);
        assertThat(Cli.run("network").status()).isEqualTo(2);
    }

    @Test
    void aNetworkOfOnesOwnIsOneLine() {
        Cli cli = Cli.run(
                "network",
                "try",
                "leaf-spine 2 2 2 100G 1us mark=100KB:400KB:0.2",
                "--workload",
                "all-to-all",
                "--control",
                "dcqcn");

        assertThat(cli.status()).isZero();
        assertThat(cli.out()).containsPattern("messages +12").containsPattern("messages that are not over +0");
    }

    @Test
    void aNetworkOfOnesOwnIsAFile() throws Exception {
        Path file = folder.resolve("two.txt");
        Files.writeString(file, "switch s\nhost a\nhost b\nlink a s 100G 1us\nlink b s 100G 1us\n");
        Cli cli = Cli.run("network", "try", file.toString(), "--workload", "incast", "--json", "--selective");

        assertThat(cli.status()).isZero();
        assertThat(cli.out()).startsWith("{").contains("slow-down, mean");
    }

    @Test
    void aMistakeInANetworkIsToldWithItsLine() {
        assertThat(Cli.run("network", "try", "fat-tree 3 100G 1us").error()).contains("line 1: k: 3");
        assertThat(Cli.run("network", "try", "fat-tree").error()).contains("no file 'fat-tree'");
        assertThat(Cli.run("network", "try", "star 3 100G 1us", "--workload", "all-reduce-tree")
                        .error())
                .contains("power of two");
        assertThat(Cli.run("network", "try", "star 2 100G 1us", "--control", "cubic")
                        .error())
                .contains("--control: none, dcqcn, swift, hpcc; got cubic");
        assertThat(Cli.run("network", "try", "star 2 100G 1us", "--bytes", "many")
                        .error())
                .contains("--bytes: a size, such as 65536, 64K, 64KiB or 64KB, got");
    }
}
