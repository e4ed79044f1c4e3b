package verbena.wire.psp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.wire.BigEndian;
import verbena.wire.Frames;
import verbena.wire.Golden;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;

/// What the reference program and an independent script have encrypted, opened and sealed again, byte for byte.
class PspGoldenTest {
    private static final Path FOLDER = Golden.root().resolve("golden/psp");
    private static final int LINK_BYTES = 14;
    private static final int ROOM_BEHIND = PspHeader.ICV_BYTES;

    /// A row of the table in `INDEX.md`.
    record Capture(String file, String clear, boolean isTunnel, int version, int offset, String remarks) {
        static Capture of(String row) {
            String[] cells = row.split(" *\\| *", -1);
            return new Capture(
                    cells[1],
                    cells[3],
                    cells[4].equals("tunnel"),
                    Integer.parseInt(cells[5]),
                    Integer.parseInt(cells[6]),
                    cells[10]);
        }

        /// Whether a sealer of ours would send it so: no cookie, no other extension, no flag.
        boolean isOurs() {
            return !file.contains("-vc") && !file.contains("-ext") && !file.contains("-flags");
        }

        @Override
        public String toString() {
            return file;
        }
    }

    /// What its receiver has done so far: an opener for each key.
    private final Map<String, PspOpener> openers = new HashMap<>();

    private final byte[] scratch = new byte[JdkPspCipher.SCRATCH_BYTES_MAX];

    static List<Capture> all() throws IOException {
        return Files.readAllLines(FOLDER.resolve("INDEX.md")).stream()
                .filter(line -> line.matches("\\| \\S+\\.pcap .*"))
                .map(Capture::of)
                .toList();
    }

    static List<Capture> good() throws IOException {
        return all().stream()
                .filter(capture -> !capture.file.startsWith("bad-"))
                .toList();
    }

