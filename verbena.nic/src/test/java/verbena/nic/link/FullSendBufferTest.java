package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Loopback is never full: what finds no room at the receiver is dropped. So here it gets a rate limit, in a network
/// namespace of the test's own, and packets queue up where the sender is charged for them.
@EnabledOnOs(value = OS.LINUX, disabledReason = "network namespaces")
class FullSendBufferTest {
    private static final String SLOW_LOOPBACK =
            "ip link set lo up && tc qdisc add dev lo root tbf rate 100mbit burst 20k limit 100m";

    @ParameterizedTest
    @ValueSource(strings = {"linux", "portable"})
    @Timeout(60)
    void aFullWayOutTakesFewerAndLosesNothing(String link) throws Exception {
        assumeTrue(run(inNamespace("exit 0")).isEmpty(), "no right to a network namespace, or no tc here");

        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String complaints = run(inNamespace(
                "exec \"$@\"",
                java,
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                FullSendBuffer.class.getName(),
                link));

        assertThat(complaints).isEmpty();
    }

    private static List<String> inNamespace(String script, String... arguments) {
        var command = new ArrayList<>(List.of("unshare", "--net", "sh", "-c", SLOW_LOOPBACK + " && " + script, "sh"));
        command.addAll(List.of(arguments));
        return command;
    }

    // Empty when it ended well.
    private static String run(List<String> command) throws InterruptedException {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            return status == 0 ? "" : "exit code " + status + ": " + output;
        } catch (IOException e) {
            return e.toString();
        }
    }
}
