package verbena.checked;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.check.CallPlace;
import verbena.check.Finding;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.races.RaceMerge;

/// Races between processes, from their logs.
@Timeout(120)
class RaceMergeTest {
    @TempDir
    private Path folder;

    /// A process of the test, and its streams.
    private record Child(Process process, BufferedReader out) implements AutoCloseable {
        static Child start(Path log, String... arguments) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dverbena.check=quiet,log=" + log,
                    "-cp",
                    System.getProperty("java.class.path"),
                    RaceProcess.class.getName()));
            command.addAll(List.of(arguments));
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new Child(
                    process,
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)));
        }

        String hear() throws IOException {
            return out.readLine();
        }

        void say(String line) throws IOException {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private List<Path> logsOfTwoProcesses(String queuePairs) throws Exception {
        Path owner = folder.resolve("owner.log");
        Path writer = folder.resolve("writer.log");
        try (Child one = Child.start(owner, "owner", queuePairs);
                Child other = Child.start(writer, "writer", queuePairs)) {
            String ofOwner = one.hear();
            one.say(other.hear());
            other.say(ofOwner);
            assertThat(one.hear()).isEqualTo("ready");
            other.say("go on");
            assertThat(one.hear()).isEqualTo("done");
            assertThat(other.hear()).isEqualTo("done");
            one.say("end");
            other.say("end");
            assertThat(one.process.waitFor()).isZero();
            assertThat(other.process.waitFor()).isZero();
        }
        return List.of(owner, writer);
    }

    private static List<Finding> merged(List<Path> logs) throws IOException {
        var findings = new Findings(EnumSet.allOf(Rule.class));
        RaceMerge.tell(logs, findings);
        return findings.all();
    }

    private static String method(CallPlace place) {
        CallPlace.Frame frame = place.frames().getFirst();
        assertThat(frame.type()).isEqualTo(RaceProcess.class.getName());
        return frame.method();
    }

    @Test
    void anAnnouncementByAnotherQueuePairIsToldWithThePlacesInBothProcesses() throws Exception {
        List<Finding> found = merged(logsOfTwoProcesses("two"));

        assertThat(found).hasSize(1);
        Finding race = found.getFirst();
        assertThat(race.rule()).isEqualTo(Rule.RACE_ANNOUNCED);
        assertThat(method(race.noticed())).isEqualTo("own");
        assertThat(method(race.earlier())).isEqualTo("write");
        assertThat(race.detail())
                .contains("the program reads 64 bytes from byte 64 of memory region", "of process", "a WRITE writes");
    }

    @Test
    void anAnnouncementByTheSameQueuePairIsARaceNeitherForOneNorForMany() throws Exception {
        assertThat(merged(logsOfTwoProcesses("one"))).isEmpty();
    }

    /// Two writers to the memory of a third. The owner has QPN 1 and 2, the writers 11 and 12.
    private List<Path> logs(String ofFirst, String ofSecond) throws IOException {
        Path owner = log("""
                V 1 1 100
                P 1 0 a.Owner;main;Owner.java;1
                R 1 1 77 4096 4096 4096 memory g1
                Q 1 2 1 g1
                Q 1 3 2 g1
                C 3 2 11 g2
                C 3 3 12 g3
                """, "owner");
        Path first = log("""
                V 1 1 200
                P 1 0 a.First;main;First.java;5
                Q 2 1 11 g2
                C 4 1 1 g1
                S 10 1 1 WRITE WRITE false false 0 4100 77 64 -
                """ + ofFirst, "first");
        Path second = log("""
                V 1 1 300
                P 1 0 b.Second;main;Second.java;6
                Q 2 1 12 g3
                C 4 1 2 g1
                """ + ofSecond, "second");
        return List.of(owner, first, second);
    }

    private Path log(String text, String name) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, text.replace(' ', '\t'));
        return file;
    }

    @Test
    void writesOfTwoProcessesRaceWhateverTheTime() throws Exception {
        List<Finding> found = merged(logs("E 20 1 1 true\n", "S 99 1 1 WRITE WRITE false false 0 4132 77 64 -\n"));

        assertThat(found).hasSize(1);
        assertThat(found.getFirst().rule()).isEqualTo(Rule.RACE_WRITE);
        assertThat(found.getFirst().detail()).contains("32 bytes from byte 36 of memory of process 100");
        assertThat(found.getFirst().noticed()).hasToString("b.Second.main(Second.java:6)");
        assertThat(found.getFirst().earlier()).hasToString("a.First.main(First.java:5)");
    }

    @Test
    void processesAreOrderedByWhatTheySayOfTheSameText() throws Exception {
        List<Path> logs =
                logs("E 20 1 1 true\nL 21 done\n", "K 30 done\nS 99 1 1 WRITE WRITE false false 0 4132 77 64 -\n");
        assertThat(merged(logs)).isEmpty();

        logs = logs("L 19 done\nE 20 1 1 true\n", "K 30 done\nS 99 1 1 WRITE WRITE false false 0 4132 77 64 -\n");
        assertThat(merged(logs)).hasSize(1);
    }

    @Test
    void aMessageIsReceivedAfterItWasPostedWhateverTheClocksSay() throws Exception {
        Path owner = log("""
                V 1 1 100
                P 1 0 a.Owner;main;Owner.java;1
                R 1 1 77 4096 4096 4096 memory g1
                Q 1 2 1 g1
                C 2 2 11 g2
                G 3 2
                A 4 LOAD 1 4100 64 0
                """, "owner");
        Path writer = log("""
                V 500 1 200
                P 500 0 a.First;main;First.java;5
                Q 500 1 11 g2
                C 501 1 1 g1
                S 502 1 1 WRITE WRITE false false 0 4100 77 64 -
                S 503 1 2 SEND - false true 0 0 0 8 -
                """, "writer");

        assertThat(merged(List.of(owner, writer))).isEmpty();
    }

    @Test
    void aLastLineThatIsNotWholeIsLeftOut() throws Exception {
        assertThat(merged(logs("E 20 1 1 tr", "S 99 1"))).isEmpty();
    }

    @Test
    void aMistakeInALogIsNamedWithItsLine() throws Exception {
        assertThatThrownBy(() -> merged(logs("E 20 9 1 true\n", "")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("first: line 6 names a queue pair that is not open");
        assertThatThrownBy(() -> merged(logs("E 20 x 1 true\n", ""))).hasMessageContaining("line 6 has no number");
        assertThatThrownBy(() -> merged(logs("E 20\n", ""))).hasMessageContaining("line 6 has no field 2");
        assertThatThrownBy(() -> merged(logs("? 20\n", ""))).hasMessageContaining("unknown letter");
        assertThatThrownBy(() -> merged(List.of(log("nothing\n", "other")))).hasMessageContaining("other is no log");
    }
}
