package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nio.programs.Crowd;
import verbena.nio.programs.EarlyEnd;
import verbena.nio.programs.FirstConnection;
import verbena.nio.programs.HttpEcho;
import verbena.nio.programs.NettyEcho;

/// Programs that know nothing of Verbena, in JVMs of their own with the agent and without.
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class ProgramsTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final int BYTES = 2_000_000;
    /// Of one end of a connection that is idle, with what the collector has not found yet.
    private static final int HEAP_BYTES_MAX = 15_500;

    /// The same while it goes by TCP.
    private static final int IDLE_HEAP_BYTES_MAX = 8_000;
    /// The same for a connection that has moved and gone back.
    private static final int GONE_BACK_HEAP_BYTES_MAX = 5_000;

    /// Of ours, for the first connection of a process at both ends, with a selector too.
    private static final int CLASSES_MAX = 48;

    @TempDir
    Path folder;

    /// The transport with which connections begin.
    private String begin = "rdma";

    /// Of both ends, when it is not to be the nearest.
    private Optional<String> device = Optional.empty();

    @ParameterizedTest
    @CsvSource({"Netty, true, true", "HTTP, true, true", "Netty, true, false", "HTTP, false, true"})
    void anEchoGoesByRdmaWhereBothEndsHaveTheAgentAndElseByTcp(
            String program, boolean serverHasAgent, boolean clientHasAgent) throws Exception {
        echo(program.equals("Netty") ? NettyEcho.class : HttpEcho.class, serverHasAgent, clientHasAgent);
        boolean byRdma = serverHasAgent && clientHasAgent;
        if (serverHasAgent) {
            check("server", byRdma);
        }
        if (clientHasAgent) {
            check("client", byRdma);
        }
    }

    /// Over a network that loses all packets there is no connection by RDMA: so it is this device that is used. That it
    /// carries the bytes when it loses some is the deep run's.
    @ParameterizedTest
    @CsvSource({"1%, true", "100%, false"})
    void theDeviceThatIsNamedCarriesTheBytes(String loss, boolean byRdma) throws Exception {
        assumeTrue(DEEP || !byRdma, "deep");
        device = Optional.of("rocev2@127.0.0.1,faults=loss:" + loss);
        echo(NettyEcho.class, true, true);
        check("server", byRdma);
        check("client", byRdma);
    }

    /// Such a device has ports of its own, which no program sees. By default each program and each kind of peer has its
    /// turn, and with `-Dverbena.deep=true` each pair of them.
    @ParameterizedTest
    @CsvSource({"Netty, true, true", "HTTP, true, true", "Netty, true, false", "HTTP, false, true"})
    void anEchoGoesByIwarpWhereBothEndsHaveTheAgentAndElseByTcp(
            String program, boolean serverHasAgent, boolean clientHasAgent) throws Exception {
        assumeTrue(DEEP || program.equals("Netty") != clientHasAgent, "deep");
        device = Optional.of("iwarp@127.0.0.1");
        anEchoGoesByRdmaWhereBothEndsHaveTheAgentAndElseByTcp(program, serverHasAgent, clientHasAgent);
    }

    @Test
    void aListenerThatCannotBeAtTheDeviceThatIsNamedListensByTcpAndSaysSo() throws Exception {
        String elsewhere = "rocev2@127.0.0.2";
        device = Optional.of(elsewhere);
        echo(NettyEcho.class, true, false);
        assertThat(count(Files.readString(folder.resolve("server.summary")), "tcp-in"))
                .isGreaterThanOrEqualTo(BYTES);
        assertThat(Files.readString(folder.resolve("server.err"))).contains("listens for TCP only", elsewhere);
    }

    private void echo(Class<?> main, boolean serverHasAgent, boolean clientHasAgent) throws Exception {
        Process server = start(main, serverHasAgent, "server");
        try (var answers = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))) {
            String port = answers.readLine();
            assertThat(port).as(errors("server")).matches("\\d+");
            Process client = start(main, clientHasAgent, "client", port, Integer.toString(BYTES));
            try (var said = client.getInputStream()) {
                assertThat(new String(said.readAllBytes(), StandardCharsets.UTF_8))
                        .as(errors("client"))
                        .isEqualToIgnoringNewLines("same");
                assertThat(client.waitFor()).isZero();
            } finally {
                client.destroyForcibly();
            }
            server.getOutputStream().close();
            assertThat(server.waitFor()).as(errors("server")).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void aPeerThatIsKilledWakesTheSelectorAndEndsTheConnection() throws Exception {
        var provider = new RdmaSelectorProvider();
        Process server = start(NettyEcho.class, true, "server");
        try (var answers = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
                SocketChannel client = provider.openSocketChannel();
                Selector selector = provider.openSelector()) {
            int port = Integer.parseInt(answers.readLine());
            client.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
            assertThat(client.toString()).doesNotContain("TCP");
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, SelectionKey.OP_READ);
            assertThat(selector.selectNow()).isZero();
            server.destroyForcibly();
            Providers.awaitReady(selector, key, SelectionKey.OP_READ);
            assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1)))
                    .isInstanceOf(SocketException.class)
                    .hasMessageStartingWith("Connection "); // reset, or timed out: nothing has answered
        } finally {
            server.destroyForcibly();
        }
    }

    /// A server that knows nothing of it, and a client that talks to it until both have moved.
    @Test
    void anEchoThatBeginsByTcpGoesOnByRdma() throws Exception {
        begin = "tcp";
        var provider = new RdmaSelectorProvider(Pace.ofMillis(0, 0));
        Process server = start(NettyEcho.class, List.of("-Dverbena.nio.after=0"), true, "server", "server");
        try (var answers = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
                SocketChannel client = provider.openSocketChannel()) {
            int port = Integer.parseInt(answers.readLine());
            client.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
            while (!client.toString().contains("begun by TCP, ")) {
                echo(client, 1_000);
            }
            for (int i = 0; i < BYTES / 1_000; i++) {
                echo(client, 1_000);
            }
            client.shutdownOutput();
            server.getOutputStream().close();
            assertThat(server.waitFor()).as(errors("server")).isZero();
            String summary = Files.readString(folder.resolve("server.summary"));
            assertThat(count(summary, "rdma-in")).as(summary).isGreaterThan(BYTES / 2); // each direction by itself
            assertThat(count(summary, "rdma-out")).as(summary).isGreaterThan(BYTES / 2);
        } finally {
            server.destroyForcibly();
        }
    }

    private static void echo(SocketChannel through, int bytes) throws IOException {
        ByteBuffer data = Providers.pattern(bytes, 1);
        through.write(data.duplicate());
        assertThat(Providers.readFully(through, bytes)).isEqualTo(data);
    }

    /// A class from the agent's jar takes a process about a millisecond, and a first lambda more than that. So a short
    /// connection loads few classes of ours, none of the devices' and no lambda.
    @ParameterizedTest
    @ValueSource(strings = {"waiting", "selecting"})
    void aFirstShortConnectionLoadsFewClassesAndNoLambda(String how) throws Exception {
        begin = "tcp";
        Path log = folder.resolve("loaded");
        Process process = start(
                FirstConnection.class,
                List.of("-Xlog:class+load:file=" + log + ":none"),
                true,
                "first",
                List.of(),
                how);
        try {
            assertThat(process.waitFor()).as(errors("first")).isZero();
            List<String> loaded = Files.readAllLines(log);
            String main = FirstConnection.class.getName();
            int begun = loaded.indexOf(loaded.stream()
                    .filter(each -> each.startsWith(main + " "))
                    .findFirst()
                    .orElseThrow());
            List<String> ours = loaded.subList(begun + 1, loaded.size()).stream()
                    .filter(each -> each.startsWith("verbena."))
                    .toList();
            assertThat(ours)
                    .hasSizeBetween(1, CLASSES_MAX)
                    .noneMatch(each -> each.contains("$$Lambda"))
                    .noneMatch(each -> each.startsWith("verbena.nic."));
        } finally {
            process.destroyForcibly();
        }
    }

    /// A connection that is not busy costs what it costs without the agent.
    @Test
    void idleConnectionsKeepTcpAndASmallHeap() throws Exception {
        begin = "tcp";
        Process crowd = start(Crowd.class, List.of("-Xmx32m"), true, "crowd", "400");
        try (var said = crowd.getInputStream()) {
            String line = new String(said.readAllBytes(), StandardCharsets.UTF_8).strip();
            assertThat(line).as(errors("crowd")).matches("\\d+ \\d+ \\d+ \\d+");
            assertThat(Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1)))
                    .as(line)
                    .isLessThan(IDLE_HEAP_BYTES_MAX);
            assertThat(crowd.waitFor()).isZero();
            assertThat(Files.readString(folder.resolve("crowd.summary"))).contains("rdma-connections=0 ");
        } finally {
            crowd.destroyForcibly();
        }
    }

    /// A connection that has moved to RDMA goes back when it is idle.
    @Test
    void idleConnectionsGoBackToTcpAndASmallHeap() throws Exception {
        begin = "tcp";
        List<String> options = List.of("-Xmx64m", "-Dverbena.nio.after=0", "-Dverbena.nio.idle=200");
        Process crowd = start(Crowd.class, options, true, "crowd", "200", "" + GONE_BACK_HEAP_BYTES_MAX);
        try (var said = crowd.getInputStream()) {
            String line = new String(said.readAllBytes(), StandardCharsets.UTF_8).strip();
            assertThat(line).as(errors("crowd")).matches("\\d+ \\d+ \\d+ \\d+");
            assertThat(Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1)))
                    .as(line)
                    .isLessThan(GONE_BACK_HEAP_BYTES_MAX);
            assertThat(crowd.waitFor()).isZero();
        } finally {
            crowd.destroyForcibly();
        }
    }

    /// Receives that hold no data cost nothing while they wait, and a ring has as many slots as were in use at
    /// once.
    @Test
    void fourHundredConnectionsFitASmallHeapAndLeaveNoDescriptorBehind() throws Exception {
        Process crowd = start(Crowd.class, List.of("-Xmx64m"), true, "crowd", "400");
        try (var said = crowd.getInputStream()) {
            String line = new String(said.readAllBytes(), StandardCharsets.UTF_8).strip();
            assertThat(line).as(errors("crowd")).matches("\\d+ \\d+ \\d+ \\d+");
            List<Integer> figures =
                    Stream.of(line.split(" ")).map(Integer::valueOf).toList();
            assertThat(figures.get(1)).as("by RDMA: %s", line).isGreaterThan(figures.get(0) + 400);
            assertThat(figures.get(2))
                    .as("descriptors after closing: %s", line)
                    .isLessThanOrEqualTo(figures.get(0) + Crowd.OF_NEIGHBOURS);
            assertThat(figures.get(3)).as("bytes of heap: %s", line).isLessThan(HEAP_BYTES_MAX);
            assertThat(crowd.waitFor()).isZero();
            assertThat(errors("crowd")).doesNotContain("Exception", "Error");
        } finally {
            crowd.destroyForcibly();
        }
    }

    /// By a signal, or by another agent.
    @Test
    void aProcessThatEndsWhileItsAgentBeginsDoesNotCrash() throws Exception {
        String early = "-javaagent:" + AgentJar.ofProgram(folder, EarlyEnd.class);
        Process process = start(EarlyEnd.class, List.of(), true, "early", List.of(early));
        try {
            assertThat(process.waitFor()).as(errors("early")).isZero();
            assertThat(errors("early")).isEmpty();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void theSummaryIsPrintedWhereErrorsArePrinted() throws Exception {
        Process process = start(EarlyEnd.class, List.of("-Dverbena.nio.summary=stderr"), true, "said");
        try {
            assertThat(process.waitFor()).as(errors("said")).isZero();
            assertThat(errors("said"))
                    .isEqualToNormalizingNewlines(
                            "verbena.nio rdma-connections=0 rdma-in=0 rdma-out=0 tcp-connections=0 tcp-in=0 tcp-out=0\n");
        } finally {
            process.destroyForcibly();
        }
    }

    private void check(String role, boolean byRdma) throws IOException {
        String summary = Files.readString(folder.resolve(role + ".summary"));
        String here = byRdma ? "rdma" : "tcp";
        String elsewhere = byRdma ? "tcp" : "rdma";
        assertThat(count(summary, here + "-in")).as(summary).isGreaterThanOrEqualTo(BYTES);
        assertThat(count(summary, here + "-out")).as(summary).isGreaterThanOrEqualTo(BYTES);
        assertThat(count(summary, here + "-connections")).as(summary).isPositive();
        assertThat(count(summary, elsewhere + "-connections")).as(summary).isZero();
        // Netty warns where there is no interface but loopback.
        assertThat(Files.readString(folder.resolve(role + ".err"))).doesNotContainPattern(" verbena\\..*\\RWARNING");
    }

    private static long count(String summary, String name) {
        Matcher found = Pattern.compile(" " + name + "=(\\d+)").matcher(summary);
        assertThat(found.find()).as(summary).isTrue();
        return Long.parseLong(found.group(1));
    }

    private Process start(Class<?> main, boolean hasAgent, String role, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(role));
        all.addAll(List.of(arguments));
        return start(main, List.of(), hasAgent, role, all.toArray(String[]::new));
    }

    private Process start(Class<?> main, List<String> options, boolean hasAgent, String role, String... arguments)
            throws IOException {
        return start(main, options, hasAgent, role, List.of(), arguments);
    }

    /// @param before options before the agent's
    private Process start(
            Class<?> main,
            List<String> options,
            boolean hasAgent,
            String role,
            List<String> before,
            String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(before);
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")); // short programs
        if (hasAgent) {
            command.add("-javaagent:" + AgentJar.make(folder));
            command.add("-Dverbena.nio.begin=" + begin);
            command.add("-Dverbena.nio.wait=2000"); // which way the bytes go, on a busy machine too
            command.add("-Dverbena.nio.summary=" + folder.resolve(role + ".summary"));
            device.ifPresent(name -> command.add("-Dverbena.nio.device=" + name));
        }
        command.addAll(options);
        command.addAll(List.of("-cp", AgentJar.programs(), main.getName()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command)
                .redirectError(folder.resolve(role + ".err").toFile());
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        return builder.start();
    }

    private String errors(String role) throws IOException {
        Path file = folder.resolve(role + ".err");
        return Files.exists(file) ? Files.readString(file) : "";
    }
}
