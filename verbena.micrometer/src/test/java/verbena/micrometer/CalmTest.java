package verbena.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.messages.RemoteWorker;
import verbena.messages.Worker;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;
import verbena.stream.StreamOptions;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Nothing normal raises an alert: peers that are closed, killed and started again leave all those counters alone
/// that `docs/observe.md` wants an alert for.
@Timeout(180)
class CalmTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int ROUNDS = 3;

    /// The counters for which the page wants an alert.
    private static Set<String> alerts() throws IOException {
        String page = Files.readString(Path.of(System.getProperty("verbena.root"), "docs", "observe.md"));
        String table = page.substring(page.indexOf("## What to alert on"), page.indexOf("## What not to alert on"));
        var names = new TreeSet<String>();
        var found = Pattern.compile("(?m)^\\| `(verbena\\.[a-z.]+)`").matcher(table);
        while (found.find()) {
            names.add(found.group(1));
        }
        return names;
    }

    private static Map<String, Double> values(SimpleMeterRegistry registry, Set<String> names) {
        var all = new TreeMap<String, Double>();
        for (Meter meter : registry.getMeters()) {
            if (names.contains(meter.getId().getName())) {
                for (Measurement each : meter.measure()) {
                    all.merge(meter.getId().toString(), each.getValue(), Double::sum);
                }
            }
        }
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm", "iwarp"})
    void peersThatCloseDieAndReturnRaiseNoAlarm(String kind) throws Exception {
        var registry = new SimpleMeterRegistry();
        try (var metrics = new VerbenaMetrics();
                Context device = Device.named(kind).open()) {
            metrics.bindTo(registry);
            Everything.use();
            Set<String> alerts = alerts();
            var before = values(registry, alerts);
            assertThat(before.keySet().stream().map(each -> each.replaceAll(".*name='([^']*)'.*", "$1")))
                    .containsAll(alerts);
            try (var worker = Worker.open(device)) {
                for (int round = 0; round < ROUNDS; round++) {
                    try (Peer peer = new Peer(kind)) {
                        meet(device, worker, peer, round % 2 == 0);
                    }
                }
            }
            var after = values(registry, alerts);
            before.forEach((name, value) -> assertThat(after.get(name)).as(name).isEqualTo(value));
        }
    }

    /// Talks to a peer by everything, and ends first, or sees the peer's process killed.
    private static void meet(Context device, Worker worker, Peer peer, boolean endsFirst) throws Exception {
        var options = ConnectionOptions.defaults().withDevice(device);
        try (Connection connection = Connection.connect(peer.address(0), options);
                StreamChannel stream = StreamChannel.connect(
                        peer.address(1), StreamOptions.defaults().withDevice(device));
                RemoteWorker remote = worker.connect(peer.address(2))) {
            connection.send("one");
            assertThat(connection.receiveText(100)).isEqualTo("one");
            stream.write(ByteBuffer.wrap(Everything.BYTES));
            Everything.readAll(stream, Everything.BYTES.length);
            assertThat(remote.call("two", LIMIT)).isEqualTo("two");
            if (!endsFirst) {
                peer.kill();
                assertThatThrownBy(() -> connection.send("late")).isInstanceOf(ConnectionException.class);
            }
        }
    }

    /// A process that answers by everything, until its input ends.
    private static final class Peer implements AutoCloseable {
        private final Process process;
        private final List<InetSocketAddress> addresses;

        Peer(String kind) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Answering.class.getName(),
                            kind)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
            String[] words = said.readLine().split(" ");
            addresses = Arrays.stream(words)
                    .skip(1)
                    .map(port -> InetSocketAddress.createUnresolved(words[0], Integer.parseInt(port)))
                    .map(each -> new InetSocketAddress(each.getHostString(), each.getPort()))
                    .toList();
        }

        InetSocketAddress address(int index) {
            return addresses.get(index);
        }

        void kill() {
            process.destroyForcibly().onExit().join();
        }

        @Override
        public void close() throws IOException {
            process.getOutputStream().close();
            process.onExit().join();
        }
    }

    /// The program of the process.
    static final class Answering {
        private Answering() {}

        public static void main(String[] args) throws Exception {
            try (Context device = Device.named(args[0]).open();
                    var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                InetAddress own = device.gid(1, 0).gid().address();
                var any = new InetSocketAddress(own, 0);
                try (var listener = ConnectionListener.bind(
                                any, ConnectionOptions.defaults().withDevice(device));
                        var streams = StreamListener.bind(
                                any, StreamOptions.defaults().withDevice(device));
                        var worker = Worker.open(device);
                        var workers = worker.listen(0)) {
                    worker.answerCalls(call -> MemorySegment.ofArray(call.bytes()));
                    var connected = threads.submit(() -> {
                        Connection connection = listener.accept();
                        connection.send(connection.receive(100));
                        return connection;
                    });
                    var streamed = threads.submit(() -> {
                        StreamChannel stream = streams.accept(LIMIT).orElseThrow();
                        Everything.readAll(stream, Everything.BYTES.length);
                        stream.write(ByteBuffer.wrap(Everything.BYTES));
                        return stream;
                    });
                    var called = threads.submit(() -> workers.accept());
                    System.out.println(
                            own.getHostAddress() + " " + listener.localAddress().getPort() + " "
                                    + streams.localAddress().getPort() + " "
                                    + workers.localAddress().getPort());
                    System.in.readAllBytes();
                    connected.get().close();
                    streamed.get().close();
                    called.get().close();
                } catch (ConnectionException e) {
                    // the other end has ended first
                }
            }
        }
    }
}
