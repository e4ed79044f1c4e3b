package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// JVMs that take themselves for those of other systems, by `os.name`: the project has no such system. They have the
/// links over the JDK's channels, and whatever needs Linux says so.
@Timeout(120)
class OtherSystemsTest {
    private static final String WINDOWS = "Windows 11";
    private static final String MACOS = "Mac OS X";

    private record Ended(int status, String said) {}

    private static Ended run(String system, String architecture, String... arguments)
            throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dos.name=" + system,
                "-Dos.arch=" + architecture,
                "-cp",
                System.getProperty("java.class.path"),
                Verbena.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), said);
    }

    @ParameterizedTest
    @CsvSource({WINDOWS + ",amd64", MACOS + ",aarch64", "Linux,riscv64", "FreeBSD,amd64"})
    void theDevicesAreThoseOfTheChannels(String system, String architecture) throws Exception {
        Ended ended = run(system, architecture, "devices");
        assertThat(ended.said).contains("rocev2_lo", "iwarp_lo").doesNotContain("shm", "Exception");
        assertThat(ended.status).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp"})
    void theyWork(String device) throws Exception {
        Ended ended = run(
                WINDOWS, "amd64", "perf", "write-lat", "--loopback", "-R", "-d", device, "-n", "100", "--warm-up", "0");
        assertThat(ended.said).doesNotContain("Exception");
        assertThat(ended.status).as(ended.said).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "shm, shm: this is " + WINDOWS + "\\, not Linux",
        "rocev1, raw Ethernet: this is " + WINDOWS + "\\, not Linux",
        "rocev2:link=linux, link=linux: this is " + WINDOWS + "\\, not Linux",
        "rocev2:link=raw, raw Ethernet: needs an interface with an address",
        "ib0, there is no \"ib0\"",
        "mlx5_0, there is no \"mlx5_0\""
    })
    void whatNeedsLinuxSaysSo(String device, String why) throws Exception {
        Ended ended = run(WINDOWS, "amd64", "info", "-d", device.replace(':', ','));
        assertThat(ended.said).contains(why.replace("\\", "")).doesNotContain("Exception", "Error:", "at verbena");
        assertThat(ended.status).isEqualTo(1);
    }
}
