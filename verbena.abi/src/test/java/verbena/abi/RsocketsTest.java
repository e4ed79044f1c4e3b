package verbena.abi;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Programs of our own in C that use rsockets.
class RsocketsTest {
    private Programs programs = Programs.over("rocev2_lo");

    @AfterEach
    void endAll() {
        programs.close();
    }

    @Test
    void rsocketsBehaveAsSocketsDo() {
        programs.runC(Programs.SOURCES.resolve("rsockets.c"));
    }

    @Test
    void rsocketsDoTheirWorkInTheProgramsOwnThread() {
        programs.runC(Programs.SOURCES.resolve("handovers.c"));
    }

    @Test
    void rsocketsWorkInTheProgramsOwnThreadOverSharedMemoryToo() {
        programs.close();
        programs = Programs.over("shm");
        programs.runC(Programs.SOURCES.resolve("handovers.c"));
    }

    @Test
    void noWayToWaitForRsocketsDisturbsAnother() {
        programs.runC(Programs.SOURCES.resolve("attending.c"));
    }

    @Test
    void aProgramsSocketsBecomeRsockets() throws IOException {
        Path library = librspreload();
        programs.close();
        programs = Programs.over("rocev2_lo", library);
        programs.runC(Programs.SOURCES.resolve("preloaded.c"));
    }

    /// Debian has it in a folder of the architecture's.
    private static Path librspreload() throws IOException {
        try (var found = Files.find(Path.of("/usr/lib"), 3, (path, _) -> path.endsWith("rsocket/librspreload.so"))) {
            Optional<Path> library = found.findFirst();
            assumeTrue(library.isPresent(), "librspreload.so is not installed (Debian: librdmacm1)");
            return library.get();
        }
    }
}
