package verbena.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChildTest {
    private static final int SIGINT_STATUS = 130;

    /// A process with a child that would live for an hour, and that leaves a file.
    static final class Parent {
        private Parent() {}

        public static void main(String[] args) throws Exception {
            var child = new Child(
                    List.of("sh", "-c", "touch $TMPDIR/file; echo $TMPDIR $XDG_RUNTIME_DIR; sleep 3600"), Map.of());
            System.out.println(child.pid());
            System.out.println(child.hear());
            child.result();
        }
    }

    @Test
    void ctrlCEndsTheChildrenTooAndRemovesTheirFiles() throws Exception {
        Process parent = new ProcessBuilder(
                        "env",
                        "--default-signal=INT", // a process in the background inherits that SIGINT is ignored
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-cp",
                        ManagementFactory.getRuntimeMXBean().getClassPath(),
                        Parent.class.getName())
                .redirectErrorStream(true)
                .start();
        BufferedReader says = parent.inputReader();
        ProcessHandle child = ProcessHandle.of(Long.parseLong(says.readLine())).orElseThrow();
        String[] folders = says.readLine().split(" ", -1);
        Path folder = Path.of(folders[0]);
        assertThat(folders).containsExactly(folders[0], folders[0]);
        assertThat(folder.resolve("file")).exists();

        assertThat(new ProcessBuilder("kill", "-INT", Long.toString(parent.pid()))
                        .start()
                        .waitFor())
                .isZero();

        assertThat(parent.waitFor()).isEqualTo(SIGINT_STATUS);
        assertThat(child.onExit().get(10, TimeUnit.SECONDS).isAlive()).isFalse();
        assertThat(folder).doesNotExist();
    }

    @Test
    void aProgramThatFailsIsToldWithItsLastWords() throws Exception {
        try (var child = new Child(List.of("sh", "-c", "echo no luck; exit 3"), Map.of())) {
            assertThatThrownBy(child::result)
                    .isInstanceOf(Child.Failed.class)
                    .hasMessage("sh ended with status 3: no luck");
        }
    }
}
