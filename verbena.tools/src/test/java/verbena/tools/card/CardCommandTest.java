package verbena.tools.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;

class CardCommandTest {
    @TempDir
    private Path folder;

    @Test
    void theListNamesEachCardAndEachExperimentWithItsPublication() throws Exception {
        Cli cli = Cli.run("card", "list");

        assertThat(cli.status()).isZero();
        assertThat(cli.out()).isEqualTo(Files.readString(Cli.golden("card/list.txt")));
    }

    @Test
    void aCardHasAllItsNumbersWithTheirSources() {
        Cli cli = Cli.run("card", "list", "cx3");

        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .contains("cx3: ConnectX-3 class")
                .containsPattern("qp-cache +100 +contexts of queue pairs that the card holds")
                .contains("(assumed: fits the queue pairs of [swarm])", "[swarm] github.com/efficient/rdma_bench");
        assertThat(cli.out().lines().filter(line -> line.contains("(")).count()).isGreaterThanOrEqualTo(41);
    }

    @Test
    void anExperimentPrintsItsFiguresAndClaims() {
        Cli cli = Cli.run("card", "run", "on-demand");

        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .contains("a page that is not", "published", "here", "holds: a fault over an access")
                .doesNotContain("DOES NOT HOLD");
    }

    @Test
    void aPageHasPlots() throws Exception {
        Path file = folder.resolve("page.html");
        Cli cli = Cli.run("card", "run", "pcie", "--html", file.toString());

        assertThat(cli.status()).isZero();
        assertThat(Files.readString(file))
                .contains("what a card can write to memory", "uPlot", "verbena card run pcie");
    }

    @Test
    void aLoadOfOnesOwnHasRateLatencyAndBound() {
        Cli cli = Cli.run("card", "try", "cx3 qp-cache=8", "read 32 threads=4 qps=64", "-n", "5000");

        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .containsPattern("rate +\\d")
                .containsPattern("latency, median +[\\d,.]+ +ns")
                .contains("bound: processing units");
        assertThat(Cli.run("card", "try", "cx3", "-n", "1000", "--json").out()).startsWith("{");
    }

    @Test
    void aCardOfOnesOwnIsAFile() throws Exception {
        Path file = folder.resolve("mine.card");
        Files.writeString(file, "card mine A card of my own\nlike cx5\nunits 2 # assumed\n");

        assertThat(Cli.run("card", "try", file.toString(), "-n", "1000").status())
                .isZero();
        assertThat(Cli.run("card", "list", file.toString()).out()).contains("mine: A card of my own");
    }

    @Test
    void whatIsWrongIsNamed() throws Exception {
        Path file = folder.resolve("bad.card");
        Files.writeString(file, "card bad A card\nlike cx5\nunits 2\n");

        assertThat(Cli.run("card", "try", file.toString()).error()).contains("CARD: line 3: 'units' has no source");
        assertThat(Cli.run("card", "try", "cx9").error()).contains("CARD: there is no card 'cx9'");
        assertThat(Cli.run("card", "try", "cx5 unit=4").error()).contains("'unit' is none of");
        assertThat(Cli.run("card", "try", "cx5", "write 64 fast").error()).contains("LOAD: 'fast' is none of");
        assertThat(Cli.run("card", "try", "cx5", "-n", "1").error()).contains("--requests: 100 to");
        assertThat(Cli.run("card", "run", "conections").error()).contains("no experiment 'conections'", "connections");
        assertThat(Cli.run("card").status()).isEqualTo(2);
    }
}
