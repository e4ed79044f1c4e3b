package verbena.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// What becomes of processes, over a [FakeLab].
@DisabledOnOs(OS.WINDOWS)
class ServerAndClientTest {
    private static final Ready AT_ONCE = (attempt, server) -> {};

    @TempDir
    Path folder;

    private final List<String> notes = new ArrayList<>();
    private Lab lab;

    @BeforeEach
    void aFakeLab() throws IOException {
        lab = new FakeLab(folder).lab();
    }

    @AfterEach
    void end() {
        lab.close();
    }

    private Attempt attempt() {
        return new Attempt(lab, 18601, notes::add);
    }

    @Test
    void bothEndWell() throws Exception {
        try (var attempt = attempt()) {
            new ServerAndClient(Command.ours("echo PORT PORT2"), AT_ONCE, Command.theirs(5, "echo hello")).run(attempt);
            assertThat(attempt.told()).contains("ours: 18601 18602", "theirs: hello");
        }
    }

    @Test
    void theEndThatFailsIsNamed() {
        assertThatThrownBy(() -> run(new ServerAndClient(Command.ours("true"), AT_ONCE, Command.theirs(5, "false"))))
                .isInstanceOf(AssertionError.class)
                .hasMessage("the client ended with 1");
        assertThatThrownBy(() -> run(new ServerAndClient(Command.ours("false"), AT_ONCE, Command.theirs(5, "true"))))
                .hasMessage("the server ended with 1, the client with 0");
    }

    /// The line of figures and the status behind it, as perftest printed them.
    @Test
    void perftestsServerMayMissThatItsLastWordWasSentButNotItsFigures() throws Exception {
        String missed = "Bad wc status 2\nUnable to write from socket/rdma_cm\n";
        Path measured = Files.writeString(
                folder.resolve("measured"),
                "printf ' 4096       5     5.76     2.44   \t\t   0.000624 " + missed.replace("\n", "\\n")
                        + "'; exit 1\n");
        Path failed =
                Files.writeString(folder.resolve("failed"), "printf '" + missed.replace("\n", "\\n") + "'; exit 1\n");
        run(new ServerAndClient(Command.theirs(5, "sh " + measured), AT_ONCE, Command.ours("true")));
        assertThatThrownBy(() ->
                        run(new ServerAndClient(Command.theirs(5, "sh " + failed), AT_ONCE, Command.ours("true"))))
                .hasMessage("the server ended with 1, the client with 0");
    }

    @Test
    void aServerThatDiesBeforeItIsThereIsNotWaitedFor() {
        Ready never = Ready.here("false");
        assertThatThrownBy(() -> run(new ServerAndClient(Command.ours("true"), never, Command.theirs(5, "true"))))
                .hasMessageContaining("the server ended before it was there");
        assertThatThrownBy(
                        () -> run(new ServerAndClient(Command.ours("true"), Ready.SAYS_SO, Command.theirs(5, "true"))))
                .hasMessageContaining("does not say that it is there");
    }

    @Test
    void aServerThatStaysIsEndedAndNotJudged() throws Exception {
        Running server;
        try (var attempt = attempt()) {
            new ServerAndClient(Command.ours("sleep 600"), AT_ONCE, Command.theirs(5, "true"))
                    .whoseServerStays()
                    .run(attempt);
            server = attempt.started(Running.start("another", Map.of(), List.of("sh", "-c", "sleep 600 & wait")));
            assertThat(server.isAlive()).isTrue();
        }
        assertThat(server.isAlive()).as("after its attempt").isFalse();
    }

    @Test
    void anEndingThatIsExpectedHasAStatusAndWords() throws Exception {
        try (var attempt = attempt()) {
            ServerAndClient.alone(Command.ours("ls --no-such-option"), 2, "no-such")
                    .run(attempt);
        }
        assertThatThrownBy(() -> run(ServerAndClient.alone(Command.ours("echo yes"), 0, "no")))
                .hasMessageContaining("does not say");
        assertThatThrownBy(() -> run(ServerAndClient.alone(Command.ours("echo yes"), 1, "yes")))
                .hasMessageContaining("not with 1");
    }

    @Test
    void whatTakesTooLongIsEndedWithItsChildren() throws Exception {
        Running slow = Running.start("slow", Map.of(), List.of("sh", "-c", "echo begun; sleep 600 & wait"));
        assertThat(slow.awaitLine(Pattern.compile("begun"), 10)).isTrue();
        assertThat(slow.await(0)).isEqualTo(Running.TOO_LONG);
        assertThat(slow.isAlive()).isFalse();
    }

    private void run(Check.Act act) throws InterruptedException {
        try (var attempt = attempt()) {
            act.run(attempt);
        }
    }
}
