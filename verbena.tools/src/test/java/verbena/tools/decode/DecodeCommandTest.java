package verbena.tools.decode;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.SoftContext;
import verbena.nic.capture.Capture;
import verbena.tools.Cli;
import verbena.verbs.Access;
import verbena.verbs.Device;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CaptureWriter;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.LinkType;
import verbena.wire.pcap.PcapngBlocks;

class DecodeCommandTest {
    private static final String ATOMIC = Cli.golden("rc-atomic.pcap").toString();
    private static final int PCAP_HEADER_BYTES = 24;
    private static final int RECORD_HEADER_BYTES = 16;

    @TempDir
    private Path folder;

    static List<Path> goldenRoce() throws IOException {
        try (Stream<Path> files = Files.list(Cli.golden(""))) {
            return files.filter(file -> file.getFileName().toString().matches("(rc|uc|ud|cm)-.*\\.pcap"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("goldenRoce")
    void everyGoldenCaptureIsWellFormed(Path capture) {
        Cli cli = Cli.run("decode", "--strict", capture.toString());

        assertThat(cli.status()).isZero();
        assertThat(cli.err()).isEmpty();
        assertThat(cli.outLines().getLast()).contains(": 0 with a bad ICRC, 0 malformed; 0 not RoCE");
        assertThat(cli.outLines()).hasSizeGreaterThan(1);
    }

    @Test
    void aLineTellsNumberTimeEndsAndPacket() {
        Cli cli = Cli.run("decode", ATOMIC);

        assertThat(cli.outLines()).hasSize(7);
        assertThat(cli.outLines().getFirst())
                .matches("     1  0\\.000000  10\\.77\\.0\\.11 -> 10\\.77\\.0\\.12  FETCH_ADD +psn \\d+ .*add 7");
        assertThat(cli.outLines().getLast())
                .isEqualTo("6 packets read, 6 shown: 0 with a bad ICRC, 0 malformed; 0 not RoCE");
    }

    @Test
    void messagesOfTheCommunicationManagerAreTold() {
        List<String> lines = Cli.run(
                        "decode", "--qp", "1", Cli.golden("cm-rping.pcap").toString())
                .outLines();

        assertThat(lines).hasSize(6);
        assertThat(lines.get(0))
                .matches(".*UD_SEND_ONLY.*\\| 256  CM REQ  comm 0x\\w+  service TCP:7174  qp 0x\\w+ .*from \\d+.*");
        assertThat(lines.get(1)).matches(".*CM REP  comm 0x\\w+  to 0x\\w+  qp 0x\\w+.*");
        assertThat(lines.get(2)).matches(".*CM RTU  comm 0x\\w+  to 0x\\w+");
        assertThat(lines.get(3)).matches(".*CM DREQ  comm 0x\\w+  to 0x\\w+  qp 0x\\w+");
        assertThat(lines.get(4)).matches(".*CM DREP  comm 0x\\w+  to 0x\\w+");
        assertThat(Cli.run("decode", Cli.golden("cm-reject-by-app.pcap").toString())
                        .outLines()
                        .get(1))
                .endsWith("of REQ  reason consumer-reject  data 6e6f207468616e6b73");
    }

    @Test
    void theSameOverIpv6() {
        assertThat(Cli.run("decode", Cli.golden("rc-ipv6.pcap").toString())
                        .outLines()
                        .getFirst())
                .contains("  fd77::11 -> fd77::12  SEND_FIRST");
    }

    @Test
    void otherTrafficIsCountedNotShown() {
        Cli cli = Cli.run(
                "decode", "--strict", Cli.golden("iwarp-no-listener.pcap").toString());

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines())
                .containsExactly(
                        "2 packets read, 0 shown: 0 with a bad ICRC, 0 malformed; 2 not RoCE",
                        "2 not decoded: TCP without iWARP");
    }

    @Test
    void aTimeIsNeverNegativeZero() throws IOException {
        Path file = folder.resolve("crossed.pcapng");
        try (CaptureReader in = CaptureReader.open(Path.of(ATOMIC));
                CaptureWriter out = CaptureWriter.pcapng(Files.newOutputStream(file), LinkType.ETHERNET)) {
            CapturedPacket first = in.next();
            out.write(first.nanos(), first.bytes());
            out.write(first.nanos() - 300, first.bytes());
            out.write(first.nanos() - 300_000, first.bytes());
        }
        assertThat(Cli.run("decode", file.toString()).outLines().subList(0, 3))
                .extracting(line -> line.split(" +", 4)[2])
                .containsExactly("0.000000", "0.000000", "-0.000300");
    }

    @Test
    void aLinkTypeThatIsNotKnownIsNamed() throws IOException {
        Path file = folder.resolve("other.pcapng");
        try (CaptureWriter out = CaptureWriter.pcapng(Files.newOutputStream(file), 147)) {
            out.write(0, MemorySegment.ofArray(new byte[100]));
        }
        assertThat(Cli.run("decode", file.toString()).outLines())
                .containsExactly(
                        "1 packets read, 0 shown: 0 with a bad ICRC, 0 malformed; 1 not RoCE",
                        "1 of link type 147, whose headers are not known here");
    }

    @Test
    void wrappingsThatAreNotTakenOffAreCountedByName() throws IOException {
        Path file = folder.resolve("wrapped.pcapng");
        String ethernet = "020000000001020000000002";
        try (CaptureWriter out = CaptureWriter.pcapng(Files.newOutputStream(file), LinkType.ETHERNET)) {
            for (String type : List.of("0806", "88e52c00000000015a5a", "88e52c00000000025a5a")) {
                out.write(0, MemorySegment.ofArray(HexFormat.of().parseHex(ethernet + type)));
            }
            for (int type = 0xB000; type < 0xB014; type++) {
                out.write(0, MemorySegment.ofArray(HexFormat.of().parseHex(ethernet + Integer.toHexString(type))));
            }
        }
        List<String> lines = Cli.run("decode", file.toString()).outLines();

        assertThat(lines)
                .hasSize(22)
                .startsWith(
                        "23 packets read, 0 shown: 0 with a bad ICRC, 0 malformed; 23 not RoCE",
                        "2 not decoded: MACsec, encrypted (EtherType 0x88e5)",
                        "1 not decoded: ARP (EtherType 0x0806)",
                        "1 not decoded: EtherType 0xb000")
                .endsWith("1 not decoded: EtherType 0xb011", "and 2 more kinds that are not decoded");
    }

    @Test
    void iwarpIsShownByWhatItsStreamsSay() {
        String capture = Cli.golden("iwarp-ops.pcap").toString();
        List<String> lines = Cli.run("decode", "--strict", capture).outLines();

        assertThat(lines).hasSize(21);
        assertThat(lines.getFirst())
                .matches("     4  0\\.\\d{6}  10\\.77\\.1\\.11:\\d+ -> 10\\.77\\.1\\.12:7811  MPA request rev 2 .*");
        assertThat(lines.getLast())
                .isEqualTo(
                        "44 packets read, 20 shown: 0 with a bad checksum, 0 malformed; 44 of iWARP, 0 neither it nor"
                                + " RoCE");
        assertThat(Cli.run("decode", Cli.golden("iwarp-rping-ipv6.pcap").toString())
                        .outLines()
                        .getFirst())
                .contains("  [fd77:1::11]:");
    }

    @Test
    void filtersAreForIwarpToo() {
        String capture = Cli.golden("iwarp-ops.pcap").toString();

        assertThat(Cli.run("decode", "--opcode", "read-re", capture).outLines())
                .hasSize(6)
                .filteredOn(line -> line.contains("  READ_RE"))
                .hasSize(5);
        assertThat(Cli.run("decode", "--port", "7811", capture).outLines()).hasSize(21);
        assertThat(Cli.run("decode", "--port", "7812", capture).outLines()).hasSize(1);
        assertThat(Cli.run("decode", "--address", "10.77.1.12", "-n", "3", capture)
                        .outLines())
                .hasSize(4);
        assertThat(Cli.run("decode", "--from", "0.2", "--to", "0.22", capture).outLines())
                .hasSize(4 + 1);
        assertThat(Cli.run("decode", "--qp", "1", capture).outLines()).hasSize(1);
        assertThat(Cli.run("decode", "--port", "4791", ATOMIC).outLines()).hasSize(1);
        assertThat(Cli.run("decode", "--opcode", "mpa", capture).outLines()).hasSize(3);
    }

    @Test
    void aFlippedBitOfIwarpIsABadCrc() throws IOException {
        byte[] capture = Files.readAllBytes(Cli.golden("iwarp-ops-crc.pcap"));
        String text = new String(capture, ISO_8859_1);
        String data = new String(new byte[] {0x07, 0x0a, 0x0d, 0x10, 0x13, 0x16}, ISO_8859_1);
        capture[text.indexOf(data)] ^= 1;
        Path damaged = Files.write(folder.resolve("flipped.pcap"), capture);

        Cli cli = Cli.run("decode", "--strict", damaged.toString());

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.outLines()).filteredOn(line -> line.endsWith(" badcrc")).hasSize(1);
        assertThat(cli.outLines().getLast()).contains("1 with a bad checksum");
    }

    @Test
    void packetsOfAQueuePairAreThoseSentToIt() {
        List<String> lines = Cli.run("decode", ATOMIC).outLines();
        String responder = lines.getFirst().replaceAll(".*qp (0x\\w+).*", "$1");

        Cli cli = Cli.run("decode", "--qp", responder, ATOMIC);

        assertThat(cli.outLines())
                .hasSize(4)
                .filteredOn(line -> line.contains(" qp "))
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).contains("qp " + responder));
        int decimal = Integer.decode(responder);
        assertThat(Cli.run("decode", "--qp", Integer.toString(decimal), "--qp", "1", ATOMIC)
                        .out())
                .isEqualTo(cli.out());
    }

