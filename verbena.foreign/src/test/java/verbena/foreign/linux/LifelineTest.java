package verbena.foreign.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.Timespec;

@EnabledOnOs(value = OS.LINUX, disabledReason = "tables of descriptors")
class LifelineTest {
    @BeforeEach
    void has() {
        assumeTrue(Lifeline.descriptor() >= 0, "the kernel gives no thread a table of descriptors");
    }

    @Test
    void oneThreadHoldsTheWritingEndAndNothingElse() throws IOException {
        assertThat(ofThreads("verbena-lifeline")).singleElement().satisfies(thread -> {
            List<String> held = descriptors(thread);
            assertThat(held).hasSize(1);
            assertThat(held.getFirst()).startsWith("pipe:");
            assertThat(descriptors(Path.of("/proc/self")))
                    .as("the reading end, and no other writing one")
                    .containsOnlyOnce(held.getFirst());
        });
        assertThat(Lifeline.descriptor()).isEqualTo(Lifeline.descriptor());
    }

    @Test
    void theReadingEndIsSilentWhileTheProcessLives() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment polled = arena.allocate(Pollfd.BYTES, 8);
            Pollfds.watch(polled, 0, Lifeline.descriptor(), LinuxAbi.POLLIN);
            assertThat(LinuxSockets.poll(polled, 1, arena.allocate(Timespec.BYTES, 8)))
                    .isZero();
        }
    }

    /// The kernel keeps 15 characters of a name.
    private static List<Path> ofThreads(String name) throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            return threads.filter(thread -> read(thread.resolve("comm")).equals(name.substring(0, 15) + "\n"))
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return ""; // the thread has ended
        }
    }

    private static List<String> descriptors(Path of) {
        try (Stream<Path> links = Files.list(of.resolve("fd"))) {
            return links.map(LifelineTest::target)
                    .filter(name -> !name.isEmpty())
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return ""; // closed meanwhile: that of the folder itself
        }
    }
}
