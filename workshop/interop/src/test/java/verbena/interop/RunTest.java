package verbena.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Interop of the JDK's own channels, in real processes with the agent that the build has made.
@Timeout(value = 200, unit = TimeUnit.SECONDS)
class RunTest {
    private static final Path AGENT =
            Path.of(System.getProperty("verbena.root"), "verbena.nio", "target", "verbena-nio.jar");

    @BeforeEach
    void prepare() {
        theAgentIsThere();
    }

    static void theAgentIsThere() {
        assumeTrue(Files.exists(AGENT), AGENT + " was not built: mvn package makes it");
    }

    private static Run.Outcome run(Class<?> system, Scene scene) throws Exception {
        return make(system, scene).go();
    }

    static Run make(Class<?> system, Scene scene) {
        var java = Path.of(System.getProperty("java.home"), "bin", "java");
        String classPath = System.getProperty("java.class.path");
        var subject = new Subject("test", "", system.getName(), classPath, Subject.Carrier.AGENT, false);
        return new Run(new Run.Jvm(java, AGENT, true), subject, scene);
    }

    @Test
    void allBytesOfASystemGoByRdmaWhenBothEndsHaveTheAgent() throws Exception {
        Run.Outcome found = run(Echo.class, Scene.over("shm"));
        assertThat(found.counted()).isEqualTo(new Counted(800_000, 0)); // four times each message
        assertThat(found.checked()).isEqualTo("an echo");
    }

    @Test
    void theyGoByTcpWhenOneEndHasNone() throws Exception {
        assertThat(run(Echo.class, Scene.clientOnly()).counted()).isEqualTo(new Counted(0, 400_000));
        assertThat(run(Echo.class, Scene.serverOnly()).counted()).isEqualTo(new Counted(0, 400_000));
    }

    @Test
    void aClientNoticesThatItsServerWasKilled() throws Exception {
        assertThat(run(Echo.class, Scene.killed()).checked()).startsWith("the client noticed after ");
    }

    @Test
    void dataThatDifferAreAFailure() {
        assertThatThrownBy(() -> run(Echo.Lying.class, Scene.over("shm")))
                .isInstanceOf(RunFailed.class)
                .hasMessageContaining("is not what it has to be");
    }

    @Test
    void aServerThatCannotBeginIsAFailureWithItsLastWords() {
        assertThatThrownBy(() -> run(Echo.Broken.class, Scene.over("shm")))
                .isInstanceOfSatisfying(
                        RunFailed.class,
                        failure ->
                                assertThat(failure.lastWords()).anyMatch(line -> line.contains("no place to serve")));
    }

    @Test
    void whatAClientMeasuresComesBackByName() throws Exception {
        for (Scene way : List.of(Scene.plain(), Scene.moving(), Scene.over("iwarp"))) {
            SequencedMap<String, Double> found = make(Echo.class, way).measure();
            assertThat(found.sequencedKeySet())
                    .containsExactly(
                            "an echo, us",
                            "an echo, 99.9 %, us",
                            "an echo, first 5 s, us",
                            "an echo, first 5 s, processor, us",
                            "bytes, a second",
                            "bytes, a second, first 5 s",
                            "bytes, a batch, first 5 s, processor, us");
            assertThat(found.get("an echo, us")).isPositive().isLessThanOrEqualTo(found.get("an echo, 99.9 %, us"));
            assertThat(found.get("an echo, first 5 s, us")).isPositive();
            assertThat(found.get("bytes, a second")).isBetween(100.0, 1e11); // a message of 100 a second, and a memcpy
            assertThat(found.get("bytes, a second, first 5 s")).isPositive();
        }
    }
}