    @Test
    void filtersLeaveWhatFitsAllOfThem() {
        List<String> swaps =
                Cli.run("decode", "--opcode", "compare-swap", ATOMIC).outLines();
        assertThat(swaps).hasSize(3);
        assertThat(swaps.subList(0, 2)).allMatch(line -> line.contains("COMPARE_SWAP"));
        assertThat(Cli.run("decode", "--opcode", "atomic_ack", "--opcode", "FETCH", ATOMIC)
                        .outLines())
                .hasSize(5);
        assertThat(Cli.run("decode", "--from", "0.01", "--to", "0.03", ATOMIC).outLines())
                .hasSize(3)
                .first()
                .asString()
                .startsWith("     3  0.019105");
        assertThat(Cli.run("decode", "--address", "10.77.0.11", ATOMIC).outLines())
                .hasSize(7);
        assertThat(Cli.run("decode", "--address", "10.77.0.13", ATOMIC).outLines())
                .hasSize(1);
        assertThat(Cli.run("decode", "--dropped", ATOMIC).outLines())
                .as("a capture without comments")
                .hasSize(1);
    }

    @Test
    void aFilterThatIsNoneIsWrongUsage() {
        assertThat(Cli.run("decode", "--opcode", "JUMP", ATOMIC).error())
                .contains("--opcode: no opcode has 'JUMP' in its name");
        assertThat(Cli.run("decode", "--address", "nowhere", ATOMIC).status()).isEqualTo(2);
        assertThat(Cli.run("decode", "--follow", "0x1000000", ATOMIC).error())
                .contains("--follow: a number of 24 bits");
        assertThat(Cli.run("decode", "--follow", "1", "-").error()).contains("--follow: reads the capture twice");
        assertThat(Cli.run("decode", "--follow", "0x123456", ATOMIC).error())
                .endsWith("rc-atomic.pcap: no packet to queue pair 0x123456");
    }

