package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The launcher of a checkout in which nothing has been built.
class CheckoutTest {
    private static final List<String> FOLDERS = List.of(".dev", "dist", "workshop", "verbena.tools");

    @TempDir
    Path checkout;

    @BeforeEach
    void check() throws IOException {
        Path script = Cli.root().resolve("verbena");
        Files.copy(script, checkout.resolve("verbena"), StandardCopyOption.COPY_ATTRIBUTES);
        for (String folder : FOLDERS) {
            Files.createSymbolicLink(checkout.resolve(folder), Cli.root().resolve(folder));
        }
    }

    @AfterEach
    void clear() throws IOException {
        for (String folder : FOLDERS) {
            Files.delete(checkout.resolve(folder));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "devces, unknown command 'devces'. See 'verbena --help'.",
        "devices --wich, unknown option '--wich'. See 'verbena devices --help'.",
        "perf send-bw --loopback --sise=4, unknown option '--sise'. See 'verbena perf --help'.",
        "run --devise shm ib_send_bw, unknown option '--devise'. See 'verbena run --help'.",
        "bench --quik, unknown option '--quik'. See 'verbena bench --help'.",
        "engines --smal, unknown option '--smal'. See 'verbena engines --help'."
    })
    void aMistakeIsToldBeforeAnythingIsBuilt(String arguments, String message) throws Exception {
        Path launcher = checkout.resolve("verbena");
        var builder = new ProcessBuilder(
                        Stream.concat(Stream.of("bash", launcher.toString()), Stream.of(arguments.split(" ")))
                                .toList())
                .redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(said).isEqualToNormalizingNewlines("verbena: " + message + "\n");
            assertThat(process.waitFor()).isEqualTo(2);
            assertThat(checkout.resolve(".verbena")).doesNotExist();
        } finally {
            process.destroyForcibly();
        }
    }
}
