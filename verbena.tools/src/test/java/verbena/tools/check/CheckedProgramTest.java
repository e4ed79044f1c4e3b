package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;

/// Programs in C that are checked, in the environment that `verbena run --check=OPTIONS` makes for them.
@Timeout(120)
class CheckedProgramTest {
    private static final String PROGRAM = "ibv_rc_pingpong";
    private static final Path NATIVE = Cli.root().resolve("verbena.abi/target/native");
    private static final List<String> ROOMS = List.of(
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
            "check");

    @TempDir
    private Path folder;

    private Process start(String options, Path output, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(PROGRAM, "-g", "0", "-n", "50"));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        var environment = builder.environment();
        environment.put("LD_LIBRARY_PATH", NATIVE.toString());
        environment.put("LD_PRELOAD", "libverbena-files.so");
        environment.put("VERBENA_JVM", System.getProperty("java.home") + "/lib/server/libjvm.so");
        environment.put(
                "VERBENA_MODULES",
                ROOMS.stream()
                        .map(room -> Cli.root()
                                .resolve("verbena." + room + "/target/classes")
                                .toString())
                        .collect(Collectors.joining(":")));
        environment.put("VERBENA_JVM_OPTIONS", "-Xshare:auto -XX:TieredStopAtLevel=1");
        environment.put("VERBENA_DEVICES", "rocev2_lo");
        environment.put("VERBENA_CHECK", options);
        return builder.start();
    }

    @Test
    void findingsArePrintedAtTheEndAndTheStatusStaysTheProgramsOwn() throws Exception {
        assumeTrue(Files.exists(NATIVE.resolve("librdmacm.so.1")), "the libraries for C were not built");
        assumeTrue(
                Stream.of(System.getenv("PATH").split(":", -1))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, PROGRAM))),
                PROGRAM + " is not installed (Debian: ibverbs-utils)");
        String port;
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = Integer.toString(free.getLocalPort());
        }
        Path json = folder.resolve("found.json");
        Path log = folder.resolve("client.log");
        Path ofServer = folder.resolve("server.txt");
        Path ofClient = folder.resolve("client.txt");

        Process server = start("fail,json=" + json, ofServer, "-p", port);
        Process client = null;
        try {
            int status = 1;
            while (status != 0 && server.isAlive()) { // the server may not listen yet
                client = start("log=" + log, ofClient, "-p", port, "127.0.0.1");
                status = client.waitFor();
            }
            assertThat(server.waitFor()).as(Files.readString(ofServer)).isZero();
        } finally {
            server.destroyForcibly();
            if (client != null) {
                client.destroyForcibly();
            }
        }

        // Both directions use one buffer, in this program.
        for (Path each : List.of(ofServer, ofClient)) {
            assertThat(Files.readString(each)).contains("V-SEND-OVERLAP luck", "verbena.check: 0 errors, ");
        }
        assertThat(Files.readString(json)).contains("\"rule\":\"V-SEND-OVERLAP\"");
        assertThat(Files.readAllLines(log))
                .anyMatch(line -> line.startsWith("S\t"))
                .anyMatch(line -> line.startsWith("G\t"));
        assertThat(Cli.run("check", "merge", log.toString()).status()).isZero();
    }
}
