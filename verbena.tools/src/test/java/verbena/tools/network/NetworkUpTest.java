package verbena.tools.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.tools.Cli;
import verbena.tools.NetworkNamespace;
import verbena.tools.kit.JavaCommand;

/// Real programs on an emulated network, in processes of their own. Needs the right to make network namespaces and TAP
/// interfaces, as root or in a user namespace.
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
