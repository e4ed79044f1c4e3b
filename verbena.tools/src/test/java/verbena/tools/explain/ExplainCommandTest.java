package verbena.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;

@Timeout(180)
class ExplainCommandTest {
    @Test
    void withoutAScenarioAllAreListedWithALineEach() {
        Cli cli = Cli.run("explain");

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines())
                .hasSizeGreaterThan(15)
                .anyMatch(line -> line.startsWith("write "))
                .anyMatch(line -> line.startsWith("lost-packet "))
                .allSatisfy(line -> assertThat(line).hasSizeBetween(30, 100));
        assertThat(Cli.run("explain", "--list").out()).isEqualTo(cli.out());
    }

    @Test
    void aDiagramFitsTheTerminalInPlainAscii() {
        Cli cli = Cli.run("explain", "write", "--rehearse", "0", "--ascii");

        assertThat(cli.err()).isEmpty();
        assertThat(cli.status()).isZero();
        assertThat(cli.outLines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
        assertThat(cli.out().chars()).allMatch(c -> c < 0x7F);
        assertThat(cli.out()).contains("WRITE_FIRST", "What happened", "Summary");
    }

    @Test
    void aCardIsExplainedTheSameWayEachTime(@TempDir Path folder) throws Exception {
        Cli cli = Cli.run("explain", "card", "--ascii");
        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.out()).isEqualTo(Files.readString(Cli.golden("card/explain.txt")));

        Path html = folder.resolve("card.html");
        assertThat(Cli.run("explain", "card", "--as", "cx3", "--size", "4096", "--html", html.toString())
                        .status())
                .isZero();
        assertThat(Files.readString(html)).startsWith("<!doctype html>").contains("CplD", "sendfile", "card cx3");
        assertThat(Cli.run("explain", "card", "--as", "cx9").error()).contains("--as: there is no card 'cx9'");
    }

    @Test
    void filesAreWrittenInAnyFormat(@TempDir Path folder) throws Exception {
        Path html = folder.resolve("recording.html");
        Path uml = folder.resolve("recording.puml");
        Cli cli = Cli.run(
                "explain",
                "send",
                "--rehearse",
                "0",
                "--html",
                html.toString(),
                "--plantuml",
                uml.toString(),
                "--mermaid",
                "-");

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.out()).contains("written: " + html, "written: " + uml, "sequenceDiagram", "SEND_ONLY");
        assertThat(Files.readString(html)).startsWith("<!doctype html>").contains("SEND_ONLY");
        assertThat(Files.readString(uml)).startsWith("@startuml").endsWith("@enduml\n");
    }

    @Test
    void aMistakeIsToldInALine() {
        assertThat(Cli.run("explain", "wright").error()).contains("there is no scenario 'wright'", "write");
        assertThat(Cli.run("explain", "write", "--size", "0").error()).contains("--size: 1 to");
        assertThat(Cli.run("explain", "atomic", "--size", "5").error()).contains("has no choice");
        assertThat(Cli.run("explain", "write", "--rehearse", "-1").error()).contains("--rehearse: 0 to 60");
        assertThat(Cli.run("explain", "wright").status()).isEqualTo(2);
    }

    @Test
    void whatCannotBeDoneIsToldInALine() {
        Cli cli = Cli.run("explain", "ud", "--device", "iwarp");
        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("device iwarp does not have UD");
        assertThat(Cli.run("explain", "lost-packet", "--device", "iwarp").error())
                .contains("only a device rocev2 or shm");
        assertThat(Cli.run("explain", "lost-packet", "--size", "5000", "--rehearse", "0")
                        .error())
                .contains("three packets");
        assertThat(Cli.run("explain", "refused", "--rehearse", "0", "--html", "/no/such/folder/x.html")
                        .error())
                .contains("cannot write /no/such/folder/x.html: no such file or folder");
    }
}
