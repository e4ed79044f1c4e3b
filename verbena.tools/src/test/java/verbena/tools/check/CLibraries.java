package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import verbena.tools.Cli;

/// The libraries for programs in C, as this build has made them, and the programs of others that run over them.
public final class CLibraries {
    private static final Path FOLDER = Cli.root().resolve("verbena.abi/target/native");

    private CLibraries() {}

    /// Skips the test where they were not built.
    public static void need() {
        assumeTrue(Files.exists(FOLDER.resolve("librdmacm.so.1")), "the libraries for C were not built");
    }

    /// Skips the test where this host does not have a program.
    static void need(String program) {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(":", -1))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, program))),
                program + " is not installed");
    }

    /// Compiles a program, or skips the test where that cannot be.
    public static void compile(Path source, Path output, String level) throws Exception {
        need("cc");
        assumeTrue(Files.exists(Path.of("/usr/include/infiniband/verbs.h")), "no headers (Debian: libibverbs-dev)");
        Process compiler = new ProcessBuilder(
                        "cc", "-g", level, "-o", output.toString(), source.toString(), "-libverbs")
                .redirectErrorStream(true)
                .start();
        String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(compiler.waitFor()).as(said).isZero();
    }

    /// Returns what the environment of a program names, as `verbena run` does it.
    public static Map<String, String> environment() {
        String modules = Stream.of(
                        "verbs",
                        "foreign",
                        "provider",
                        "wire",
                        "transport",
                        "cm",
                        "subnet",
                        "nic",
                        "ibverbs",
                        "stream",
                        "abi",
                        "check")
                .map(room -> Cli.root().resolve("verbena." + room + "/target/classes"))
                .map(Path::toString)
                .collect(Collectors.joining(":"));
        return Map.of(
                "LD_LIBRARY_PATH",
                FOLDER.toString(),
                "VERBENA_JVM",
                System.getProperty("java.home") + "/lib/server/libjvm.so",
                "VERBENA_MODULES",
                modules,
                "VERBENA_JVM_OPTIONS",
                "-Xshare:auto -XX:TieredStopAtLevel=1");
    }
}
