package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.abi.Programs.Ended;

/// Programs of our own in C: the example of a textbook, and one that does everything wrong.
class CProgramsTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));
    private static final Path SOURCES = ROOT.resolve("verbena.abi/src/test/c");

    private Programs programs = Programs.over("rocev2_lo");

    @AfterEach
    void endAll() {
        programs.close();
    }

    @Test
    void theExampleWrites() {
        Ended ended = run(ROOT.resolve("examples/c/write.c"));
        assertThat(ended.said()).contains("request 7: success", "the other buffer says: written by RDMA");
    }

    @Test
    void aProgramThatMisusesTheApiGetsWhatTheManPagesSay() {
        run(SOURCES.resolve("misuse.c"));
    }

    @Test
    void requestsAndMemoryMeanWhatTheStandardSays() {
        run(SOURCES.resolve("semantics.c"));
    }

    @Test
    void aMistakeInARequestShowsWhereTheStandardSays() {
        run(SOURCES.resolve("faults.c"));
    }

    @Test
    void extendedConnectionsNameTheQueueOfThePeer() {
        run(SOURCES.resolve("xrc.c"));
    }

    @Test
    void addressesMeanTheDevicesThatAreListed() {
        programs.close();
        programs = Programs.over(""); // all that there are
        run(SOURCES.resolve("addresses.c"));
    }

    @Test
    void devicesAreFoundInSysAndDev() {
        run(SOURCES.resolve("discovery.c"));
    }

    @Test
    void signalsAndForksAreTheProgramsOwn() {
        run(SOURCES.resolve("host.c"));
    }

    @Test
    void aLibraryThatIsUnloadedGivesItsObjectsBack() {
        Path library = programs.compileLibrary(SOURCES.resolve("guest.c"));
        run(SOURCES.resolve("unloading.c"), library.toString());
    }

    @Test
    void aFaultOfTheProgramIsTheProgramsOwn() {
        run(SOURCES.resolve("crash.c"));
    }

    @Test
    void callsComeFromAnyStackAndFromSignalHandlers() {
        run(SOURCES.resolve("stacks.c"));
    }

    @Test
    void waitingForEventsIsASystemCall() {
        run(SOURCES.resolve("waiting.c"));
    }

    /// With another malloc than the C library's where one is installed; with each of them, and none, by
    /// -Dverbena.deep=true.
    @Test
    void forkedProcessesHaveDevicesOfTheirOwn() throws IOException {
        boolean isDeep = Boolean.getBoolean("verbena.deep");
        List<Path> mallocs = mallocs();
        if (isDeep || mallocs.isEmpty()) {
            run(SOURCES.resolve("fork.c"));
        }
        for (Path malloc : isDeep ? mallocs : mallocs.stream().limit(1).toList()) {
            programs.close();
            programs = Programs.over("rocev2_lo", malloc);
            run(SOURCES.resolve("fork.c"));
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

    @Test
    void rsocketsBehaveAsSocketsDo() {
        run(SOURCES.resolve("rsockets.c"));
    }

    @Test
    void rsocketsDoTheirWorkInTheProgramsOwnThread() {
        run(SOURCES.resolve("handovers.c"));
    }

    @Test
    void rsocketsWorkInTheProgramsOwnThreadOverSharedMemoryToo() {
        programs.close();
        programs = Programs.over("shm");
        run(SOURCES.resolve("handovers.c"));
    }

    @Test
    void noWayToWaitForRsocketsDisturbsAnother() {
        run(SOURCES.resolve("attending.c"));
    }

    @Test
    void datagramsBehaveAsThoseOfUdpDo() {
        run(SOURCES.resolve("datagrams.c"));
    }

    @Test
    void aProgramsSocketsBecomeRsockets() throws IOException {
        Path library = librspreload();
        programs.close();
        programs = Programs.over("rocev2_lo", library);
        run(SOURCES.resolve("preloaded.c"));
    }

    /// Debian has it in a folder of the architecture's.
    private static Path librspreload() throws IOException {
        try (var found = Files.find(Path.of("/usr/lib"), 3, (path, _) -> path.endsWith("rsocket/librspreload.so"))) {
            Optional<Path> library = found.findFirst();
            assumeTrue(library.isPresent(), "librspreload.so is not installed (Debian: librdmacm1)");
            return library.get();
        }
    }

    @Test
    void manyThreadsConnectAndWaitAtOnce() {
        run(SOURCES.resolve("crowd.c"), "8", "25");
    }

    @Test
    void openingAndClosingLeavesNothingBehind() {
        // 10,000 cycles with -Dverbena.deep=true
        boolean isDeep = Boolean.getBoolean("verbena.deep");
        Ended ended = run(SOURCES.resolve("cycles.c"), isDeep ? "10000" : "200");
        String growth = ended.said().replaceAll("(?s).*, ([+-]\\d+) KB in the second half.*", "$1");
        // what the virtual machine's heap takes in its first seconds says little
        assertThat(Integer.parseInt(growth)).as(ended.toString()).isLessThan((isDeep ? 16 : 64) * 1024);
    }

    private Ended run(Path source, String... arguments) {
        var command = new String[arguments.length + 1];
        command[0] = programs.compile(source).toString();
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Ended ended = programs.run(command);
        assertThat(ended.code()).as(ended.toString()).isZero();
        return ended;
    }
}