    @Test
    void theTableHasEachFile() throws IOException {
        try (var files = Files.list(FOLDER)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".pcap")))
                    .hasSize(58)
                    .containsExactlyInAnyOrderElementsOf(
                            all().stream().map(Capture::file).toList());
        }
    }

    @ParameterizedTest
    @MethodSource("good")
    void everyPacketIsOpenedToTheClearOne(Capture capture) throws IOException {
        List<MemorySegment> clear = clear(capture);
        List<MemorySegment> sealed = frames(FOLDER.resolve(capture.file));
        assertThat(sealed).hasSameSizeAs(clear);
        for (int i = 0; i < sealed.size(); i++) {
            MemorySegment frame = sealed.get(i);
            long psp = PspIp.find(frame, LINK_BYTES, frame.byteSize(), PspHeader.UDP_PORT);
            assertThat(PspHeader.version(frame, psp)).isEqualTo(PspVersion.of(capture.version));
            assertThat(PspHeader.cryptOffset(frame, psp)).isEqualTo(capture.offset);
            assertThat(receive(frame)).isEqualTo(PspVerdict.ACCEPTED);
            long end = psp + PspIp.bytes(frame, psp) - PspHeader.ICV_BYTES;
            long start = PspIp.strip(frame, 0, LINK_BYTES, psp);
            assertThat(Frames.hex(frame.asSlice(start, end - start)))
                    .as("frame %d", i + 1)
                    .isEqualTo(Frames.hex(clear.get(i)));
        }
    }

    @ParameterizedTest
    @MethodSource("good")
    void theClearPacketsAreSealedToTheSameBytes(Capture capture) throws IOException {
        List<MemorySegment> clear = clear(capture);
        List<MemorySegment> sealed = frames(FOLDER.resolve(capture.file));
        for (int i = 0; i < sealed.size(); i++) {
            String expected = Frames.hex(sealed.get(i));
            MemorySegment made =
                    capture.isOurs() ? sealed(capture, clear.get(i), sealed.get(i)) : sealedAgain(sealed.get(i));
            assertThat(Frames.hex(made)).as("frame %d", i + 1).isEqualTo(expected);
        }
    }

    /// Seals a clear frame with the numbers of the golden one.
    private MemorySegment sealed(Capture capture, MemorySegment clear, MemorySegment golden) throws IOException {
        long psp = PspIp.find(golden, LINK_BYTES, golden.byteSize(), PspHeader.UDP_PORT);
        PspVersion version = PspVersion.of(capture.version);
        int spi = PspHeader.spi(golden, psp);
        var sealer = new PspSealer(
                spi, version, new JdkPspCipher(key(golden, psp), scratch), capture.offset, PspHeader.iv(golden, psp));
        long from = PspIp.ROOM_BEFORE;
        MemorySegment memory = MemorySegment.ofArray(new byte[(int) (from + clear.byteSize() + ROOM_BEHIND)]);
        MemorySegment.copy(clear, 0, memory, from, clear.byteSize());
        long start =
                PspIp.seal(memory, from, from + LINK_BYTES, capture.isTunnel, BigEndian.u16(golden, psp - 8), sealer);
        MemorySegment made = memory.asSlice(start, golden.byteSize());
        if (capture.file.contains("udp-checksum")) { // which ours does not write
            BigEndian.put16(made, psp - 2, BigEndian.u16(golden, psp - 2));
        }
        return made;
    }

    /// Opens a frame and seals its text again under its own header.
    private MemorySegment sealedAgain(MemorySegment golden) throws IOException {
        MemorySegment frame = MemorySegment.ofArray(Frames.bytes(Frames.hex(golden)));
        long psp = PspIp.find(frame, LINK_BYTES, frame.byteSize(), PspHeader.UDP_PORT);
        int bytes = PspIp.bytes(frame, psp);
        assertThat(receive(frame)).isEqualTo(PspVerdict.ACCEPTED);
        int clear = PspHeader.clearBytes(frame, psp, bytes, PspHeader.version(frame, psp));
        frame.asSlice(psp + bytes - PspHeader.ICV_BYTES, PspHeader.ICV_BYTES).fill((byte) 0);
        new JdkPspCipher(key(golden, psp), scratch)
                .seal(frame, psp + clear, frame, psp, clear, bytes - PspHeader.ICV_BYTES - clear);
        return frame;
    }

    /// What was done to each frame, and the verdict on it when all come one after the other.
    @ParameterizedTest
    @CsvSource(textBlock = """
            1,  ACCEPTED, untouched
            2,  REPEATED, the same again
            3,  REPEATED, outer time to live changed
            4,  REPEATED, outer ECN set
            5,  REPEATED, outer source port changed
            6,  ,         outer destination port 1001
            7,  FORGED,   last octet of the ICV flipped
            8,  FORGED,   first octet of the ICV flipped
            9,  FORGED,   first encrypted octet flipped
            10, FORGED,   last encrypted octet flipped
            11, FORGED,   IV flipped in its last bit
            12, FORGED,   SPI flipped in its last bit
            13, FORGED,   SPI flipped in its first bit
            14, FORGED,   next header 6
            15, FORGED,   length of the header 2
            16, FORGED,   crypt offset 1
            17, FORGED,   a reserved bit set
            18, FORGED,   sample bit set
            19, FORGED,   drop bit set
            20, LENGTH,   cookie bit set
            21, FORGED,   another version
            22, BAD,      version 15
            23, BAD,      the bit that is always one is not, well sealed
            24, LENGTH,   cookie bit without room, well sealed
            25, BAD,      an SPI whose low bits are zero, well sealed
            26, LENGTH,   crypt offset behind the text
            27, LENGTH,   length of the header 255
            28, LENGTH,   length of the header 0
            29, FORGED,   one octet cut from the end
            30, LENGTH,   UDP says one more than there is
            """)
    void eachBadFrameHasItsVerdict(int number, String verdict, String what) throws IOException {
        for (String file : List.of("bad-ipv4.pcap", "bad-ipv6.pcap")) {
            List<MemorySegment> frames = frames(FOLDER.resolve(file));
            openers.clear();
            MemorySegment frame = frames.get(number - 1);
            if (number == 2) {
                assertThat(receive(frames.getFirst())).isEqualTo(PspVerdict.ACCEPTED);
            }
            String before = Frames.hex(frame);
            boolean isOuterOnly = number >= 3 && number <= 5; // by itself it is good: PSP does not cover it
            PspVerdict found = receive(frame);
            assertThat(found == null ? null : found.name())
                    .as("%s frame %d: %s", file, number, what)
                    .isEqualTo(isOuterOnly ? "ACCEPTED" : verdict);
            if (found != PspVerdict.ACCEPTED) {
                assertThat(Frames.hex(frame)).isEqualTo(before);
                continue;
            }
            if (isOuterOnly) {
                assertThat(receive(frames.getFirst())).isEqualTo(PspVerdict.valueOf(verdict));
            }
        }
    }

    @Test
    void shortFramesHaveTheirVerdicts() throws IOException {
        var found = new ArrayList<PspVerdict>();
        for (MemorySegment frame : frames(FOLDER.resolve("bad-short.pcap"))) {
            found.add(receive(frame));
        }
        assertThat(found)
                .containsExactly(
                        PspVerdict.LENGTH,
                        PspVerdict.LENGTH,
                        PspVerdict.LENGTH,
                        PspVerdict.LENGTH,
                        PspVerdict.LENGTH,
                        PspVerdict.FORGED);
    }

    @Test
    void theIcvCountsWhereNothingIsEncrypted() throws IOException {
        List<MemorySegment> frames = frames(FOLDER.resolve("bad-nothing-encrypted.pcap"));

        assertThat(receive(frames.get(1))).isEqualTo(PspVerdict.FORGED);
        assertThat(receive(frames.get(2))).isEqualTo(PspVerdict.FORGED);
        assertThat(receive(frames.get(0))).isEqualTo(PspVerdict.ACCEPTED);
    }

    /// Frames with bytes that are not their own, cut anywhere: the search for PSP stays within them.
    @Test
    void anyBytesLeadToAnAnswer() throws IOException {
        var random = new Random(54);
        int stripped = 0;
        for (Capture capture : all()) {
            for (MemorySegment frame : frames(FOLDER.resolve(capture.file))) {
                for (int i = 0; i < 50; i++) {
                    byte[] bytes = frame.toArray(ValueLayout.JAVA_BYTE);
                    for (int changes = random.nextInt(4); changes > 0; changes--) {
                        bytes[LINK_BYTES + random.nextInt(60) % (bytes.length - LINK_BYTES)] =
                                (byte) random.nextInt(1 << random.nextInt(1, 9));
                    }
                    int kept = random.nextInt(4) == 0 ? random.nextInt(LINK_BYTES, bytes.length) : bytes.length;
                    MemorySegment changed = MemorySegment.ofArray(Arrays.copyOf(bytes, kept));
                    long psp = PspIp.find(changed, LINK_BYTES, kept, PspHeader.UDP_PORT);
                    assertThat(psp).isBetween((long) PspIp.BAD_LENGTH, (long) kept);
                    if (psp < 0 || psp + PspIp.bytes(changed, psp) > kept) {
                        continue;
                    }
                    int pspBytes = PspIp.bytes(changed, psp);
                    if (PspHeader.check(changed, psp, pspBytes) == PspVerdict.ACCEPTED) {
                        long start = PspIp.strip(changed, 0, LINK_BYTES, psp);
                        assertThat(start)
                                .isBetween((long) PspIp.NOT_IP, psp + pspBytes - LINK_BYTES - PspHeader.ICV_BYTES);
                        stripped++;
                    }
                }
            }
        }
        assertThat(stripped).isGreaterThan(5_000);
    }

    /// Null for a frame that is no PSP.
    private PspVerdict receive(MemorySegment frame) throws IOException {
        long psp = PspIp.find(frame, LINK_BYTES, frame.byteSize(), PspHeader.UDP_PORT);
        if (psp == PspIp.NOT_PSP) {
            return null;
        }
        if (psp == PspIp.BAD_LENGTH) {
            return PspVerdict.LENGTH;
        }
        int bytes = PspIp.bytes(frame, psp);
        PspVerdict form = PspHeader.check(frame, psp, bytes);
        if (form != PspVerdict.ACCEPTED) {
            return form;
        }
        PspVersion version = PspHeader.version(frame, psp);
        byte[] key = key(frame, psp);
        return openers.computeIfAbsent(
                        version + HexFormat.of().formatHex(key),
                        _ -> new PspOpener(version, new JdkPspCipher(key, scratch)))
                .open(frame, psp, bytes);
    }

    /// The receiver is told by the SPI: those of the specification's example, B's, else A.
    private static byte[] key(MemorySegment frame, long psp) throws IOException {
        int spi = PspHeader.spi(frame, psp);
        List<String> masters = Files.readAllLines(FOLDER.resolve("keys.txt")).stream()
                .filter(line -> line.startsWith("master"))
                .map(line -> line.substring(line.indexOf(" ") + 1))
                .toList();
        int receiver = switch (spi) {
            case 0x12345678, 0x9a345678 -> 0;
            case 0x80000b22, 0x00000b44 -> 2;
            default -> 1;
        };
        String master = masters.get(2 * receiver + PspHeader.masterKey(spi));
        return new PspMasterKey(Frames.bytes(master)).derive(spi, PspHeader.version(frame, psp));
    }

    /// The clear frames that were sealed: those that are long enough for the offset.
    private static List<MemorySegment> clear(Capture capture) throws IOException {
        long least = LINK_BYTES + 20 + 4L * capture.offset;
        return frames(Golden.root().resolve("golden").resolve(capture.clear)).stream()
                .filter(frame -> capture.offset < PspHeader.OFFSET_MAX || frame.byteSize() >= least)
                .toList();
    }

    private static List<MemorySegment> frames(Path file) throws IOException {
        var frames = new ArrayList<MemorySegment>();
        try (CaptureReader reader = CaptureReader.open(file)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                frames.add(packet.bytes());
            }
        }
        return frames;
    }
}
