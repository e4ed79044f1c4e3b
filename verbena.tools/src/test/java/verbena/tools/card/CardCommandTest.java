package verbena.tools.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;
import verbena.tools.check.CLibraries;

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
    void cardsOnANetworkTellOfItsSwitches() {
        String load = "write 64K inbound peers=4";
        Cli cli = Cli.run("card", "try", "cx5", load, "--network", "star 5 100G 150ns buffer=1MB", "-n", "2000");
        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.out())
                .containsPattern("pauses that switches asked for +\\d")
                .containsPattern("the most bytes in a switch +[\\d,]+ +bytes")
                .contains("bound: port, in");
        assertThat(Cli.run("card", "try", "cx5", load, "--network", "star 2 100G 1us")
                        .error())
                .contains("--network: the network has 2 hosts for 5 machines");
        assertThat(Cli.run("card", "try", "cx5", load, "--network", "star 5 100G fast")
                        .error())
                .contains("--network: line 1: 'fast' is not a time");
    }

    @Test
    void aCardOfOnesOwnIsAFile() throws Exception {
        Path file = folder.resolve("mine.card");
        Files.writeString(file, "card mine A card of my own\nlike cx5\nunits 2 # assumed\n");

        assertThat(Cli.run("card", "try", file.toString(), "-n", "1000").status())
                .isZero();
        assertThat(Cli.run("card", "list", file.toString()).out()).contains("mine: A card of my own");
    }

    private static Cli predict(String program) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return Cli.run(
                "card",
                "predict",
                "--as",
                "cx5",
                "--",
                "sh",
                "-c",
                "exec \"$0\" --enable-native-access=ALL-UNNAMED -cp \"$1\" verbena.tools.Verbena " + program
                        + " > /dev/null 2>&1",
                java,
                System.getProperty("java.class.path"));
    }

    @Test
    void aProgramIsRecordedAndTheImprovedOneIsAsFastAsPredicted() {
        Cli before = predict("perf write-bw --loopback -d shm --warm-up 0 -s 64 -n 1600");
        assertThat(before.status()).as(before.err()).isZero();
        assertThat(before.out())
                .contains("As cx5, ConnectX-5 class", "1,600 requests", "1. post up to 16 requests with one doorbell")
                .contains("not a promise:", "- losses, congestion");

        Cli after = predict("perf write-bw --loopback -d shm --warm-up 0 -s 64 -n 1600 -l 16");
        assertThat(after.status()).as(after.err()).isZero();
        assertThat(after.out()).doesNotContain("post up to 16");
        assertThat(promised(before.out()) / reached(after.out())).isBetween(0.8, 1.2);
    }

    private static double promised(String out) {
        return number(out, "one doorbell +[\\d.]+ times: ([\\d.]+) M/s");
    }

    private static double reached(String out) {
        return number(out, "rate +[\\d.]+ to ([\\d.]+) M/s") / 1.2;
    }

    @Test
    void soIsAProgramInC() throws Exception {
        CLibraries.need();
        Path program = folder.resolve("writes");
        CLibraries.compile(Cli.root().resolve("verbena.abi/src/test/c/writes.c"), program, "-O2");
        Cli before = predictC(program, "1");
        assertThat(before.out())
                .contains(
                        "1,600 requests by 1 threads on 1 queue pairs", "1. post up to 16 requests with one doorbell");
        Cli after = predictC(program, "16");
        assertThat(after.out()).contains("1,600 requests").doesNotContain("post up to 16");
        assertThat(promised(before.out()) / reached(after.out())).isBetween(0.8, 1.2);
    }

    /// In the environment that `verbena run` makes.
    private static Cli predictC(Path program, String batch) {
        var words =
                new ArrayList<>(List.of("card", "predict", "--as", "cx5", "--", "env", "VERBENA_DEVICES=rocev2_lo"));
        CLibraries.environment().forEach((name, value) -> words.add(name + "=" + value));
        words.addAll(List.of(program.toString(), batch));
        Cli cli = Cli.run(words.toArray(String[]::new));
        assertThat(cli.status()).as(cli.err()).isZero();
        return cli;
    }

    private static double number(String text, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        assertThat(found.find()).as(text).isTrue();
        return Double.parseDouble(found.group(1));
    }

    @Test
    void aRecordingIsAFileToo() throws Exception {
        Path file = folder.resolve("1.recording");
        Files.writeString(file, """
                recording 1
                region 4096
                post 0 100 0 1
                request read 8 false true 5 6 4096
                sleeps 0
                left-out 3
                """);
        Cli cli = Cli.run("card", "predict", "--from", file.toString());
        assertThat(cli.status()).isZero();
        assertThat(cli.out()).contains("1 requests by 1 threads", "none of the changes", "- 3 later requests are not");

        Files.writeString(file, "recording 1\npost 0 100\n");
        assertThat(Cli.run("card", "predict", "--from", file.toString()).error())
                .contains("line 2: 'post 0 100'");
        assertThat(Cli.run("card", "predict").error()).contains("either a program behind --, or --from FILE");
        assertThat(Cli.run("card", "predict", "--", "true").error()).contains("nothing was recorded");
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
