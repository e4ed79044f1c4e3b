package verbena.checked;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Processes that are checked as a whole: what they print, and their status.
@Timeout(120)
class CheckedProcessTest {
    private static final int OWN = 7;

    @TempDir
    private Path folder;

    private record Ended(int status, String errors) {}

    private static Ended run(List<String> options, String mistake, String device, String... environment)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1"));
        command.addAll(options);
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), MistakenProcess.class.getName(), mistake, device));
        var builder = new ProcessBuilder(command);
        for (int i = 0; i < environment.length; i += 2) {
            builder.environment().put(environment[i], environment[i + 1]);
        }
        Process process = builder.start();
        try {
            String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Ended(process.waitFor(), errors);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void withoutTheLayerNothingIsSaid() throws Exception {
        assertThat(run(List.of(), "error", "rocev2")).isEqualTo(new Ended(OWN, ""));
    }

    /// So a program whose devices are not checked runs the same code as one without this module.
    @Test
    void withoutTheLayerNoClassOfItIsLoadedButItsProvider() throws Exception {
        Path log = folder.resolve("classes");

        assertThat(run(List.of("-Xlog:class+load:file=" + log), "error", "rocev2").status)
                .isEqualTo(OWN);

        assertThat(Files.readAllLines(log))
                .filteredOn(line -> line.contains(" verbena.check."))
                .singleElement()
                .asString()
                .contains(" verbena.check.device.CheckProvider ");
    }

    @Test
    void thePropertyPutsTheLayerInFrontOfEveryDeviceAndLeavesTheStatus() throws Exception {
        Path json = folder.resolve("found.json");

        Ended ended = run(List.of("-Dverbena.check=json=" + json), "error", "rocev2");

        assertThat(ended.status).as(ended.errors).isEqualTo(OWN);
        assertThat(ended.errors)
                .contains(
                        "verbena.check: V-SEND-CHANGED error: ",
                        "it was posted: verbena.checked.MistakenProcess.main(MistakenProcess.java:",
                        "verbena.check: 1 errors, 0 by luck");
        assertThat(Files.readString(json)).contains("\"rule\":\"V-SEND-CHANGED\"");
    }

    @Test
    void withFailTheStatusIsThatOfTheWorstGrade() throws Exception {
        for (var each :
                List.of(List.of("error", "2"), List.of("luck", "1"), List.of("cost", "7"), List.of("none", "7"))) {
            Ended ended = run(List.of("-Dverbena.check=fail"), each.getFirst(), "rocev2");
            assertThat(ended.status)
                    .as(each.getFirst() + ": " + ended.errors)
                    .isEqualTo(Integer.parseInt(each.getLast()));
        }
    }

    @Test
    void theVariableDoesTheSameAndThePropertyComesFirst() throws Exception {
        assertThat(run(List.of(), "error", "rocev2", "VERBENA_CHECK", "fail").status)
                .isEqualTo(2);
        assertThat(run(List.of("-Dverbena.check=off"), "error", "rocev2", "VERBENA_CHECK", "fail"))
                .isEqualTo(new Ended(OWN, ""));
    }

    @Test
    void theNameOfADeviceChecksThatDevice() throws Exception {
        Ended ended = run(List.of(), "error", "check:rocev2");

        assertThat(ended.status).isEqualTo(OWN);
        assertThat(ended.errors).contains("V-SEND-CHANGED error");
    }

    @Test
    void aMistakeInTheOptionsIsNamed() throws Exception {
        Ended ended = run(List.of("-Dverbena.check=loud"), "none", "rocev2");

        assertThat(ended.status).isNotEqualTo(OWN);
        assertThat(ended.errors)
                .startsWith("Exception in thread \"main\" java.lang.IllegalArgumentException: verbena.check: "
                        + "there is no option \"loud\"");
    }
}
