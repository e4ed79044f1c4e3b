package verbena.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisabledOnOs(OS.WINDOWS)
class RunnerTest {
    @TempDir
    Path folder;

    private final List<String> reported = new ArrayList<>();
    private FakeLab fake;
    private Runner runner;
    private int runs;

    @BeforeEach
    void aFakeLab() throws IOException {
        fake = new FakeLab(folder);
        runner = new Runner(
                fake.lab(),
                (kind, text) ->
                        reported.add(kind + " " + text.lines().findFirst().orElse("")));
    }

    /// Ends what a guest that was replaced has left running, which writes into the folder.
    @AfterEach
    void end() {
        fake.lab().close();
    }

    private Check failing(int times, Runnable first) {
        return Check.of("check", attempt -> {
            first.run();
            if (++runs <= times) {
                throw new AssertionError("run " + runs);
            }
        });
    }

    @Test
    void aCheckThatFailsIsNotTriedAgain() {
        assertThatThrownBy(() -> runner.run(failing(1, () -> {})))
                .isInstanceOf(AssertionError.class)
                .hasMessage("run 1");
        assertThat(reported).isEmpty();
    }

    @Test
    void eachAttemptOfAServiceThatMayLoseIsReported() throws Exception {
        runner.run(failing(2, () -> {}).withAttempts(3));
        assertThat(reported)
                .containsExactly(
                        "AGAIN check: attempt 1 of 3 failed: run 1", "AGAIN check: attempt 2 of 3 failed: run 2");
        runs = 0;
        assertThatThrownBy(() -> runner.run(failing(3, () -> {}).withAttempts(3)))
                .hasMessage("run 3");
    }

    @Test
    void aGuestThatHangsIsReplacedAndNamed() throws Exception {
        runner.run(failing(1, () -> {
            if (runs == 0) {
                fake.hang();
            }
        }));
        assertThat(runs).isEqualTo(2);
        assertThat(reported).containsExactly("HUNG check: the guest hung (it runs no program) and was replaced");
        assertThat(fake.asked()).contains("down").anyMatch(line -> line.startsWith("up "));
    }

    @Test
    void aCheckThatHangsTwoGuestsHasFailed() {
        assertThatThrownBy(() -> runner.run(failing(9, fake::hang))).hasMessageStartingWith("the guest hung twice");
        assertThat(runs).isEqualTo(2);
        assertThat(reported).hasSize(2);
    }

    @Test
    void theWeatherOfACheckLastsUntilOneWantsAnother() throws Exception {
        Check check = Check.of("check", attempt -> {});
        runner.run(check.in(Weather.THEIRS_LOST));
        runner.run(check.in(Weather.THEIRS_LOST));
        runner.run(check.in(Weather.SIW_WANTS_CRC));
        runner.run(check);
        assertThat(fake.asked())
                .containsExactly(
                        "exec -t 20 -- sh -c true",
                        "exec -t 20 -- sh -c tc qdisc replace dev eth0 root netem loss 2%",
                        "exec -t 20 -- sh -c tc qdisc del dev eth0 root",
                        "exec -t 20 -- sh -c > /sys/module/siw/parameters/mpa_crc_required echo 1",
                        "exec -t 20 -- sh -c > /sys/module/siw/parameters/mpa_crc_required echo 0",
                        "exec -t 20 -- sh -c true");
    }
}
