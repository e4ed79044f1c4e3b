package verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.Background;
import verbena.tools.Cli;

/// Both ends of `perf`, in threads of the test, over loopback; what they say to each other, beside what two ends
/// of perftest 4.5 say; and ends that are no perftest.
@Timeout(180)
class PerfTwoEndsTest {
    private record Both(Cli server, Cli client) {
        String lastFigures() {
            return figures(client);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "write-bw -s 9000",
                "write-bw -b -s 9000",
                "write-bw -a -n 5 -s 8",
                "write-bw -q 3 -s 64 -n 200",
                "write-bw -l 4 -s 64 -n 40",
                "write-bw -c UC -s 512",
                "write-bw -s 64 -I 64 -n 200",
                "write-bw --perform_warm_up",
                "write-bw -R -q 2",
                "write-bw -R -d iwarp",
                "send-bw -R -d iwarp -r 3 -s 100",
                "send-bw -R -d iwarp -b -q 2 -r 3 -s 100",
                "write-bw -z --report_gbits",
                "send-bw -s 9000",
                "send-bw -b -q 2 -s 100",
                "send-bw -e -s 100",
                "send-bw -c UD -s 100",
                "send-bw -c UD -R -b -s 100",
                "send-bw --use-srq -q 2 -s 100",
                "send-bw -r 4 -s 100",
                "send-bw --recv_post_list 2 -s 100",
                "write-imm-bw -s 9000",
                "write-imm-bw -e -b -s 100",
                "read-bw -o 1 -s 9000",
                "read-bw -b -e -s 9000",
                "atomic-bw",
                "atomic-bw -A CMP_AND_SWAP -q 2",
                "write-bw --dont_xchg_versions"
            })
    void bandwidthsAreMeasured(String command) throws Exception {
        Both both = measure(command, 20);

        assertThat(both.lastFigures()).matches(" \\d+ +\\d+ +[\\d.]+ +[\\d.]+\\s+[\\d.]+ *");
        assertThat(figures(both.server)).matches(" \\d+ +\\d+ +[\\d.]+ +[\\d.]+\\s+[\\d.]+ *");
        assertThat(both.client.out()).contains("BW Test", " local address: LID 0000 QPN 0x");
        assertThat(both.server.out()).contains("* Waiting for client to connect... *");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "write-lat",
                "write-lat -s 5000 -m 1024",
                "write-lat -R",
                "write-lat -a -n 5",
                "send-lat -s 300",
                "send-lat -e",
                "send-lat -c UC",
                "send-lat -R -c UD",
                "write-imm-lat -e",
                "read-lat -e",
                "atomic-lat --latency_gap 10"
            })
    void latenciesAreMeasured(String command) throws Exception {
        Both both = measure(command, 20);

        assertThat(both.lastFigures()).matches(" \\d+ +\\d+(\\s+[\\d.]+){7}\\s*");
        assertThat(both.client.out()).contains("t_typical[usec]", "99.9% percentile[usec]");
    }

    @Test
    void sizesRunFromTwoBytesToEightMebibytes() throws Exception {
        Both both = measure("read-bw -a --json", 5);

        JsonNode results = new ObjectMapper().readTree(both.client.out()).get("results");
        assertThat(results).hasSize(23);
        assertThat(results.get(0).get("size").asInt()).isEqualTo(2);
        assertThat(results.get(22).get("size").asInt()).isEqualTo(1 << 23);
        assertThat(results.get(22).get("bandwidthMBps").asDouble()).isPositive();
        assertThat(results.get(22).has("latencyUs")).isFalse();
    }

    @Test
    void latenciesAsJsonHavePercentilesAndNoBandwidth(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("out.json");
        Path page = folder.resolve("out.html");
        Both both = measure("write-lat --out_json_file " + json + " --report " + page, 50, "write-lat");

        JsonNode result = new ObjectMapper()
                .readTree(Files.readString(json))
                .get("results")
                .get(0);
        JsonNode latency = result.get("latencyUs");
        assertThat(result.get("iterations").asInt()).isEqualTo(50);
        assertThat(result.has("bandwidthMBps")).isFalse();
        assertThat(latency.get("min").asDouble()).isPositive();
        assertThat(latency.get("p50").asDouble())
                .isBetween(latency.get("min").asDouble(), latency.get("p99").asDouble());
        assertThat(latency.get("p999").asDouble())
                .isLessThanOrEqualTo(latency.get("max").asDouble());
        assertThat(Files.readString(page)).startsWith("<!DOCTYPE html>");
        assertThat(both.client.out()).contains("Latency Test");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "write-lat",
                "write-lat -a -n 5 --warm-up 0.02",
                "send-lat -n 700",
                "write-bw -b -s 64 -l 4 -n 40",
                "send-bw -b -s 100 -q 2 --recv_post_list 3 -n 60",
                "send-bw -R -d iwarp -s 100 -r 64",
                "read-lat",
                "send-lat -D 1 -f 0"
            })
    void bothEndsWarmUpAndMeasureAfterwards(String command) throws Exception {
        String seconds = command.contains("--warm-up") ? "" : " --warm-up 0.1";
        Both both = measure(command + seconds + " --json", command.contains(" -D ") ? 0 : 50);

        for (Cli end : command.contains("read") ? List.of(both.client) : List.of(both.client, both.server)) {
            JsonNode report = new ObjectMapper().readTree(end.out());
            assertThat(report.at("/facts/warm-up").textValue())
                    .as(end.err())
                    .matches("\\d.*were stable.*|\\d.*were not stable.*|as long as the client wanted");
            assertThat(report.get("results")).isNotEmpty();
            String words = report.at("/facts/90 % of the rate").asText();
            if (report.at("/facts/warm-up").textValue().startsWith("as long as")) {
                assertThat(words).as("an end that follows has no figures").isEmpty();
            } else {
                assertThat(words).matches("\\d+\\.\\d\\d s after the process began; .*");
            }
        }
    }

    @Test
    void whatIsMeasuredColdSaysSo() throws Exception {
        Both both = measure("send-lat --warm-up 0", 20);

        assertThat(both.client.err()).contains("warm-up: none, measured cold (--warm-up 0)");
        var server = Background.run("perf send-lat -n 20 --warm-up 0 -p 0");
        Cli client = Cli.run("perf", "send-lat", "-n", "20", "-p", Integer.toString(server.port()), "127.0.0.1");
        assertThat(client.err()).contains("warm-up: none, measured cold: the peer is not ready to warm up");
        assertThat(server.result().status()).isZero();
        Both lossy = measure("send-bw -c UD -s 100 --warm-up 0.1", 20);
        assertThat(lossy.client.err()).contains("measured cold: its messages could get lost");
    }

    @Test
    void allTimesSortedAndInCycles() throws Exception {
        Both both = measure("read-lat -H -C", 10, "read-lat");

        List<String> lines = both.client.outLines();
        int at = lines.indexOf("#, cycles");
        double before = 0;
        for (int i = 1; i <= 9; i++) {
            String[] line = lines.get(at + i).split(", ", -1);
            assertThat(line[0]).isEqualTo(Integer.toString(i));
            assertThat(Double.parseDouble(line[1])).isGreaterThanOrEqualTo(before);
            before = Double.parseDouble(line[1]);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write-bw -s 64", "write-bw -s 64 -q 16 -Q 7", "send-bw -b -s 64", "write-lat", "send-lat"})
    void aRunCanHaveADuration(String command) throws Exception {
        Both both = measure(command + " -D 1 -f 0", 0);

        String[] figures = both.lastFigures().strip().split("\\s+", -1);
        assertThat(Long.parseLong(figures[1])).as(both.lastFigures()).isPositive();
    }

    @Test
    void aDurationHasPercentilesAsJson() throws Exception {
        Both both = measure("read-lat -D 1 -f 0 --json", 0);

        JsonNode result =
                new ObjectMapper().readTree(both.client.out()).get("results").get(0);
        assertThat(result.get("iterations").asInt()).isPositive();
        assertThat(result.get("latencyUs").get("p50").asDouble()).isPositive();
    }

    @Test
    void oneFigureAlone() throws Exception {
        assertThat(measure("write-bw --output=message_rate", 20).client.out()).matches("\\d+\\.\\d{6}\\R");
        assertThat(measure("read-lat --output=latency", 20).client.out()).matches("\\d+\\.\\d{6}\\R");
    }

    @Test
    void aLimitThatIsNotReachedFails() throws Exception {
        Both both = measure("write-bw -w 100000000", 20, "write-bw");

        assertThat(both.client.status()).isEqualTo(1);
        assertThat(both.client.err()).contains("below the limit");
        assertThat(both.server.status()).isZero();
    }

    @Test
    void anInterruptedRunTellsWhatItHasMeasured() throws Exception {
        var server = Background.run("perf write-bw -p 0 -s 64");
        var client = Background.run(
                "perf write-bw -s 64 -D 1 --run_infinitely --warm-up 0 -p " + server.port() + " 127.0.0.1");
        awaitOutput(client, "\n 64 ");

        client.interrupt();

        assertThat(client.result().status()).isEqualTo(1);
        assertThat(client.result().err()).endsWith("verbena perf write-bw: interrupted\n");
        assertThat(figures(client.result())).startsWith(" 64 ");
        assertThat(server.result().status()).isZero();
        assertThat(figures(server.result())).startsWith(" 64 ");
    }

    @Test
    void anInterruptedServerThatWaitsEnds() throws Exception {
        for (String how : List.of("", " -R")) {
            var server = Background.run("perf write-bw -p 0 --source_ip 127.0.0.1" + how);
            assertThat(server.port()).isPositive();

            server.interrupt();

            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().err()).endsWith("verbena perf write-bw: interrupted\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " -R", " -R -d rocev2", " -R -d iwarp"})
    void theOtherEndCanComeWithIt(String how) {
        Cli cli =
                Cli.run(("perf send-bw --loopback --warm-up 0.1 -n 20 -s 1K -q 2 --report_gbits" + how).split(" ", -1));

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(figures(cli)).startsWith(" 1024 ");
    }

    private static void awaitOutput(Background program, String text) {
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (!program.out().toString().contains(text)) {
            assertThat(System.nanoTime()).as(program.out().toString()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    // ---- what is said

    @ParameterizedTest
    @CsvSource({
        "write-bw, write-bw -n 5",
        "write-bw_bidirectional, write-bw -n 5 -b",
        "send-bw, send-bw -n 5 -q 2",
        "send-lat, send-lat -n 5",
        "read-lat, read-lat -n 5",
        "write-lat, write-lat -n 5"
    })
    void theEndsSayWhatTwoEndsOfPerftestSay(String recorded, String command) throws Exception {
        var server = Background.run("perf " + command + " --warm-up 0 -p 0");
        try (var wire = new Wire(server.port())) {
            Cli client = Cli.run(("perf " + command + " --warm-up 0 -p " + wire.port() + " 127.0.0.1").split(" ", -1));

            assertThat(client.status()).as(client.err()).isZero();
            assertThat(server.result().status()).isZero();
            List<String> said = Files.readAllLines(resource(recorded));
            assertThat(masked(split(wire.fromClient(), said, "client")))
                    .isEqualTo(masked(said.stream()
                            .filter(line -> line.startsWith("client "))
                            .toList()));
            assertThat(masked(split(wire.fromServer(), said, "server")))
                    .isEqualTo(masked(said.stream()
                            .filter(line -> line.startsWith("server "))
                            .toList()));
        }
    }

    private static Path resource(String name) {
        return Cli.root()
                .resolve("verbena.tools/src/test/resources/verbena/tools/perf")
                .resolve(name + ".txt");
    }

    /// Cuts what one end said into messages as long as the recorded ones, and writes them in the same way.
    private static List<String> split(byte[] bytes, List<String> recorded, String who) {
        var lines = new ArrayList<String>();
        int at = 0;
        for (String line : recorded) {
            if (!line.startsWith(who + " ")) {
                continue;
            }
            if (lines.size() == 1) {
                at += 96; // the options, which two of ours compare after their versions
            }
            String message = line.substring(who.length() + 1);
            boolean isText = message.contains(":");
            int length = isText ? message.length() + 1 : message.length() / 2;
            int end = Math.min(at + length, bytes.length);
            lines.add(who + " "
                    + (isText
                            ? new String(bytes, at, Math.max(0, end - at - 1), StandardCharsets.US_ASCII)
                            : HexFormat.of().formatHex(bytes, at, end)));
            at = end;
        }
        assertThat(bytes.length - at).as("bytes more than recorded").isZero();
        return lines;
    }

    /// What differs from run to run: numbers of queue pairs, PSNs, keys, addresses, GIDs, and what was measured.
    /// (What a server of C reports that has measured nothing is whatever its stack held.)
    private static List<String> masked(List<String> lines) {
        return lines.stream()
                .map(line -> line.replaceFirst(
                        "(\\w+ \\p{XDigit}{4}:\\p{XDigit}{4}):\\p{XDigit}{6}:\\p{XDigit}{6}:\\p{XDigit}{8}:"
                                + "\\p{XDigit}{16}:(\\p{XDigit}{2}:){16}(\\p{XDigit}{8}:)",
                        "$1:qpn:psn:rkey:address:gid:$3"))
                .map(line -> line.replaceFirst("^(\\w+ 362e303600)\\p{XDigit}{22}$", "$1 and what is behind it"))
                .map(line -> line.replaceFirst("^server \\p{XDigit}{16}$", "server figure"))
                .map(line -> line.replaceFirst("^client ([34]\\p{XDigit}{15}|0{16})$", "client figure"))
                .toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    write-bw         | write-lat         | here write-lat -s 2 -n 1000, at the peer write-bw
                    write-bw -q 2    | write-bw -q 4     | here -q 4, at the peer -q 2
                    write-bw         | write-bw -a       | here -a, at the peer nothing like it
                    write-bw -b -R   | write-bw -R       | here nothing like it, at the peer -s 65536 -n 5000 -b
                    send-bw          | send-bw -n 100    | here -n 100, at the peer -n 1000
                    send-bw -s 100   | send-bw -s 1000   | here -s 1000, at the peer -s 100
                    send-lat -c UC   | send-lat -D 1     | here -c RC -D 1, at the peer -c UC -n 1000
                    """)
    void endsWithDifferentOptionsAreToldWhich(String serve, String connect, String words) throws Exception {
        var server = Background.run("perf " + serve + " -p 0");
        Cli client = Cli.run(("perf " + connect + " -p " + server.port() + " 127.0.0.1").split(" ", -1));

        assertThat(client.status()).isEqualTo(1);
        assertThat(client.error()).endsWith("the ends have different options: " + words);
        assertThat(server.result().status()).isEqualTo(1);
        assertThat(server.result().err()).contains("the ends have different options: here ");
    }

    @Test
    void iwarpConnectsByAddressOnly() throws Exception {
        var server = Background.run("perf write-bw -d iwarp -p 0");
        Cli client = Cli.run("perf", "write-bw", "-d", "iwarp", "-p", Integer.toString(server.port()), "127.0.0.1");

        assertThat(client.status()).isEqualTo(1);
        assertThat(client.error()).contains("give -R at both ends");
        assertThat(server.result().status()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"send-lat", "send-lat -R", "write-lat", "send-lat -e"})
    void anEndNoticesThatTheOtherIsGone(String command) throws Exception {
        var server = Background.run("perf " + command + " -n 1000000 --timeout 50 -p 0");
        var client = Background.run("perf " + command + " -n 1000000 -p " + server.port() + " 127.0.0.1");
        awaitOutput(client, "#bytes");

        client.interrupt();

        assertThat(client.result().status()).isEqualTo(1);
        assertThat(server.result().status()).isEqualTo(1);
        assertThat(server.result().err()).contains("verbena perf ").doesNotContain("nothing happened");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    5.60                             | says it is perftest "5.60"; 5.70 and later are understood
                    HTTP/1.1 400 Bad                 | says it is perftest "HTTP/1.1 400 Bad"
                    short                            | gave up: it closed the TCP connection after 5 of 16 bytes
                    """)
    void aServerThatIsNoPerftest(String words, String error) throws Exception {
        try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var talker = CompletableFuture.runAsync(() -> talk(listener, words));
            Cli cli = Cli.run("perf", "write-bw", "-p", Integer.toString(listener.getLocalPort()), "127.0.0.1");

            assertThat(cli.status()).isEqualTo(1);
            assertThat(cli.error()).contains(error);
            talker.get(10, TimeUnit.SECONDS);
        }
    }

    private static void talk(ServerSocket listener, String words) {
        try (Socket socket = listener.accept()) {
            byte[] text = words.getBytes(StandardCharsets.US_ASCII);
            byte[] message = words.equals("short") ? text : Arrays.copyOf(text, 16);
            socket.getInputStream().readNBytes(16);
            socket.getOutputStream().write(message);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Both measure(String command, int iterations) throws Exception {
        return measure(command, iterations, command);
    }

    private static Both measure(String command, int iterations, String atServer) throws Exception {
        boolean counts = iterations > 0 && !command.contains(" -n ");
        String n = counts ? " -n " + iterations : "";
        String warmUp = command.contains("--warm-up") ? "" : " --warm-up 0";
        var server = Background.run("perf " + atServer + n + warmUp + " -p 0 --source_ip 127.0.0.1");
        Cli client = Cli.run(("perf " + command + n + warmUp + " -p " + server.port() + " 127.0.0.1").split(" ", -1));
        if (!command.contains("-w ")) {
            assertThat(client.status()).as(client.err()).isZero();
        }
        assertThat(server.result().status()).as(server.result().err()).isZero();
        return new Both(server.result(), client);
    }

    /// The last line that begins with a number.
    private static String figures(Cli cli) {
        return cli.outLines().stream()
                .filter(line -> line.matches(" \\d+ +\\d+ .*"))
                .reduce((_, last) -> last)
                .orElseThrow(() -> new AssertionError("no figures in:\n" + cli.out()));
    }

    /// A TCP connection that is listened in on.
    private static final class Wire implements AutoCloseable {
        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final CompletableFuture<byte[]> fromClient = new CompletableFuture<>();
        private final CompletableFuture<byte[]> fromServer = new CompletableFuture<>();

        Wire(int server) throws IOException {
            Thread.ofVirtual().start(() -> {
                try {
                    Socket client = listener.accept();
                    Socket there = new Socket(InetAddress.getLoopbackAddress(), server);
                    Thread.ofVirtual().start(() -> copy(client, there, fromClient));
                    copy(there, client, fromServer);
                } catch (IOException e) {
                    fromServer.completeExceptionally(e);
                }
            });
        }

        int port() {
            return listener.getLocalPort();
        }

        byte[] fromClient() throws Exception {
            return fromClient.get(10, TimeUnit.SECONDS);
        }

        byte[] fromServer() throws Exception {
            return fromServer.get(10, TimeUnit.SECONDS);
        }

        private static void copy(Socket from, Socket to, CompletableFuture<byte[]> heard) {
            var all = new ByteArrayOutputStream();
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                byte[] buffer = new byte[4096];
                for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                    all.write(buffer, 0, n);
                    out.write(buffer, 0, n);
                }
                to.shutdownOutput();
            } catch (IOException _) {
                // It has ended otherwise.
            }
            heard.complete(all.toByteArray());
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
