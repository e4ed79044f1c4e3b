package verbena.tools;

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

/// Commands as processes where something is missing that they need: a network, or room on the disk. What is missing is
/// no error of Verbena's.
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class NothingThereTest {
    private record Ended(int status, String output) {}

    @Test
    void withoutANetworkTheDoctorTellsWhatToDo() throws Exception {
        Ended doctor = withoutNetwork("doctor");
        assertThat(doctor.output)
                .contains("FAIL  interface lo: there is no loopback interface, or it is down")
                .contains("-> ip link set lo up")
                .doesNotContain("Exception");
        assertThat(doctor.status).isEqualTo(1);
    }

    @Test
    void withoutANetworkTheDemoSaysSo() throws Exception {
        Ended demo = withoutNetwork("demo");
        assertThat(demo.output)
                .isEqualTo("verbena demo: device rocev2: there is no loopback interface, or it is down: set it up first"
                        + " (Linux: ip link set lo up)\n");
        assertThat(demo.status).isEqualTo(1);
    }

    @Test
    void resultsThatCannotBeWrittenAreAFailure() throws Exception {
        Ended full = run("sh", "-c", "exec \"$@\" > /dev/full", "sh", "status");
        assertThat(full.output).isEqualTo("verbena: cannot write standard output: No space left on device\n");
        assertThat(full.status).isEqualTo(1);
    }

    private static Ended withoutNetwork(String command) throws IOException, InterruptedException {
        Ended ended = new Ended(1, "");
        for (String rights : List.of("--net", "--map-root-user --net")) {
            var unshare = new ArrayList<>(List.of("unshare"));
            unshare.addAll(List.of(rights.split(" ", -1)));
            unshare.add(command);
            ended = run(unshare.toArray(String[]::new));
            if (!ended.output.startsWith("unshare:")) {
                return ended;
            }
        }
        assumeTrue(false, "no network namespace can be made here: " + ended.output);
        return ended;
    }

    /// @param words the program that starts the command line, and last the command
    private static Ended run(String... words) throws IOException, InterruptedException {
        var line = new ArrayList<>(List.of(words).subList(0, words.length - 1));
        line.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Verbena.class.getName(),
                words[words.length - 1]));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }
}
