package verbena.nic.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.capture.CaptureFile.WHOLE_PACKETS;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.tap.TapLink;
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
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.PcapngBlocks;
import verbena.wire.pcap.Unwrapped;

/// Captures of real devices, judged by our reader, and by tshark where it is installed.
@Timeout(120)
class CaptureTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int LENGTH = 3_000;
    /// tshark's number for the severity of an error.
    private static final String ERROR = "8388608";

    /// The comment of what was carried out in the peer's memory.
    private static final String OF_DIRECT_ACCESS = "direct access: no packet was sent";

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
            assertThat(cq.await(wc, SOON)).isTrue();
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

    /// Posts one WRITE after the other.
    private static void write(End a, End b, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            a.queuePair.postWrite(i, a.memory.slice(0, LENGTH), b.memory.remote());
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

    /// A SEND that is lost on purpose at first, a WRITE, and a WRITE to a queue pair that is gone.
    private Path exchange() throws InterruptedException {
        Path file = folder.resolve("b.pcapng");
        try (End a = new End("rocev2,faults=corrupt:30%,seed:5");
                End b = new End("rocev2,capture=" + file)) {
            connect(a, b);
            for (int i = 0; i < 20; i++) {
                a.queuePair.postWrite(i, a.memory.slice(0, LENGTH), b.memory.remote());
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

        List<String[]> rows = tshark(
                file, "infiniband.bth.opcode", "frame.comment", "frame.packet_flags_direction", "frame.interface_name");
        assertThat(column(rows, 0).filter(opcode -> opcode.matches("\\d+")))
                .as("packets that it knows as InfiniBand")
                .hasSize(packets);
        assertThat(column(rows, 1)).contains("dropped: damaged, its ICRC is wrong (dropped.icrc)");
        assertThat(column(rows, 2))
                .anyMatch(direction -> direction.endsWith("1"))
                .anyMatch(direction -> direction.endsWith("2"));
        assertThat(column(rows, 3).distinct()).containsExactly("rocev2");
    }

    @ParameterizedTest
    @CsvSource({"'', 0", "',faults=corrupt:30%,seed:5', 3"})
    void whatWentThroughSharedMemoryLooksAsOnAWire(String faults, int damagedAtLeast) throws Exception {
        Path file = folder.resolve("shm.pcapng");
        try (End a = new End("shm" + faults);
                End b = new End("shm,capture=" + file)) {
            connect(a, b);
            // SENDs, because a WRITE shows itself to its own side only
            for (int i = 0; i < 10; i++) {
                b.queuePair.postReceive(i, b.memory.slice(0, LENGTH));
                a.queuePair.postSend(i, a.memory.slice(0, LENGTH));
                assertThat(a.await()).isTrue();
                assertThat(b.await()).isTrue();
            }
        }
        int valid = 0;
        int damaged = 0;
        Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 8))[0];
        try (CaptureReader reader = CaptureReader.open(file)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                assertThat(new Encapsulation().unwrap(packet.linkType(), packet.bytes(), frame))
                        .isInstanceOf(Unwrapped.Roce.class);
                assertThat(frame.icrcValid)
                        .as(packet.comment())
                        .isEqualTo(!packet.comment().contains("its ICRC is wrong"));
                valid += frame.icrcValid ? 1 : 0;
                damaged += frame.icrcValid ? 0 : 1;
            }
        }
        assertThat(valid)
                .as("10 SENDs, of which the first needs an acknowledgement")
                .isGreaterThanOrEqualTo(11);
        assertThat(damaged).isGreaterThanOrEqualTo(damagedAtLeast);
    }

    /// WRITEs until one has needed no packet.
    private static void awaitDirectAccess(End a, MemoryRegion from, MemoryRegion to) throws InterruptedException {
        for (int i = 0; a.context.counters().get("direct.requests") == 0; i++) {
            assertThat(i).as("WRITEs by packets").isLessThan(10_000);
            a.queuePair.postWrite(i, from.slice(0, 8), to.remote());
            assertThat(a.await()).isTrue();
        }
    }

    /// Others can come before it: late answers to the WRITEs before, and a grant that the peer gives.
    private static CapturedPacket firstOfDirectAccess(CaptureReader reader) throws IOException {
        for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
            if (packet.comment().equals(OF_DIRECT_ACCESS)) {
                return packet;
            }
        }
        throw new AssertionError("the capture shows no direct access");
    }

    /// What a capture has that was no packet. PSNs are those since the first.
    private static List<String> direct(Path file, Names names) throws IOException {
        var lines = new ArrayList<String>();
        int first = -1;
        Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 8))[0];
        try (CaptureReader reader = CaptureReader.open(file)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                if (!packet.comment().equals(OF_DIRECT_ACCESS)) {
                    continue; // an answer that came late, to a WRITE before
                }
                new Encapsulation().unwrap(packet.linkType(), packet.bytes(), frame);
                assertThat(Packet.check(frame)).isEqualTo(Malformed.OK);
                assertThat(frame.icrcValid).isTrue();
                int psn = Bth.psn(frame.slot, frame.start);
                first = first < 0 ? psn : first;
                Bth.setPsn(frame.slot, frame.start, Psn.distance(first, psn));
                lines.add(PacketText.format(frame, names).replaceAll(" +", " "));
            }
        }
        return lines;
    }

    @Test
    void requestsWithoutPacketsAreSeenAsThosePacketsThatTheyWouldHaveHad() throws Exception {
        Path file = folder.resolve("direct.pcapng");
        Path atPeer = folder.resolve("peer.pcapng");
        Names names;
        try (End a = new End("shm");
                End b = new End("shm");
                MemoryRegion from = a.domain.allocate(10_000, Access.remoteAll());
                MemoryRegion to = b.domain.allocate(10_000, Access.remoteAll())) {
            names = names(a, b, to);
            connect(a, b);
            from.segment().fill((byte) 0x55); // tshark guesses the protocol of a payload by its first bytes
            awaitDirectAccess(a, from, to);
            try (var _ = Capture.toFile((DeviceContext) a.context, CaptureFile.of(file));
                    var _ = Capture.toFile((DeviceContext) b.context, CaptureFile.of(atPeer))) {
                a.queuePair.postWrite(1, from.slice(0, 9_001), to.remote().slice(8, 9_001));
                assertThat(a.await()).isTrue();
                a.queuePair.postRead(2, to.remote().slice(0, 5_000), from.slice(0, 5_000));
                assertThat(a.await()).isTrue();
                to.segment().set(ValueLayout.JAVA_LONG, 0, 40);
                a.queuePair.postFetchAdd(3, to.remote(), 2, from.slice(0, 8));
                assertThat(a.await()).isTrue();
            }
        }
        assertThat(direct(file, names))
                .containsExactly(
                        "WRITE_FIRST psn 0 qp b r+8 len 9001 | 4096",
                        "WRITE_MIDDLE psn 1 qp b | 4096",
                        "WRITE_LAST psn 2 qp b ackreq | 809",
                        "READ_REQUEST psn 0 qp b ackreq r+0 len 5000",
                        "READ_RESPONSE_FIRST psn 0 qp a msn 0 | 4096",
                        "READ_RESPONSE_LAST psn 1 qp a msn 0 | 904",
                        "FETCH_ADD psn 0 qp b ackreq r+0 add 2",
                        "ATOMIC_ACKNOWLEDGE psn 0 qp a msn 0 original 40");
        assertThat(direct(atPeer, names))
                .as("the peer's device has done nothing")
                .isEmpty();
        if (isInstalled()) {
            assertThat(directOpcodes(file))
                    .containsExactly("6 out", "7 out", "8 out", "12 out", "13 in", "15 in", "20 out", "18 in");
        }
    }

    private static Stream<String> directOpcodes(Path file) throws Exception {
        return tshark(file, "infiniband.bth.opcode", "frame.packet_flags_direction", "frame.comment").stream()
                .filter(fields -> fields[2].equals(OF_DIRECT_ACCESS))
                .map(fields -> fields[0] + (fields[1].endsWith("1") ? " in" : " out"));
    }

    private static Names names(End a, End b, MemoryRegion region) {
        var known = new Names.Region("r", region.rkey(), region.address());
        int qpnA = a.queuePair.qpn();
        int qpnB = b.queuePair.qpn();
        return new Names() {
            @Override
            public Names.@Nullable Region region(int rkey) {
                return rkey == known.rkey() ? known : null;
            }

            @Override
            public String queuePair(int qpn) {
                return qpn == qpnA ? "a" : qpn == qpnB ? "b" : "?";
            }
        };
    }

    /// The engine does not show all of a large request, so that its other work need not wait.
    @Test
    void ofALargeRequestTheFirstPacketsAreSeenAndTheOthersCounted() throws Exception {
        int bytes = (TapLink.DIRECT_PACKETS_MAX + 3) * 4_096;
        Path file = folder.resolve("large.pcapng");
        try (End a = new End("shm");
                End b = new End("shm");
                MemoryRegion from = a.domain.allocate(bytes, Access.remoteAll());
                MemoryRegion to = b.domain.allocate(bytes, Access.remoteAll())) {
            connect(a, b);
            awaitDirectAccess(a, from, to);
            try (Capture capture = Capture.toFile(
                            (DeviceContext) a.context,
                            new CaptureFile(file, Long.MAX_VALUE, CaptureFile.PACKET_BYTES_MIN));
                    Capture other = Capture.start((DeviceContext) a.context, 1 << 20, CaptureFile.PACKET_BYTES_MIN)) {
                a.queuePair.postWrite(1, from.slice(0, bytes), to.remote());
                assertThat(a.await()).isTrue();
                for (Capture each : List.of(capture, other)) {
                    assertThat(each.captured()).isGreaterThanOrEqualTo(TapLink.DIRECT_PACKETS_MAX);
                    assertThat(each.lost()).isEqualTo(3);
                }
            }
        }
        try (CaptureReader reader = CaptureReader.open(file)) {
            CapturedPacket first = firstOfDirectAccess(reader);
            assertThat(first.isTruncated()).as("cut to its headers").isTrue();
            assertThat(first.originalBytes()).isGreaterThan(4_096);
        }
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
            assertThat(column(tshark(file, "infiniband.reth.dmalen"), 0).filter(bytes -> bytes.equals("" + LENGTH)))
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
                    var received = threads.submit(() -> server.receive(in.slice(0, LENGTH)));
                    client.send(out.slice(0, LENGTH));
                    received.get();
                    client.read(in.remote().slice(0, LENGTH), out.slice(0, LENGTH));
                }
            }
        }

        List<String[]> rows = tshark(file, "_ws.col.Info", "tcp.analysis.flags", "tcp.checksum.status");
        assertThat(column(rows, 0).collect(Collectors.joining("\n")))
                .contains("MPA Request", "MPA Reply", "Send", "Read Request", "Read Response", "[SYN]");
        assertThat(column(rows, 1)).allMatch(String::isEmpty);
        assertThat(column(rows, 2)).doesNotContain("0"); // "bad"
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

    /// Reads these fields of each packet, none of which may be malformed or a mistake.
    private static List<String[]> tshark(Path file, String... fields) throws Exception {
        var arguments = new ArrayList<>(List.of("-T", "fields", "-e", "_ws.malformed", "-e", "_ws.expert.severity"));
        for (String field : fields) {
            arguments.addAll(List.of("-e", field));
        }
        var rows = new ArrayList<String[]>();
        for (String line : run(file, arguments.toArray(String[]::new)).lines().toList()) {
            String[] row = line.split("\t", -1);
            assertThat(row[0]).as("malformed: %s", line).isEmpty();
            assertThat(row[1]).as("severity: %s", line).doesNotContain(ERROR);
            rows.add(Arrays.copyOfRange(row, 2, row.length));
        }
        return rows;
    }

    private static Stream<String> column(List<String[]> rows, int number) {
        return rows.stream().map(row -> row[number]);
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
