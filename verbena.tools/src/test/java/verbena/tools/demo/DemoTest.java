package verbena.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.tools.Cli;
import verbena.tools.NetworkNamespace;
import verbena.tools.kit.JavaCommand;

/// The whole demo, second process included.
@Timeout(180)
class DemoTest {
    @Test
    void everyStepIsToldAndVerified() throws Exception {
        Cli cli = Cli.run("demo", "--seconds", "0.05");

        assertThat(cli.err()).isEmpty();
        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .containsSubsequence(
                        "RoCE v2 packets in UDP",
                        "1 SEND",
                        "checked",
                        "2 WRITE",
                        "not asked",
                        "checked",
                        "3 WRITE+IMM",
                        "checked",
                        "4 READ",
                        "not asked",
                        "checked",
                        "5 FETCH_ADD",
                        "not asked",
                        "checked",
                        "6 CMP_SWAP",
                        "not asked",
                        "checked",
                        "All verified");
        assertThat(cli.outLines().stream().filter(line -> line.startsWith("    wire")))
                .hasSize(6)
                .allSatisfy(line ->
                        assertThat(line).matches(".* [1-9]\\d* packets? from us, [1-9]\\d* packets? from the peer"));
        String table = cli.out().substring(cli.out().indexOf("How fast"));
        for (String row : System.getProperty("os.name").equals("Linux")
                ? List.of("TCP socket", "rocev2", "iwarp", "shm")
                : List.of("TCP socket", "rocev2", "iwarp")) {
            assertThat(table).containsPattern("(?m)^  " + row + " .*B/s .* [um]s ");
            assertThat(table)
                    .containsPattern("(?m)^  " + row + " +[^0-9].*\\.$|^  " + row + " +[\\d.,]+ x the socket: .*\\.$");
        }
        if (System.getProperty("os.name").equals("Linux")) {
            assertThat(table).contains("which is not a network");
        }
        assertThat(cli.outLines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
        assertNoChildIsLeft();
    }

    @Test
    void everyKindOfDeviceSideBySide() throws Exception {
        Cli cli = Cli.run("demo", "--all", "--seconds", "0.03");

        assertThat(cli.err()).isEmpty();
        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .containsSubsequence(
                        "RoCE v2 packets in UDP",
                        "All verified",
                        "iWARP in TCP",
                        "a READ behind it",
                        "6 CMP_SWAP",
                        "All verified",
                        "How fast",
                        "TCP socket",
                        "B/s");
        assertThat(cli.out()).containsPattern("(?m)^  rocev2 .*B/s").containsPattern("(?m)^  iwarp .*B/s");
        if (System.getProperty("os.name").equals("Linux")) {
            assertThat(cli.out()).containsPattern("(?m)^  shm .*B/s");
        }
        assertThat(cli.outLines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
        assertNoChildIsLeft();
        assertThat(Cli.run("demo", "--all", "--device", "iwarp").status()).isEqualTo(2);
    }

    /// As a process: it makes networks of its own. Figures are taken by `-Dverbena.deep=true`.
    @Test
    void overACableWithoutRoot() throws Exception {
        var command = new ArrayList<>(JavaCommand.again());
        command.addAll(List.of("demo", "--ethernet", "--seconds", Boolean.getBoolean("verbena.deep") ? "0.02" : "0"));
        NetworkNamespace.Ended ended = NetworkNamespace.run(command);

        assumeFalse(ended.output().contains("a network of its own cannot be made here"), ended.output());
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output())
                .containsSubsequence(
                        "frames of Ethernet by rocev1_west",
                        "10.7.0.2 port",
                        "path MTU 4096",
                        "All verified",
                        "frames of Ethernet by rocev2_west,link=raw",
                        "All verified",
                        "rocev1_west,link=xdp",
                        "rocev2_west,link=xdp");
        assertThat(Cli.run("demo", "--ethernet", "--all").status()).isEqualTo(2);
    }

    @Test
    void oneDeviceBesideASocket() throws Exception {
        Cli cli = Cli.run("demo", "--seconds", "0.05", "--device", "iwarp");

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.out()).containsSubsequence("iWARP in TCP", "99th percentile", "ratio is over 1", "All verified");
        assertNoChildIsLeft();
    }

    @Test
    void theSameAsJson() throws Exception {
        Cli cli = Cli.run("demo", "--seconds", "0.02", "--json");

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.out())
                .startsWith("{\n")
                .endsWith("}\n")
                .contains("\"verified\": true", "\"step 6 CMP_SWAP\"", "\"bytes_per_second_least\"", "not a network");
        assertNoChildIsLeft();
    }

    @Test
    void whatFailsIsSaid() throws Exception {
        Cli ours = Cli.run("demo", "--device", "rocev2@203.0.113.1", "--peer-device", "rocev2");
        assertThat(ours.status()).isEqualTo(1);
        assertThat(ours.error()).contains("203.0.113.1");

        Cli peers = Cli.run("demo", "--peer-device", "rocev2@203.0.113.1");
        assertThat(peers.status()).isEqualTo(1);
        assertThat(peers.error()).contains("the peer process: ", "203.0.113.1");

        assertThat(Cli.run("demo", "--seconds", "-1").status()).isEqualTo(2);
        assertNoChildIsLeft();
    }

    private static void assertNoChildIsLeft() throws Exception {
        var demoPeers = ProcessHandle.current()
                .children()
                .filter(child -> child.info().commandLine().orElse("").contains("demo-peer"))
                .toList();
        for (ProcessHandle child : demoPeers) {
            child.onExit().get(5, TimeUnit.SECONDS);
        }
    }
}
