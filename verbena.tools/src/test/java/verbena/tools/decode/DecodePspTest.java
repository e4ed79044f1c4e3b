package verbena.tools.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.tools.Cli;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CaptureWriter;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.LinkType;

/// `decode` on captures of PSP.
class DecodePspTest {
    private static final String KEYS = Cli.golden("psp/keys.txt").toString();
    private static final String CAPTURE =
            Cli.golden("psp/rc-psn-wrap-transport128-off5.pcap").toString();
    private static final String CLEAR = Cli.golden("rc-psn-wrap.pcap").toString();

    /// Of so many captures one is written in the clear, as it is drawn (`-Dverbena.draw=N`).
    private static final int SHARES = Boolean.getBoolean("verbena.deep") ? 1 : 3;

    @TempDir
    private Path folder;

    static List<Path> captures() throws IOException {
        try (Stream<Path> files = Files.list(Cli.golden("psp"))) {
            return files.filter(file -> file.getFileName().toString().matches("(rc|uc|ud|cm)-.*\\.pcap"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("captures")
    void theLinesOfAnEncryptedCaptureAreThoseOfTheClearOne(Path capture) {
        String name = capture.getFileName().toString();
        String clear = name.replaceFirst("-(transport|tunnel).*", ".pcap");
        Cli cli = Cli.run("decode", "--strict", "--keys", KEYS, capture.toString());

        assertThat(cli.status()).isZero();
        assertThat(cli.err()).isEmpty();
        List<String> lines = cli.outLines();
        List<String> expected = Cli.run("decode", Cli.golden(clear).toString()).outLines();
        if (name.contains("off63")) { // short packets are not in it
            assertThat(lines).contains("of PSP: 9 opened");
            return;
        }
        int packets = expected.size() - 1;
        assertThat(lines.getLast()).isEqualTo("of PSP: " + packets + " opened");
        assertThat(lines.stream().filter(line -> !line.contains("PSP"))).isEqualTo(expected);
        for (int i = 0; i < packets; i++) {
            assertThat(lines.get(2 * i))
                    .matches(" *" + (i + 1)
                            + "  \\d+\\.\\d{6}  \\S+ -> \\S+  PSP spi 0x[0-9a-f]{8}  iv \\d+ .*  opened");
        }
    }

    @Test
    void aLineTellsWhatTheHeaderSays() {
        assertThat(Cli.run("decode", "--keys", KEYS, CAPTURE).outLines().getFirst())
                .isEqualTo("     1  0.000000  10.77.0.11 -> 10.77.0.12  PSP spi 0x9a345678  iv 1  aes-gcm-128  offset 5"
                        + "  | 280  opened");
        assertThat(Cli.run(
                                "decode",
                                "--keys",
                                KEYS,
                                Cli.golden("psp/rc-ipv6-transport256-off0-vc-value.pcap")
                                        .toString())
                        .outLines()
                        .getFirst())
                .contains("  aes-gcm-256  offset 0  vc 0x123400abcdef  | ");
    }

    @Test
    void withoutKeysThePacketsAreShownClosed() {
        Cli cli = Cli.run("decode", "--strict", CAPTURE);

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines()).hasSize(15);
        assertThat(cli.outLines().subList(0, 13)).allMatch(line -> line.endsWith("  no key"));
        assertThat(cli.outLines().subList(13, 15))
                .containsExactly(
                        "13 packets read, 13 shown: 0 with a bad ICRC, 0 malformed; 0 not RoCE",
                        "of PSP: 13 without a key");
    }

    @Test
    void aKeyOfOneSpiOpensIt() throws IOException {
        Path keys = folder.resolve("keys");
        Files.writeString(keys, "# of the example\n\n 0x9a345678  3946da2554eae46ad1ef77a64372edc4\n");

        assertThat(Cli.run("decode", "--keys", keys.toString(), CAPTURE).outLines())
                .last()
                .isEqualTo("of PSP: 13 opened");
        Files.writeString(keys, "9a345678 00000000000000000000000000000000");
        assertThat(Cli.run("decode", "--strict", "--keys", keys.toString(), CAPTURE))
                .satisfies(cli -> assertThat(cli.status()).isOne())
                .satisfies(cli -> assertThat(cli.outLines().getLast()).isEqualTo("of PSP: 13 with a wrong ICV"));
    }

    @Test
    void badPacketsHaveTheirVerdicts() {
        Cli cli = Cli.run(
                "decode",
                "--strict",
                "--keys",
                KEYS,
                Cli.golden("psp/bad-ipv4.pcap").toString());

        assertThat(cli.status()).isOne();
        assertThat(cli.outLines().stream()
                        .filter(line -> line.contains("  PSP"))
                        .map(line -> line.replaceFirst(".*  ", "")))
                .containsExactly(
                        "opened",
                        "opened: repeated",
                        "opened: repeated",
                        "opened: repeated",
                        "opened: repeated",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "wrong ICV",
                        "malformed length",
                        "wrong ICV",
                        "malformed header",
                        "malformed header",
                        "malformed length",
                        "malformed header",
                        "malformed length",
                        "malformed length",
                        "malformed length",
                        "wrong ICV",
                        "malformed length");
        assertThat(cli.outLines().getLast())
                .isEqualTo("of PSP: 5 opened, 4 repeated or old, 15 with a wrong ICV, 9 malformed");
        assertThat(Cli.run(
                                "decode",
                                "--keys",
                                KEYS,
                                Cli.golden("psp/bad-short.pcap").toString())
                        .outLines())
                .contains("of PSP: 1 with a wrong ICV, 5 malformed");
    }

    @Test
    void filtersAreAboutThePacketInside() {
        assertThat(Cli.run("decode", "--keys", KEYS, "--opcode", "READ_REQUEST", CAPTURE)
                        .outLines())
                .hasSize(4)
                .element(0)
                .asString()
                .contains("  PSP spi ");
        assertThat(Cli.run("decode", "--opcode", "READ_REQUEST", CAPTURE).outLines())
                .hasSize(2);
        assertThat(Cli.run("decode", "--address", "10.77.0.99", CAPTURE).outLines())
                .hasSize(2);
        assertThat(Cli.run("decode", "-n", "2", "--keys", KEYS, CAPTURE).outLines())
                .hasSize(6);
    }

    @Test
    void aConversationIsFollowedThroughPsp() {
        String first = Cli.run("decode", CLEAR).outLines().getFirst();
        String qp = first.replaceFirst(".*  qp (0x[0-9a-f]+).*", "$1");
        List<String> plain = Cli.run("decode", "--follow", qp, CLEAR).outLines();

        assertThat(Cli.run("decode", "--follow", qp, "--keys", KEYS, CAPTURE)
                        .outLines()
                        .subList(0, plain.size()))
                .isEqualTo(plain);
    }

    @Test
    void theClearCaptureHasTheClearPackets() throws IOException {
        List<Path> captures = captures();
        for (int i = Integer.getInteger("verbena.draw", 0) % SHARES; i < captures.size(); i += SHARES) {
            Path capture = captures.get(i);
            String name = capture.getFileName().toString();
            Path clear = folder.resolve(name + "ng");
            Cli cli = Cli.run("decode", "--keys", KEYS, "--write-clear", clear.toString(), capture.toString());
            assertThat(cli.status()).isZero();
            if (!name.contains("off63")) {
                assertThat(Cli.run("decode", clear.toString()).outLines().stream()
                                .map(line -> line.replaceFirst("  # PSP .*", "")))
                        .as(name)
                        .isEqualTo(Cli.run(
                                        "decode",
                                        Cli.golden(name.replaceFirst("-(transport|tunnel).*", ".pcap"))
                                                .toString())
                                .outLines());
            }
        }
        Path bad = folder.resolve("bad.pcapng");
        assertThat(Cli.run("decode", "--write-clear", bad.toString(), CAPTURE).status())
                .isZero();
        assertThat(Cli.run("decode", "--keys", KEYS, bad.toString()).outLines())
                .as("what is not opened stays as it is")
                .last()
                .isEqualTo("of PSP: 13 opened");
    }

    /// An independent reader finds the same bytes in the clear capture as in the one that was encrypted.
    @Test
    void tsharkReadsTheClearCapture() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/tshark")), "tshark is not installed");
        Path clear = folder.resolve("clear.pcapng");
        assertThat(Cli.run("decode", "--keys", KEYS, "--write-clear", clear.toString(), CAPTURE)
                        .status())
                .isZero();

        List<String> told = tshark(clear);
        assertThat(told).hasSize(13).isEqualTo(tshark(Path.of(CLEAR)));
        assertThat(told.getFirst()).contains("0x");
    }

    private static List<String> tshark(Path capture) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        "tshark",
                        "-r",
                        capture.toString(),
                        "-T",
                        "fields",
                        "-e",
                        "infiniband.bth.opcode",
                        "-e",
                        "infiniband.bth.destqp",
                        "-e",
                        "infiniband.bth.psn",
                        "-e",
                        "infiniband.invariant.crc",
                        "-e",
                        "ip.len")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        List<String> lines;
        try (var reader = process.inputReader()) {
            lines = reader.lines().toList();
        }
        assertThat(process.waitFor()).isZero();
        return lines;
    }

