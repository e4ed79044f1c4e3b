package verbena.tools.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;
import verbena.tools.NetworkNamespace;
import verbena.tools.kit.JavaCommand;

/// Real programs on an emulated network, in processes of their own. Needs the right to make network namespaces and
/// TAP interfaces, as root or in a user namespace.
@EnabledOnOs(OS.LINUX)
class NetworkUpTest {
    private final String name = "test-" + UUID.randomUUID().toString().substring(0, 8);

    private List<String> command(String... words) {
        var command = new ArrayList<>(JavaCommand.again());
        command.addAll(List.of(words));
        return command;
    }

    private List<String> on(String host, List<String> command) {
        List<String> words = command("network", "exec", "--name", name, host);
        words.addAll(command);
        return words;
    }

    @Test
    void programsOnTwoHostsTalkThroughASwitchThatMarks() throws Exception {
        assumeTrue(Path.of("/dev/net/tun").toFile().canWrite(), "there is no /dev/net/tun");
        Process up = new ProcessBuilder(command("network", "up", "--name", name, "star 2 1G 10us mark=20KB:80KB:0.1"))
                .redirectErrorStream(true)
                .start();
        try (BufferedReader said = up.inputReader()) {
            String first = until(said, "up: ");
            assumeTrue(first.contains("up: "), "no network can be made here: " + first);
            assertThat(first).contains("10.76.0.1", "10.76.0.2", "2 hosts, 1 switches");

            Process server = new ProcessBuilder(
                            on("h0", command("pingpong", "rc", "-d", "rocev2@10.76.0.1", "-n", "100")))
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader heard = server.inputReader()) {
                assertThat(until(heard, "waits for a client")).contains("waits for a client");
                NetworkNamespace.Ended client = NetworkNamespace.run(
                        on("h1", command("pingpong", "rc", "-d", "rocev2@10.76.0.2", "-n", "100", "10.76.0.1")));
                assertThat(client.status()).as(client.output()).isZero();
                assertThat(client.output()).contains("100 iters");
                assertThat(until(heard, "no such line")).contains("100 iters");
                assertThat(server.waitFor()).isZero();
            } finally {
                server.destroy();
            }
            assertThat(NetworkNamespace.run(on("h1", List.of("sh", "-c", "exit 7")))
                            .status())
                    .isEqualTo(7);

            up.toHandle().destroy(); // by TERM, as Ctrl-C ends it; the streams stay open
            assertThat(until(said, "no such line"))
                    .contains("frames sent", "frames came later than planned")
                    .contains("0 dropped");
            up.waitFor();
            assertThat(NetworkNamespace.run(on("h1", List.of("true"))).output())
                    .contains("no network '" + name + "' runs");
        } finally {
            up.destroyForcibly();
        }
    }

    /// Two flows into a link that is slower than that of either sender: what exceeds it waits in the switch, and is
    /// marked. The least rate keeps the test short.
    @Test
    void flowsThatObeyMarksAreToldOfThemAndTheSwitchDropsNothingOfTheirs(@TempDir Path folder) throws Exception {
        assumeTrue(Path.of("/dev/net/tun").toFile().canWrite(), "there is no /dev/net/tun");
        Path network = Files.writeString(folder.resolve("network"), """
                switch s mark=20KB:80KB:0.1
                host h0
                host h1
                host h2
                link h0 s 100M 10us
                link h1 s 100M 10us
                link h2 s 50M 10us
                """);
        Process up = new ProcessBuilder(command("network", "up", "--name", name, network.toString()))
                .redirectErrorStream(true)
                .start();
        var flows = new ArrayList<Process>();
        try (BufferedReader said = up.inputReader()) {
            String first = until(said, "up: ");
            assumeTrue(first.contains("up: "), "no network can be made here: " + first);

            String rule = ",congestion=dcqcn,rpg_max_rate:100,rpg_min_rate:10";
            Process server = flow("h2", "serve", "rocev2@10.76.0.3" + rule, "2");
            flows.add(server);
            BufferedReader heard = server.inputReader();
            assertThat(until(heard, "listens")).contains("listens");
            flows.add(flow("h0", "write", "rocev2@10.76.0.1" + rule, "1"));
            flows.add(flow("h1", "write", "rocev2@10.76.0.2" + rule, "2"));

            String ofServer = until(heard, "no such line");
            String ofClients = until(flows.get(1).inputReader(), "no such line")
                    + until(flows.get(2).inputReader(), "no such line");
            assertThat(ofServer + ofClients).as("each end has compared").doesNotContain("is wrong");
            assertThat(counts(ofServer + ofClients, "all bytes are right()")).hasSize(4);
            long marked = sum(ofServer, "np_ecn_marked_roce_packets (\\d+)");
            long told = sum(ofServer, "np_cnp_sent (\\d+)");
            assertThat(told).as("notifications for %d marks", marked).isBetween(1L, marked);
            assertThat(sum(ofClients, "rp_cnp_handled (\\d+)"))
                    .as("of %d notifications", told)
                    .isBetween(1L, told);

            up.toHandle().destroy();
            String summary = until(said, "no such line");
            assertThat(sum(summary, "([\\d,]+) marked")).as(summary).isGreaterThanOrEqualTo(marked);
            // A switch cannot mark frames without ECN, such as those of ARP, and drops some of them in place of that.
            assertThat(sum(summary, "([\\d,]+) dropped")).as(summary).isLessThan(5);
        } finally {
            flows.forEach(Process::destroyForcibly);
            up.destroyForcibly();
        }
    }

    /// Starts a [Flow] with the server at the third host.
    private Process flow(String host, String role, String device, String last) throws IOException {
        List<String> command = JavaCommand.again();
        command.set(command.size() - 1, Flow.class.getName());
        command.addAll(List.of(role, device, "10.76.0.3", last));
        return new ProcessBuilder(on(host, command)).redirectErrorStream(true).start();
    }

    private static List<String> counts(String text, String pattern) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    private static long sum(String text, String pattern) {
        return counts(text, pattern).stream()
                .mapToLong(count -> Long.parseLong(count.replace(",", "")))
                .sum();
    }

    /// What is said until a line has these words, or until the end.
    private static String until(BufferedReader reader, String words) throws IOException {
        var all = new StringBuilder();
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            all.append(line).append('\n');
            if (line.contains(words)) {
                break;
            }
        }
        return all.toString();
    }

    @Test
    void whatIsWrongIsNamed() {
        assertThat(Cli.run("network", "up", "star 2 1G").error()).contains("NETWORK: line 1: star has 1 number");
        assertThat(Cli.run("network", "up", "star 80 1G 1us").error()).contains("NETWORK: hosts: 2 to 64, got 80");
        assertThat(Cli.run("network", "up", "star 2 1G 1us", "--mtu", "100").error())
                .contains("--mtu: 1280 to 9000, got 100");
        assertThat(Cli.run("network", "up", "star 2 1G 1us", "--name", "../x").error())
                .contains("--name: 1 to 32 letters");
        assertThat(Cli.run("network", "up", "star 2 1G 1us", "--plug", "h7=lab:br0")
                        .error())
                .contains("--plug: there is no host h7");
        Cli absent = Cli.run("network", "exec", "--name", name, "h0", "true");
        assertThat(absent.error()).contains("no network '" + name + "' runs");
        assertThat(absent.status()).isEqualTo(1);
    }
}
