package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.conformance.Suite;
import verbena.tools.Cli;

class ConformCommandTest {
    @Test
    void aTopicIsTriedOverTwoDevicesAndSummedUp() {
        Cli cli = Cli.run("conform", "rocev2", "iwarp", "--case", "devices.");

        assertThat(cli.status()).as(cli.out()).isZero();
        assertThat(cli.out()).contains("rocev2: ", "iwarp: ", "devices", "kept", "1 not supported");
        assertThat(cli.outLines().getLast()).startsWith("iwarp ").endsWith(" 0");
    }

    @Test
    void theCasesAreListedWithWhatTheyNeed() {
        Cli cli = Cli.run("conform", "--list");

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines()).hasSize(Suite.cases().size() + 1);
        assertThat(cli.out()).contains("windows.aWindowOfTypeOneGrantsWhatIsInside  (needs MEMORY_WINDOW_TYPE_1)");
    }

    @Test
    void theReportIsMarkdownOrJson(@TempDir Path folder) throws Exception {
        Path markdown = folder.resolve("report.md");
        Path json = folder.resolve("report.json");
        Cli.run("conform", "iwarp", "--case", "capabilities.*", "--report", markdown.toString());
        Cli.run("conform", "iwarp", "--case", "domains.*handle*", "--report", json.toString());

        int cases = Suite.cases("capabilities").size();
        assertThat(Files.readString(markdown))
                .startsWith("| topic | `iwarp` |")
                .contains("| **all** | **" + cases + "** |");
        var device = new ObjectMapper().readTree(Files.readString(json)).get(0);
        assertThat(device.get("kind").asText()).isEqualTo("iwarp");
        assertThat(device.get("cases").get(0).get("outcome").asText()).isEqualTo("not supported");
        assertThat(device.get("cases").get(0).get("why").asText()).isEqualTo("UD");
    }

    @Test
    void whatCannotBeTriedIsWrongUsage() {
        assertThat(Cli.run("conform").error()).contains("DEVICE");
        assertThat(Cli.run("conform", "rocev2", "--case", "nothing.like.this").error())
                .contains("nothing.like.this");
        assertThat(Cli.run("conform", "nosuchdevice").status()).isEqualTo(1);
    }
}
