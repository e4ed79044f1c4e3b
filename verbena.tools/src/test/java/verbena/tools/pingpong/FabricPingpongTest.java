package verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.kit.ChildProcess;

/// A game over a fabric whose process is killed, and what the fabric's socket may take the place of.
@Timeout(180)
class FabricPingpongTest {
    @TempDir
    private Path folder;

    private ChildProcess start(String... arguments) throws IOException {
        List<String> environment = List.of("env", "VERBENA_FABRIC=" + folder.resolve("run/fabric"));
        return new ChildProcess(environment, List.of(arguments), Redirect.PIPE, Redirect.PIPE);
    }

    private ChildProcess fabric() throws IOException {
        String cables = "switch s\nhca a\nhca b\nlink a s\nlink b s\n";
        return start(
                "fabric",
                "up",
                Files.writeString(folder.resolve("topology"), cables).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"uc", "rc"})
    void anEndOverADeadFabricFailsAtOnce(String service) throws Exception {
        try (ChildProcess fabric = fabric()) {
            assertThat(fabric.output().readLine()).contains("fabric of 1 switches");
            String[] server = {
                "pingpong",
                service,
                "-d",
                "ib0",
                "-g",
                "0",
                "--bind",
                "127.0.0.1",
                "-p",
                "0",
                "-n",
                "2000000000",
                "--timeout",
                "900"
            };
            try (ChildProcess first = start(server)) {
                String waits = first.errors().readLine();
                String port = waits.replaceFirst(".* port (\\d+) .*", "$1");
                try (ChildProcess second = start(
                        "pingpong",
                        service,
                        "-d",
                        "ib1",
                        "-g",
                        "0",
                        "-p",
                        port,
                        "-n",
                        "2000000000",
                        "--timeout",
                        "900",
                        "127.0.0.1")) {
                    assertThat(second.output().readLine()).contains("local address");
                    assertThat(second.output().readLine()).contains("remote address");
                    assertThat(ProcessHandle.of(fabric.pid()).orElseThrow().destroyForcibly())
                            .isTrue();
                    assertThat(second.errors().lines().collect(Collectors.joining()))
                            .contains("is down")
                            .contains("fabric");
                    assertThat(second.await()).isEqualTo(1);
                    assertThat(first.errors().lines().collect(Collectors.joining()))
                            .contains("is down");
                    assertThat(first.await()).isEqualTo(1);
                }
            }
        }
    }

    @Test
    void aFileInThePlaceOfTheSocketStays() throws Exception {
        var own = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        Path place = Files.createDirectory(folder.resolve("run"), own).resolve("fabric");
        Files.writeString(place, "precious");
        try (ChildProcess fabric = fabric()) {
            assertThat(fabric.errors().lines().collect(Collectors.joining())).contains("is no socket");
            assertThat(fabric.await()).isEqualTo(1);
        }
        assertThat(place).hasContent("precious");
    }
}
