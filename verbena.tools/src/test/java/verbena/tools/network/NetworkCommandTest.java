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
        assertThat(cli.out()).contains("pfc-unfairness", "pfc-victim", "incast", "pfc-deadlock", "irn", "web-search");
        assertThat(cli.out()).contains("SIGCOMM 2015");
    }

    @Test
    void anExperimentPrintsItsFiguresAndClaims() {
        Cli cli = Cli.run("network", "run", "pfc-deadlock");

        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .contains("clockwise, goodput at the end", "Gbit/s", "holds: clockwise", "seed 1")
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
}
