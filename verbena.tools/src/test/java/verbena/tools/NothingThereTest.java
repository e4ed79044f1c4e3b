package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.tools.kit.JavaCommand;

/// Commands as processes where something is missing that they need: a network, or room on the disk. What is missing
/// is no error of Verbena's.
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class NothingThereTest {
    @Test
    void withoutANetworkTheDoctorTellsWhatToDo() throws Exception {
        NetworkNamespace.Ended doctor = withoutNetwork("doctor");
        assertThat(doctor.output())
                .contains("FAIL  interface lo: there is no loopback interface, or it is down")
                .contains("-> ip link set lo up")
                .doesNotContain("Exception");
        assertThat(doctor.status()).isEqualTo(1);
    }

    @Test
    void withoutANetworkTheDemoSaysSo() throws Exception {
        NetworkNamespace.Ended demo = withoutNetwork("demo");
        assertThat(demo.output())
                .isEqualTo("verbena demo: device rocev2: there is no loopback interface, or it is down: set it up first"
                        + " (Linux: ip link set lo up)\n");
        assertThat(demo.status()).isEqualTo(1);
    }

    @Test
    void resultsThatCannotBeWrittenAreAFailure() throws Exception {
        NetworkNamespace.Ended full =
                NetworkNamespace.run(line(List.of("sh", "-c", "exec \"$@\" > /dev/full", "sh"), "status"));
        assertThat(full.output()).isEqualTo("verbena: cannot write standard output: No space left on device\n");
        assertThat(full.status()).isEqualTo(1);
    }

    private static NetworkNamespace.Ended withoutNetwork(String command) throws IOException, InterruptedException {
        return NetworkNamespace.run(
                line(List.of(), command), output -> !output.startsWith("unshare:") && !output.startsWith("timeout:"));
    }

    /// @param before the program that starts the command line
    private static List<String> line(List<String> before, String command) {
        var line = new ArrayList<>(before);
        line.addAll(JavaCommand.again());
        line.add(command);
        return line;
    }
}