    @Test
    void whatACaptureHasCutIsNotOpened() throws IOException {
        Path file = folder.resolve("cut.pcap");
        byte[] whole = Files.readAllBytes(Path.of(CAPTURE));
        try (CaptureReader in = CaptureReader.open(Path.of(CAPTURE));
                CaptureWriter out = CaptureWriter.pcap(Files.newOutputStream(file), LinkType.ETHERNET)) {
            CapturedPacket packet = in.next();
            out.write(packet.nanos(), packet.bytes().asSlice(0, 80));
        }
        byte[] cut = Files.readAllBytes(file);
        // The second length of a record is that on the wire; both are little-endian.
        MemorySegment.copy(MemorySegment.ofArray(whole), 24 + 12, MemorySegment.ofArray(cut), 24 + 12, 4);
        Files.write(file, cut);

        assertThat(Cli.run("decode", "--keys", KEYS, file.toString()).outLines())
                .first()
                .asString()
                .contains("PSP spi 0x9a345678  iv 1 ")
                .endsWith("  | 280  cut short by the capture");
    }

    @Test
    void anotherPortIsAnOption() throws IOException {
        Path file = folder.resolve("port.pcap");
        byte[] bytes = Files.readAllBytes(Path.of(CAPTURE));
        int port = 24 + 16 + 14 + 20 + 2; // of the first packet
        bytes[port] = 17;
        bytes[port + 1] = 24;
        Files.write(file, bytes);

        assertThat(Cli.run("decode", "--keys", KEYS, "--psp-port", "4376", file.toString())
                        .outLines())
                .last()
                .isEqualTo("of PSP: 1 opened");
        assertThat(Cli.run("decode", "--keys", KEYS, file.toString()).outLines())
                .last()
                .isEqualTo("of PSP: 12 opened");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            9a345678                    | SPI KEY, master0 KEY or master1 KEY
            9a345678 00 11              | SPI KEY, master0 KEY or master1 KEY
            9a345678 0x                 | a key is hexadecimal
            9a345678 0011               | a key of an SPI has 16 or 32 bytes, not 2
            master1 0011                | a master key has 32 bytes, not 2
            80000000 00000000000000000000000000000000 | an SPI has up to 8 hexadecimal digits, whose low 31 bits are not all zero; got '80000000'
            master2 00000000000000000000000000000000 | an SPI has up to 8 hexadecimal digits, whose low 31 bits are not all zero; got 'master2'
            """)
    void aMistakeInTheFileOfKeysIsTold(String line, String message) throws IOException {
        Path keys = folder.resolve("keys");
        Files.writeString(keys, "\n" + line.strip());

        assertThat(Cli.run("decode", "--keys", keys.toString(), CAPTURE).error())
                .contains("--keys: line 2 of " + keys + ": " + message);
    }

    @Test
    void filesThatCannotBeUsedAreNamed() throws IOException {
        assertThat(Cli.run("decode", "--keys", folder.resolve("none").toString(), CAPTURE)
                        .error())
                .contains("--keys: there is no ");
        Path copy = folder.resolve("copy.pcap");
        Files.copy(Path.of(CAPTURE), copy);
        assertThat(Cli.run("decode", "--write-clear", copy.toString(), copy.toString())
                        .error())
                .contains("--write-clear: " + copy + " is the capture that is read");
        assertThat(Files.mismatch(copy, Path.of(CAPTURE))).isEqualTo(-1);
    }
}
