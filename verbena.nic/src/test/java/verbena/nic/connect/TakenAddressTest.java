package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// A process whose user may not share the addresses that lead to its peers, because another user's process has their
/// UDP port. The process is [TakenAddressProcess], in a network namespace of its own.
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class TakenAddressTest {
    private static final String NETWORK = """
            ip link set lo up && ip address add 203.0.113.9/32 dev lo && exec "$@"
            """;

    @Test
    void aClientTakesAFreeLoopbackAddressByItself() throws Exception {
        List<String> said = run();
        assertThat(said)
                .containsExactly(
                        "127.0.0.1: hello from loopback, both clients at one address",
                        "203.0.113.9: hello from loopback, both clients at one address",
                        "listen: ADDRESS, open rocev2@127.0.0.1: UDP port 4791 at 127.0.0.1 is in use");
    }

    private static List<String> run() throws IOException, InterruptedException {
        String error = "";
        for (String rights : List.of("--net", "--map-root-user --net")) {
            var command = new ArrayList<>(List.of("timeout", "60", "unshare"));
            command.addAll(List.of(rights.split(" ", -1)));
            command.addAll(List.of("sh", "-c", NETWORK, "sh"));
            command.addAll(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    TakenAddressProcess.class.getName()));
            Process process;
            try {
                process = new ProcessBuilder(command).redirectErrorStream(true).start();
            } catch (IOException e) {
                error = e.getMessage(); // there is no unshare
                continue;
            }
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            if (output.startsWith(TakenAddressProcess.BEGINS)) {
                return output.lines().skip(1).toList();
            }
            error = output;
        }
        assumeTrue(false, "no network namespace can be made here: " + error);
        return List.of();
    }
}
