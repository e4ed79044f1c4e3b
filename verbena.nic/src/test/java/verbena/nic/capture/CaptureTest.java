package verbena.nic.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.capture.CaptureFile.WHOLE_PACKETS;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.device.DeviceContext;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.wire.Frame;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Packet;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.PcapngBlocks;
import verbena.wire.pcap.Unwrapped;

/// Captures of real devices, judged by our reader, and by tshark where it is installed.
@Timeout(120)
class CaptureTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int LENGTH = 3_000;

    @TempDir
    private Path folder;

    private static final class End implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final QueuePair queuePair;
        final MemoryRegion memory;

        End(String device) {
            context = Device.named(device).open();
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(256);
            queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
            memory = domain.allocate(LENGTH, Access.remoteAll());
        }

        boolean await() throws InterruptedException {
            var wc = new WorkCompletion();
            assertThat(cq.await(wc, PATIENCE)).isTrue();
            return wc.ok();
        }

        @Override
        public void close() {
            queuePair.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    private static void connect(End a, End b) {
        a.queuePair.connect(b.queuePair.endpoint());
        b.queuePair.connect(a.queuePair.endpoint());
    }

    /// One after the other.
    private static void write(End a, End b, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            a.queuePair.postWrite(i, a.memory, 0, LENGTH, b.memory.address(), b.memory.rkey());
            assertThat(a.await()).isTrue();
        }
    }

    private static List<String> comments(Path file) throws IOException {
        var comments = new ArrayList<String>();
        try (CaptureReader reader = CaptureReader.open(file)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                comments.add(packet.comment());
            }
        }
        return comments;
    }

    /// A SEND that is lost on purpose at first, a WRITE, and one to a queue pair that is gone.
    private Path exchange() throws InterruptedException {
        Path file = folder.resolve("b.pcapng");
        try (End a = new End("rocev2,faults=corrupt:30%,seed:5");
                End b = new End("rocev2,capture=" + file)) {
            connect(a, b);
            for (int i = 0; i < 20; i++) {
                a.queuePair.postWrite(i, a.memory, 0, LENGTH, b.memory.address(), b.memory.rkey());
            }
            for (int i = 0; i < 20; i++) {
                assertThat(a.await()).isTrue();
            }
        }
        return file;
    }

    @Test
    void everyPacketIsThereWithWhatBecameOfIt() throws Exception {
        List<String> comments = comments(exchange());

        assertThat(comments).hasSizeGreaterThan(40);
        assertThat(comments).anyMatch(comment -> comment.equals("dropped: damaged, its ICRC is wrong (dropped.icrc)"));
        assertThat(comments).anyMatch(comment -> comment.startsWith("out of sequence:"));
        assertThat(comments).anyMatch(String::isEmpty);
    }

    @Test
    void tsharkShowsItWithoutSettings() throws Exception {
        assumeTrue(isInstalled(), "tshark is not installed");
        Path file = exchange();
        int packets = comments(file).size();

        assertThat(tshark(file, "infiniband.bth.opcode").lines().filter(line -> line.matches("\\d+")))
                .as("packets that it knows as InfiniBand")
                .hasSize(packets);
        assertThat(tshark(file, "frame.comment")).contains("dropped: damaged, its ICRC is wrong (dropped.icrc)");
        assertThat(tshark(file, "frame.packet_flags_direction")).contains("1").contains("2");
        assertThat(tshark(file, "frame.interface_name").lines().distinct()).containsExactly("rocev2");
    }

    @Test
    void ofAPacketItsHeadersCanBeEnough() throws Exception {
        Path file = folder.resolve("b.pcapng");
        try (End a = new End("rocev2");
                End b = new End("rocev2,capture=" + file + ",packet:64")) {
            connect(a, b);
            write(a, b, 20);
        }
        int cut = 0;
        Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 8))[0];
        try (CaptureReader reader = CaptureReader.open(file)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                assertThat(packet.bytes().byteSize()).isLessThanOrEqualTo(14 + 20 + 8 + 64);
                Unwrapped unwrapped = new Encapsulation().unwrap(packet.linkType(), packet.bytes(), frame);
                assertThat(frame.length).isEqualTo((int) packet.originalBytes() - 14 - 20 - 8);
                assertThat(Packet.check(frame)).isEqualTo(Malformed.OK);
                assertThat(unwrapped).isInstanceOf(packet.isTruncated() ? Unwrapped.Part.class : Unwrapped.Roce.class);
                cut += packet.isTruncated() ? 1 : 0;
            }
        }
        assertThat(cut).isGreaterThanOrEqualTo(20);
        if (isInstalled()) {
            assertThat(tshark(file, "infiniband.reth.dmalen").lines().filter(line -> line.equals("" + LENGTH)))
                    .hasSizeGreaterThanOrEqualTo(20);
        }
    }

    @Test
    void streamsOfIwarpAreWholeTcpConnections() throws Exception {
        assumeTrue(isInstalled(), "tshark is not installed");
        Path file = folder.resolve("iwarp.pcapng");
        try (Context device = Device.named("iwarp,capture=" + file).open();
                Context other = Device.named("iwarp").open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var own = ConnectionOptions.defaults().withDevice(device);
            var others = ConnectionOptions.defaults().withDevice(other);
            try (var listener = ConnectionListener.bind(
                    new InetSocketAddress(device.gid(1, 0).gid().address(), 0), own)) {
                var accepted = threads.submit(() -> listener.accept());
                try (var client = Connection.connect(listener.localAddress(), others);
                        var server = accepted.get()) {
                    var out = client.allocate(LENGTH);
                    var in = server.allocate(LENGTH, Access.remoteAll());
                    var received = threads.submit(() -> server.receive(in, 0, LENGTH));
                    client.send(out, 0, LENGTH);
                    received.get();
                    client.read(out, 0, LENGTH, in.remote(), 0);
                }
            }
        }

        String lines = tshark(file, "_ws.col.Info");
        assertThat(lines).contains("MPA Request", "MPA Reply", "Send", "Read Request", "Read Response", "[SYN]");
        assertThat(tshark(file, "tcp.analysis.flags")).isBlank();
        assertThat(tshark(file, "tcp.checksum.status").lines().filter(line -> line.equals("0"))) // "bad"
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"100K, 102400", "65536, 65536", "3M, 3145728", "1g, 1073741824"})
    void aSizeHasAUnit(String text, long bytes) {
        assertThat(CaptureFile.bytes(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "K", "1", "65535", "-1M", "9999999999999G", "ten"})
    void aSizeThatIsNoneIsRefused(String text) {
        assertThatThrownBy(() -> CaptureFile.bytes(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("size: at least 64K");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp"})
    void whatIsWrongInTheOptionIsTold(String kind) {
        assertThatThrownBy(() -> Device.named(kind + ",capture="))
                .hasMessageContaining("option \"capture=\": the name of a file");
        assertThatThrownBy(() -> Device.named(kind + ",capture=a.pcapng,most:3"))
                .hasMessageContaining("max:SIZE and packet:BYTES only, got \"most:3\"");
        assertThatThrownBy(() -> Device.named(kind + ",capture=a.pcapng,packet:63"))
                .hasMessageContaining("packet: at least 64 bytes, got \"63\"");
        assertThatThrownBy(() -> Device.named(kind + ",capture=" + folder.resolve("no/such/folder.pcapng"))
                        .open())
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("option \"capture\": cannot write");
    }

    @Test
    void twoDevicesOfOneNameGetTwoFiles() throws Exception {
        String name = "rocev2,capture=" + folder.resolve("x.pcapng");
        try (Context a = Device.named(name).open();
                Context b = Device.named(name).open()) {
            assertThat(a.gids(1)).isNotEqualTo(b.gids(1));
        }
        assertThat(comments(folder.resolve("x.pcapng"))).isEmpty();
        assertThat(comments(folder.resolve("x-2.pcapng"))).isEmpty();
    }

    @Test
    void aFileThatIsFullEndsTheCaptureAndNotTheDevice() throws Exception {
        Path file = folder.resolve("full.pcapng");
        try (End a = new End("rocev2");
                End b = new End("rocev2,capture=" + file + ",max:64K")) {
            connect(a, b);
            write(a, b, 200);
        }
        assertThat(comments(file)).isNotEmpty();
        assertThat(Files.size(file)).as("one chunk more at most").isLessThan((64 << 10) + (2 << 20));
    }

    @Test
    void whatHasNoRoomIsLostAndCounted() throws Exception {
        try (End a = new End("rocev2");
                End b = new End("rocev2")) {
            connect(a, b);
            try (Capture capture = Capture.start((DeviceContext) b.context, 64 << 10, WHOLE_PACKETS)) {
                write(a, b, 100);
                assertThat(capture.captured()).isPositive();
                assertThat(capture.lost()).isPositive();
                assertThat(capture.take(1 << 20)).hasSizeBetween(1, 80 << 10);
                long before = capture.lost(); // now: the last acknowledgement's note may come after its arrival
                write(a, b, 1);
                byte[] next = capture.take(1 << 20);
                assertThat(capture.lost()).as("there is room again").isEqualTo(before);
                assertThat(next.length).isGreaterThan(LENGTH);
                assertThat(PcapngBlocks.length(next, 0)).isLessThanOrEqualTo(next.length);
            }
        }
    }

    @Test
    void aReaderThatDoesNotComeAnyMoreEndsTheCapture() {
        try (End a = new End("rocev2")) {
            Capture capture = Capture.start((DeviceContext) a.context, 64 << 10, WHOLE_PACKETS, 1_000_000);
            while (!capture.isClosed()) {
                Thread.onSpinWait();
            }
            assertThat(capture.take(1)).isEmpty();
        }
    }

    @Test
    void closingTheDeviceEndsItsCaptures() {
        Capture capture;
        try (End a = new End("rocev2")) {
            capture = Capture.start((DeviceContext) a.context, 64 << 10, WHOLE_PACKETS);
            assertThat(capture.isClosed()).isFalse();
        }
        assertThat(capture.isClosed()).isTrue();
    }

    // ---- the independent judge

    private static boolean isInstalled() {
        return Stream.of(System.getenv("PATH").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "tshark")));
    }

    private static String tshark(Path file, String field) throws Exception {
        assertThat(run(file, "-Y", "_ws.malformed || _ws.expert.severity == error"))
                .isBlank();
        return run(file, "-T", "fields", "-e", field);
    }

    private static String run(Path file, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of("tshark", "-o", "tcp.check_checksum:TRUE", "-r", file.toString()));
        command.addAll(List.of(arguments));
        Process tshark = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String out = new String(tshark.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(tshark.waitFor()).isZero();
        return out;
    }
}