    @Test
    void whatWasDroppedIsFoundAlsoBehindArrivalsThatWereNoPackets() throws IOException {
        String dropped = "dropped: there is no such queue pair (dropped.unknown-qp)";
        String before = "2 arrivals before this one were too short or too long to be packets";
        Path file = commented(dropped, before + "; this one: " + dropped, before, null);

        assertThat(Cli.run("decode", "--dropped", file.toString()).outLines()).hasSize(2 * 6 + 1);
    }

    private static List<String> follow(String capture) {
        return follow(Cli.golden(capture));
    }

    private static List<String> follow(Path file) {
        String first = Cli.run("decode", "-n", "1", file.toString()).outLines().getFirst();
        String responder = first.replaceAll(".*qp (0x\\w+).*", "$1");
        Cli cli = Cli.run("decode", "--follow", responder, file.toString());
        assertThat(cli.status()).isZero();
        return cli.outLines();
    }

    @Test
    void aConversationHasBothDirections() {
        List<String> lines = follow("rc-atomic.pcap");

        assertThat(lines.getFirst())
                .matches("queue pair 0x\\w+ at 10\\.77\\.0\\.12 and queue pair 0x\\w+ at 10\\.77\\.0\\.11");
        assertThat(lines.get(1)).matches(" +1  0\\.000000  <-  FETCH_ADD .*");
        assertThat(lines.get(2)).matches(" +2  0\\.000778  ->  ATOMIC_ACKNOWLEDGE .*; answers after 778.0 us");
        assertThat(lines).hasSize(1 + 6 + 2 + 1);
        assertThat(lines.get(8))
                .startsWith("<- 3 packets, 3 of requests: 0 sent again, 0 gaps; answered in 561.0 us (min)");
    }

