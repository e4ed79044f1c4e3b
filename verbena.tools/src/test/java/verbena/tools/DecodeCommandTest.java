package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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
        Cli cli = Cli.run("decode", "--strict", Cli.golden("iwarp-ops.pcap").toString());

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines()).hasSize(1);
        assertThat(cli.outLines().getFirst()).matches("\\d+ packets read, 0 shown: .*; [1-9]\\d* not RoCE");
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
