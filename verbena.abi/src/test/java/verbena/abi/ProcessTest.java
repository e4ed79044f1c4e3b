package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.abi.Programs.Ended;

/// Programs of our own in C whose process has signals, forks, threads and libraries of its own beside ours.
class ProcessTest {
    private Programs programs = Programs.over("rocev2_lo");

    @AfterEach
    void endAll() {
        programs.close();
    }

    @Test
    void signalsAndForksAreTheProgramsOwn() {
        programs.runC(Programs.SOURCES.resolve("host.c"));
    }

    @Test
    void aLibraryThatIsUnloadedGivesItsObjectsBack() {
        Path library = programs.compileLibrary(Programs.SOURCES.resolve("guest.c"));
        programs.runC(Programs.SOURCES.resolve("unloading.c"), library.toString());
    }

    @Test
    void ourLibrariesMayBeUnloadedWhileDevicesAreOpen() {
        programs.runC(Programs.SOURCES.resolve("reloading.c"));
    }

    @Test
    void aFaultOfTheProgramIsTheProgramsOwn() {
        programs.runC(Programs.SOURCES.resolve("crash.c"));
    }

    @Test
    void callsComeFromAnyStackAndFromSignalHandlers() {
        programs.runC(Programs.SOURCES.resolve("stacks.c"));
    }

    /// With another malloc than the C library's where one is installed, which is drawn; with each of them, and none, by
    /// -Dverbena.deep=true.
    @Test
    void forkedProcessesHaveDevicesOfTheirOwn() throws IOException {
        List<Path> mallocs = mallocs();
        if (mallocs.isEmpty() || Boolean.getBoolean("verbena.deep")) {
            programs.runC(Programs.SOURCES.resolve("fork.c"));
        }
        String[] names = mallocs.stream().map(Path::toString).toArray(String[]::new);
        for (String malloc : Programs.draw(Math.max(1, names.length), names).toList()) {
            programs.close();
            programs = Programs.over("rocev2_lo", Path.of(malloc));
            programs.runC(Programs.SOURCES.resolve("fork.c"));
        }
    }

    private static List<Path> mallocs() throws IOException {
        try (Stream<Path> folders = Files.list(Path.of("/usr/lib"))) {
            return folders.filter(folder -> folder.toString().endsWith("-linux-gnu"))
                    .flatMap(folder -> Stream.of("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")
                            .map(folder::resolve))
                    .filter(Files::exists)
                    .toList();
        }
    }

    /// The sanitizers end a program at its first mistake. They see what the library does with the program's memory in
    /// calls of the C library.
    @Test
    void aProgramThatSanitizersWatchMakesNoMistake() {
        programs = programs.with("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0");
        programs.runC(
                Programs.SOURCES.resolve("semantics.c"),
                List.of("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"));
    }

    @Test
    void manyThreadsConnectAndWaitAtOnce() {
        programs.runC(Programs.SOURCES.resolve("crowd.c"), "8", "25");
    }

    @Test
    void openingAndClosingLeavesNothingBehind() {
        // 10,000 cycles with -Dverbena.deep=true
        boolean isDeep = Boolean.getBoolean("verbena.deep");
        Ended ended = programs.runC(Programs.SOURCES.resolve("cycles.c"), isDeep ? "10000" : "200");
        String growth = ended.said().replaceAll("(?s).*, ([+-]\\d+) KB in the second half.*", "$1");
        // what the virtual machine's heap takes in its first seconds says little
        assertThat(Integer.parseInt(growth)).as(ended.toString()).isLessThan((isDeep ? 16 : 64) * 1024);
    }
}
