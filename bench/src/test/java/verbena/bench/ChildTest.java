package verbena.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChildTest {
    private static final int SIGINT_STATUS = 130;

    /// A process with a child that would live for an hour.
    static final class Parent {
        private Parent() {}

        public static void main(String[] args) throws Exception {
            var child = new Child(List.of("sleep", "3600"), Map.of());
            System.out.println(child.pid());
            child.result();
        }
    }

    @Test
    void ctrlCEndsTheChildrenToo() throws Exception {
        Process parent = new ProcessBuilder(
                        "env",
                        "--default-signal=INT", // what runs in the background inherits that it is ignored
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-cp",
                        ManagementFactory.getRuntimeMXBean().getClassPath(),
                        Parent.class.getName())
                .redirectErrorStream(true)
                .start();
        ProcessHandle child = ProcessHandle.of(
                        Long.parseLong(parent.inputReader().readLine()))
                .orElseThrow();

        assertThat(new ProcessBuilder("kill", "-INT", Long.toString(parent.pid()))
                        .start()
                        .waitFor())
                .isZero();

        assertThat(parent.waitFor()).isEqualTo(SIGINT_STATUS);
        assertThat(child.onExit().get(10, TimeUnit.SECONDS).isAlive()).isFalse();
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