    @Test
    void whatWasSentAgainAndWhyIsRemarkedOn() {
        assertThat(follow("rc-seq-nak.pcap"))
                .anyMatch(line -> line.contains("NAK sequence") && line.contains("; misses PSN"))
                .anyMatch(line -> line.contains("; sent again: first as "));
        assertThat(follow("rc-rnr-nak.pcap"))
                .anyMatch(line -> line.contains("; has no receive after ") && line.endsWith(": wait 10.24 ms"));
        assertThat(follow("rc-nak-write-bad-rkey.pcap")).anyMatch(line -> line.contains("; refuses PSN "));
        assertThat(follow("rc-retry-exceeded.pcap"))
                .anyMatch(line -> line.contains("its own packets are not in the capture"))
                .anyMatch(line -> line.matches(".*; after 6\\d\\.\\d+ ms of silence, sent again: first as 1, .*"));
    }

    @Test
    void anAckTellsForHowManyPacketsItIs() {
        assertThat(follow("rc-send-multi-mtu256.pcap"))
                .anyMatch(line -> line.matches(".*ACK  .*; acknowledges [2-9]\\d* packets after \\d+\\.\\d us"));
    }

    /// A capture by Verbena that has each packet of `ATOMIC` as often as there are comments; null for none.
    private Path commented(@Nullable String... comments) throws IOException {
        var capture = new ByteArrayOutputStream();
        capture.writeBytes(PcapngBlocks.section("test"));
        capture.writeBytes(Capture.description("shm"));
        try (CaptureReader reader = CaptureReader.open(Path.of(ATOMIC))) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                int bytes = (int) packet.bytes().byteSize();
                for (String comment : comments) {
                    capture.writeBytes(PcapngBlocks.packet(
                            0, packet.nanos(), packet.bytes(), bytes, bytes, PcapngBlocks.UNICAST, 0, comment));
                }
            }
        }
        return Files.write(folder.resolve("commented.pcapng"), capture.toByteArray());
    }

    /// A request that needed no packet has the PSN of the next packet, which is not sent again by that.
    @Test
    void directAccessIsShownInAConversationAndHasNoPlaceInItsSequence() throws IOException {
        List<String> lines = follow(commented("direct access: no packet was sent", null));

        assertThat(lines).hasSize(1 + 12 + 2 + 1);
        assertThat(lines.get(1)).contains("  <-  FETCH_ADD ").endsWith("  # direct access: no packet was sent");
        assertThat(lines.get(2)).contains("  <-  FETCH_ADD ").doesNotContain("sent again");
        assertThat(lines.get(4)).contains("  ->  ATOMIC_ACKNOWLEDGE ").contains("; answers after 778.0 us");
        assertThat(lines.get(14))
                .startsWith("<- 3 packets, 3 of requests: 0 sent again, 0 gaps; 3 more by direct access; answered in");
    }

    @Test
    void aDatagramsSenderIsFollowedByItsOwnNumber() {
        String file = Cli.golden("ud-send.pcap").toString();
        String line = Cli.run("decode", "-n", "1", file).outLines().getFirst();
        String source = line.replaceAll(".* srcqp (0x\\w+).*", "$1");

        assertThat(Cli.run("decode", "--follow", source, file).outLines().get(1))
                .contains("  ->  UD_SEND_ONLY");
    }

    @Test
    void anExtendedConnectionIsFollowedLikeAReliableOne(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("xrc.pcapng");
        int initiator;
        int number;
        try (var a = (SoftContext) Device.named("rocev2").open();
                var b = Device.named("rocev2").open();
                var domainOfA = a.allocateProtectionDomain();
                var domainOfB = b.allocateProtectionDomain();
                var sent = a.createCompletionQueue(4);
                var received = b.createCompletionQueue(4);
                var xrc = b.openXrcDomain();
                var queue = xrc.createSharedReceiveQueue(domainOfB, received, 4, 1);
                var target = xrc.createTarget();
                var sender = domainOfA.createQueuePair(QueuePairOptions.xrcInitiator(sent));
                var from = domainOfA.allocate(64, Access.local());
                var into = domainOfB.allocate(64, Access.local());
                AutoCloseable _ = a.capture(file)) {
            sender.connect(target.endpoint());
            target.connect(sender.endpoint());
            number = queue.number().orElseThrow();
            initiator = sender.qpn();
            queue.postReceive(1, into.slice(0, 64));
            try (var batch = sender.sendBatch()) {
                batch.send(2).to(number).sge(from, 0, 64).signaled().submit();
            }
            assertThat(sent.await(new WorkCompletion(), Duration.ofSeconds(20))).isTrue();
        }
        List<String> lines = Cli.run("decode", "--follow", Integer.toString(initiator), file.toString())
                .outLines();
        assertThat(lines.get(1)).contains("  ->  XRC_SEND_ONLY").contains("srq " + number);
        assertThat(lines.get(2)).contains("  <-  XRC_ACK").contains("acknowledges after "); // perhaps after silence
    }

    @Test
    void aCountEndsItEarly() {
        Cli cli = Cli.run("decode", "-n", "2", ATOMIC);

        assertThat(cli.outLines()).hasSize(3);
        assertThat(cli.outLines().getLast()).startsWith("2 packets read, 2 shown");
    }

    @Test
    void aFlippedBitIsABadIcrc() throws IOException {
        byte[] capture = Files.readAllBytes(Path.of(ATOMIC));
        int lengthOfFirst = capture[PCAP_HEADER_BYTES + 8] & 0xFF;
        capture[PCAP_HEADER_BYTES + RECORD_HEADER_BYTES + lengthOfFirst - 5] ^= 1;
        Path damaged = Files.write(folder.resolve("flipped.pcap"), capture);

        Cli cli = Cli.run("decode", damaged.toString());

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines().getFirst()).endsWith("badicrc");
        assertThat(cli.outLines().get(1)).doesNotContain("badicrc");
        assertThat(cli.outLines().getLast()).contains("1 with a bad ICRC, 0 malformed");
        assertThat(Cli.run("decode", "--strict", damaged.toString()).status()).isEqualTo(1);
    }

    @Test
    void anUnknownOpcodeIsMalformed() throws IOException {
        byte[] capture = Files.readAllBytes(Path.of(ATOMIC));
        int bth = PCAP_HEADER_BYTES + RECORD_HEADER_BYTES + 14 + 20 + 8;
        capture[bth] = 0x1F;
        Path damaged = Files.write(folder.resolve("opcode.pcap"), capture);

        Cli cli = Cli.run("decode", "--strict", damaged.toString());

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.outLines().getFirst()).contains("opcode 0x1f").endsWith("malformed unknown-opcode");
        assertThat(cli.outLines().getLast()).contains("1 malformed");
    }

    @Test
    void aWrongUdpLengthIsMalformed() throws IOException {
        byte[] capture = Files.readAllBytes(Path.of(ATOMIC));
        capture[PCAP_HEADER_BYTES + RECORD_HEADER_BYTES + 14 + 20 + 5]++;
        Path damaged = Files.write(folder.resolve("length.pcap"), capture);

        Cli cli = Cli.run("decode", "--strict", damaged.toString());

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.outLines().getFirst()).endsWith("malformed bad-length");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rc-atomic",
                "rc-ipv6",
                "rc-write-multi-mtu1024",
                "rc-write-imm-only",
                "cm-rping",
                "cm-udaddy-sidr"
            })
    void ofAPacketTheHeadersAreEnough(String name) throws IOException {
        Path capture = Cli.golden(name + ".pcap");
        Path cut = Files.write(folder.resolve("cut.pcap"), headersOnly(Files.readAllBytes(capture)));
        List<String> whole = Cli.run("decode", capture.toString()).outLines();

        Cli cli = Cli.run("decode", "--strict", cut.toString());

        assertThat(cli.status()).isZero();
        List<String> lines = cli.outLines();
        assertThat(lines.subList(0, lines.size() - 1))
                .isEqualTo(whole.subList(0, whole.size() - 1).stream()
                        .map(line -> line.replaceAll("  CM .*", "")) // which is in the payload
                        .toList());
        assertThat(lines.getLast().replaceAll(", \\d+ cut short by the capture", ""))
                .isEqualTo(whole.getLast());
    }

    /// As tcpdump with `-s` writes it: Ethernet, IP, UDP, and 64 bytes of each packet.
    private static byte[] headersOnly(byte[] pcap) {
        var in = ByteBuffer.wrap(pcap).order(ByteOrder.LITTLE_ENDIAN);
        var out = ByteBuffer.allocate(pcap.length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(pcap, 0, PCAP_HEADER_BYTES);
        for (int at = PCAP_HEADER_BYTES; at < pcap.length; at += RECORD_HEADER_BYTES + in.getInt(at + 8)) {
            boolean isIpv6 = pcap[at + RECORD_HEADER_BYTES + 12] == (byte) 0x86;
            int kept = Math.min(in.getInt(at + 8), 14 + (isIpv6 ? 40 : 20) + 8 + 64);
            out.putLong(in.getLong(at)).putInt(kept).putInt(in.getInt(at + 12));
            out.put(pcap, at + RECORD_HEADER_BYTES, kept);
        }
        return Arrays.copyOf(out.array(), out.position());
    }

    @Test
    void aFileCutShortIsShownAsFarAsItGoes() throws IOException {
        byte[] capture = Files.readAllBytes(Path.of(ATOMIC));
        Path cut = Files.write(folder.resolve("cut.pcap"), Arrays.copyOf(capture, capture.length - 10));

        Cli cli = Cli.run("decode", cut.toString());

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.outLines()).hasSize(6);
        assertThat(cli.error()).contains("cut.pcap: capture, byte ", "the file ends");
    }

    @Test
    void whatIsNoCaptureIsSaid() throws IOException {
        Path text = Files.writeString(folder.resolve("text"), "no capture at all");

        Cli cli = Cli.run("decode", text.toString());

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("neither pcap nor pcapng");
        assertThat(Cli.run("decode", folder.resolve("missing").toString()).error())
                .endsWith("no such file");
        assertThat(Cli.run("decode", folder.toString()).error()).contains("cannot be read");
    }

    @Test
    void wrongUsageIsSaid() {
        assertThat(Cli.run("decode").error()).contains("Missing required parameter: 'FILE'");
        assertThat(Cli.run("decode", "--qp", "x", ATOMIC).error()).contains("--qp: a number of 24 bits", "'x'");
        assertThat(Cli.run("decode", "--qp", "0x1000000", ATOMIC).status()).isEqualTo(2);
        assertThat(Cli.run("decode", "-n", "0", ATOMIC).error()).contains("--count: at least 1");
    }
}
