package verbena.tools.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;
import verbena.tools.kit.JavaCommand;

/// `verbena top` and `verbena capture` look into another process.
@Timeout(120)
class ObserveTest {
    @TempDir
    private Path folder;

    /// A server of rping, in a process of its own, which waits for clients.
    private static final class Server implements AutoCloseable {
        private final Process process;
        final String port;

        /// @param before what starts it
        Server(String... before) throws IOException {
            var command = new ArrayList<>(List.of(before));
            command.addAll(JavaCommand.again());
            command.addAll(List.of(
                    "rping", "-s", "-P", "--device", "rocev2@127.0.0.1", "-p", "0", "-a", "127.0.0.1", "-S", "2000"));
            process = new ProcessBuilder(command).start();
            var said = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
            String line = said.readLine(); // waits for a client on 127.0.0.1 port N; there: ...
            assertThat(line).contains(" port ");
            port = line.replaceFirst("^.* port (\\d+);.*$", "$1");
        }

        long pid() {
            return process.pid();
        }

        void ping() {
            Cli client = Cli.run("rping", "-c", "-a", "127.0.0.1", "-p", port, "-C", "3", "-S", "2000");
            assertThat(client.status()).as(client.err()).isZero();
        }

        @Override
        public void close() {
            process.destroy();
            process.onExit().join();
        }
    }

    private static void assumeThreadsCanBeSeen() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/task")), "no /proc: processes have to be named");
    }

    @Test
    void topShowsAProcessItsDeviceAndWhatItHasCounted() throws Exception {
        assumeThreadsCanBeSeen();
        try (var server = new Server()) {
            server.ping();
            assertThat(Processes.find()).contains(server.pid());
            String pid = Long.toString(server.pid());

            JsonNode device = device(pid);
            while (device == null) { // it shows its devices a second after it has started
                device = device(pid);
            }
            assertThat(device.get("transport").asText()).isEqualTo("INFINIBAND");
            assertThat(device.get("state").asText()).isEqualTo("ACTIVE");
            assertThat(device.get("counters").get("received.packets").asLong()).isGreaterThan(10);

            Cli table = Cli.run("top", "--once", "--interval", "0.1", "--pid", pid);
            assertThat(table.status()).isZero();
            assertThat(table.out())
                    .contains("1 process, 1 device")
                    .contains("Verbena rping -s -P")
                    .containsPattern(pid + " rocev2\\S* +ACTIVE");
        }
    }

    /// The JDK's connector listens at loopback, which each network namespace has for itself.
    @Test
    void aProcessOfAnotherNetworkNamespaceIsSaidToBeThere() throws Exception {
        assumeThreadsCanBeSeen();
        assumeTrue(new ProcessBuilder("unshare", "--net", "true").start().waitFor() == 0, "no right to a namespace");
        try (var server = new Server("unshare", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh")) {
            Cli look = Cli.run("top", "--once", "--interval", "0.1", "--pid", Long.toString(server.pid()));
            assertThat(look.status()).isNotZero();
            assertThat(look.err())
                    .contains("it is in another network namespace")
                    .hasLineCount(1);
        }
    }

    private static JsonNode device(String pid) throws IOException {
        Cli look = Cli.run("top", "--json", "--once", "--pid", pid);
        assertThat(look.err()).isEmpty();
        JsonNode devices = new ObjectMapper().readTree(look.out()).at("/processes/0/devices");
        return devices.isMissingNode() ? null : devices.get(0);
    }

    @Test
    void captureWritesWhatTheProcessSendsAndReceives() throws Exception {
        assumeThreadsCanBeSeen();
        Path file = folder.resolve("server.pcapng");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var server = new Server()) { // ends first, and with it the capture
            var capture = threads.submit(
                    () -> Cli.run("capture", "--pid", Long.toString(server.pid()), "--packets", "20", file.toString()));
            while (!capture.isDone()) {
                server.ping();
            }
            assertThat(capture.get().status()).isZero();
            assertThat(capture.get().err()).contains("capturing rocev2").contains("20 packets, ");

            if (Files.exists(Path.of("/dev/full"))) { // Linux's disk without room
                Cli full = Cli.run("capture", "--pid", Long.toString(server.pid()), "/dev/full");
                assertThat(full.status()).isEqualTo(1);
                assertThat(full.err().lines().skip(1))
                        .containsExactly("verbena capture: cannot write /dev/full: No space left on device");
            }
        }
        Cli decoded = Cli.run("decode", "--strict", file.toString());
        assertThat(decoded.status()).isZero();
        assertThat(decoded.outLines().getLast()).startsWith("20 packets read, 20 shown");
    }

    @Test
    void captureCanKeepTheHeadersOnly() throws Exception {
        assumeThreadsCanBeSeen();
        Path file = folder.resolve("headers.pcapng");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var server = new Server()) {
            var capture = threads.submit(() ->
                    Cli.run("capture", "--pid", Long.toString(server.pid()), "-n", "40", "-s", "64", file.toString()));
            while (!capture.isDone()) {
                server.ping();
            }
            assertThat(capture.get().status()).isZero();
        }
        assertThat(Files.size(file)).isLessThan(40 * 256);
        assertThat(Cli.run("decode", "--strict", file.toString()).outLines().getLast())
                .startsWith("40 packets read, 40 shown");
    }

    @Test
    void aProcessThatIsNotThereIsTold() {
        Cli top = Cli.run("top", "--once", "--pid", "4194304");
        assertThat(top.status()).isEqualTo(1);
        assertThat(top.error()).startsWith("verbena top: cannot attach to process 4194304: ");

        Cli capture = Cli.run("capture", "--pid", "4194304", folder.resolve("x").toString());
        assertThat(capture.status()).isEqualTo(1);
        assertThat(capture.error()).startsWith("verbena capture: cannot attach to process 4194304: ");
    }

    @Test
    void wrongUsageIsTold() {
        assertThat(Cli.run("top", "--interval", "0").error()).contains("--interval: 0.1 to 3600 s, got 0");
        assertThat(Cli.run("top", "--sort", "beauty").error())
                .contains("--sort: rate, retries, queue, errors, number, got 'beauty'");
        assertThat(Cli.run("capture", "--seconds", "0", "x").error()).contains("--seconds: more than 0, got 0");
        assertThat(Cli.run("capture", "-s", "63", "x").error()).contains("--packet-bytes: at least 64, got 63");
        assertThat(Cli.run("capture", "--max-size", "3", "x").error()).contains("--max-size: size: at least 64K");
    }
}
