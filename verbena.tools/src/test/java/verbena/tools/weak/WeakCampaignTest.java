package verbena.tools.weak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Our examples, integrations and tools on the weakest devices, under all rules and with races, by seeds.
///
/// The seeds run with `-Dverbena.deep=true`: a thousand, or one with `-Dverbena.seed=N`, of all programs or of those
/// that match `-Dverbena.programs=PATTERN`.
@Timeout(value = 4, unit = TimeUnit.HOURS)
class WeakCampaignTest {
    private static final long FIRST = Long.getLong("verbena.seed", 1);
    private static final long LAST = Long.getLong("verbena.seed", 1_000);
    private static final String PROGRAMS = System.getProperty("verbena.programs", ".*");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @EnabledIfSystemProperty(named = "verbena.deep", matches = "true", disabledReason = "takes hours")
    void ourProgramsAreRightOnTheWeakestDevice(boolean isVirtual) throws Exception {
        String said = run(FIRST, LAST, PROGRAMS, isVirtual);
        assertThat(said).contains("seed " + LAST + " of " + LAST).contains(", 0 findings");
    }

    /// Returns the command that runs a program with a seed again.
    static String repeating(long seed, String program) {
        return "mvn -pl verbena.tools -am test -Dtest=WeakCampaignTest -Dsurefire.failIfNoSpecifiedTests=false"
                + " -Dverbena.deep=true -Dverbena.seed=" + seed + " -Dverbena.programs=" + program;
    }

    /// Otherwise the other test could not fail.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aProgramThatLooksTooEarlyIsFound(boolean isVirtual) throws Exception {
        assertThat(run(1, 1, OwnPrograms.CONTROL, isVirtual))
                .contains("control on weak=standard,seed=1: ")
                .contains("broken by [late-visibility");
    }

    /// A stream posted a receive after a failure that its thread had seen.
    @Test
    void aSeedThatHasFoundAMistakeFindsNoneAnyMore() throws Exception {
        assertThat(run(61, 61, "stream", true)).contains("seed 61 of 61").contains(", 0 findings");
    }

    @Test
    void timeStandsStillWhileAThreadIsBlockedByOneOfTheSystem() throws Exception {
        assertThat(run(1, 1, MonitorProgram.NAME, true)).contains("seed 1 of 1").contains(", 0 findings");
    }

    @Test
    void timeLimitsAreThoseOfVirtualTime() throws Exception {
        assertThat(run(1, 1, LimitProgram.NAME, true)).contains("seed 1 of 1").contains(", 0 findings");
    }

    private String run(long first, long last, String which, boolean isVirtual) throws Exception {
        Process process = new ProcessBuilder(Campaign.command(folder, first, last, which, isVirtual))
                .redirectErrorStream(true)
                .start();
        try (var out = process.getInputStream()) {
            return new String(out.readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
