package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.tools.Cli;

/// Programs in C that are checked, in the environment that `verbena run --check=OPTIONS` makes for them.
@Timeout(300)
class CheckedProgramTest {
    private static final String PROGRAM = "ibv_rc_pingpong";
    private static final Path WRONG = Cli.root().resolve("verbena.abi/src/test/c/wrong.c");

    @TempDir
    private Path folder;

    private Process start(String options, Path output, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(PROGRAM, "-g", "0", "-n", "50"));
        command.addAll(List.of(arguments));
        return start(options, output, command);
    }

    private static Process start(String options, Path output, List<String> command) throws IOException {
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        var environment = builder.environment();
        environment.putAll(CLibraries.environment());
        environment.put("LD_PRELOAD", "libverbena-files.so");
        environment.put("VERBENA_DEVICES", "rocev2_lo");
        environment.put("VERBENA_CHECK", options);
        return builder.start();
    }

    @Test
    void findingsArePrintedAtTheEndAndTheStatusStaysTheProgramsOwn() throws Exception {
        CLibraries.need();
        CLibraries.need(PROGRAM);
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

    /// Runs a program of `wrong.c`, which ends by itself.
    ///
    /// @param level of optimization: without, verbs that are inline in the header have frames of their own
    private String runWrong(String name, String options, String level) throws Exception {
        Path compiled = folder.resolve("wrong" + level);
        if (!Files.exists(compiled)) {
            CLibraries.compile(WRONG, compiled, level);
        }
        Path output = folder.resolve(name + ".txt");
        Process running = start(options, output, List.of(compiled.toString(), name));
        assertThat(running.waitFor()).as(Files.readString(output)).isZero();
        return Files.readString(output);
    }

    /// Returns how a finding names the line of `wrong.c` with a comment.
    private static String line(String comment, String function, String level) throws IOException {
        List<String> lines = Files.readAllLines(WRONG);
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).endsWith("/* " + comment + " */")) {
                return "wrong" + level + "." + function + "(wrong.c:" + (i + 1) + ")";
            }
        }
        throw new AssertionError(comment);
    }

    /// One of them is drawn (`-Dverbena.draw=N`); both with `-Dverbena.deep=true`.
    private static Stream<String> levels() {
        List<String> both = List.of("-O0", "-O2");
        int drawn = Integer.getInteger("verbena.draw", 0) % both.size();
        return Boolean.getBoolean("verbena.deep") ? both.stream() : Stream.of(both.get(drawn));
    }

    @ParameterizedTest
    @MethodSource("levels")
    void placesInProgramsInCHaveTheirLines(String level) throws Exception {
        CLibraries.need();
        CLibraries.need("addr2line");

        String costs = "without=V-ONE-BY-ONE+V-NOT-INLINE+V-ALL-SIGNALED+V-RIGHT-UNUSED,quiet";
        assertThat(runWrong("sound", costs + ",log=" + folder.resolve("sound.log"), level))
                .isEmpty();
        for (var each : Map.of(
                        "changed", "V-SEND-CHANGED error",
                        "unfenced", "V-READ-UNFENCED error",
                        "cleared", "V-TARGET-WRITTEN error",
                        "stuck", "V-QUEUE-STUCK error")
                .entrySet()) {
            assertThat(runWrong(each.getKey(), costs, level))
                    .contains(each.getValue(), line("place of post", "post", level));
        }
        assertThat(runWrong("shared", costs, level))
                .contains("V-TARGET-SHARED luck", line("place of receive", "receive", level));
        assertThat(runWrong("echoed", costs, level))
                .contains("V-SEND-OVERLAP luck", line("place of receive", "receive", level));
        assertThat(runWrong("closed", costs, level))
                .contains("V-KEY-CLOSED error", line("place of closed", "closed", level));
        assertThat(runWrong("small", costs, level))
                .contains("V-QUEUE-SMALL luck", line("place of small", "small", level));
        assertThat(runWrong("leaked", costs, level)).contains("V-LEAK cost", line("place of leaked", "leaked", level));
    }
}
