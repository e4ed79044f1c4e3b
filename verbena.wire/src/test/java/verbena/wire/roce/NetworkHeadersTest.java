package verbena.wire.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.Frames;
import verbena.wire.Golden;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Grh;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CaptureWriter;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.Envelope;
import verbena.wire.pcap.LinkType;
import verbena.wire.pcap.Unwrapped;

/// The headers that Verbena writes itself, against bytes of others: the packets that soft-RoCE has sent, an
/// example of hardware, and what tshark and scapy find.
class NetworkHeadersTest {
    private static final long SOURCE = 0x02AA_0000_0001L;
    private static final long DESTINATION = 0x02BB_0000_0002L;

    private record Roce(MemorySegment captured, Frame frame, Envelope envelope) {}

    private static List<Roce> golden() throws IOException {
        var all = new ArrayList<Roce>();
        var encapsulation = new Encapsulation();
        for (Path file : Golden.captures("rc-", "uc-", "ud-", "mcast-", "cm-")) {
            try (var reader = CaptureReader.open(file)) {
                for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                    Frame frame = Frames.empty();
                    if (encapsulation.unwrap(packet.linkType(), packet.bytes(), frame)
                            instanceof Unwrapped.Roce(Envelope envelope)) {
                        all.add(new Roce(packet.bytes(), frame, envelope));
                    }
                }
            }
        }
        assertThat(all.size()).isGreaterThan(400);
        return all;
    }

    /// A whole Ethernet frame, as the link makes it.
    private static MemorySegment wrap(NetworkHeaders headers, Frame frame, int tag) {
        headers.seal(frame);
        headers.write(frame);
        int before = headers.bytes(frame) + Ethernet.bytes(tag);
        Ethernet.write(frame.slot, frame.start - before, DESTINATION, SOURCE, tag, headers.etherType(frame));
        byte[] bytes =
                frame.slot.asSlice(frame.start - before, before + frame.length).toArray(ValueLayout.JAVA_BYTE);
        return Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    /// IBTA 8.3 and A16.3: a WRITE of another stack, with the GRH around it.
    @Test
    void aFrameOfRoceV1IsThatOfTheStandard() {
        Frame frame = Frames.ipv4(Frames.of("""
                        0a70ffff0000010a80a788bc 000055d4c0726000 000047b3 00000005
                        0000000001 000000 e3d856bb
                        """), 0x0F000002, 0x0F000002, 0);
        frame.trafficClass = 0x6B;
        frame.hopLimit = 0x40;
        String before = Frames.hex(frame.packet());
        assertThat(Frames.hex(wrap(new GrhHeaders(), frame, Ethernet.NO_TAG)))
                .isEqualTo("02bb00000002" + "02aa00000001" + "8915"
                        + "66b00000" + "0028" + "1b" + "40"
                        + "00000000000000000000ffff0f000002".repeat(2)
                        + before);
    }

    @Test
    void whatSoftRoceSendsIsReadAsTheCaptureReaderReadsIt() throws IOException {
        var headers = new UdpHeaders(0);
        for (Roce packet : golden()) {
            MemorySegment bytes = packet.captured;
            Frame read = Frames.empty();
            int start = headers.read(
                    Ethernet.type(bytes, 0), bytes, Ethernet.BYTES, (int) packet.captured.byteSize(), read);
            assertThat(start).isEqualTo(Ethernet.BYTES + headers.bytes(packet.frame));
            MemorySegment.copy(bytes, start, read.slot, read.start, read.length);
            assertThat(Frames.hex(read.packet())).isEqualTo(Frames.hex(packet.frame.packet()));
            assertThat(read)
                    .usingRecursiveComparison()
                    .comparingOnlyFields(
                            "sourceHigh",
                            "sourceLow",
                            "destinationHigh",
                            "destinationLow",
                            "sourcePort",
                            "trafficClass",
                            "hopLimit",
                            "local.isRoceV1")
                    .isEqualTo(packet.frame);
            assertThat(headers.verify(read)).isTrue();
        }
    }

    /// Soft-RoCE numbers its IPv4 packets, and leaves "don't fragment" away in datagrams. Otherwise not a byte
    /// differs.
    @Test
    void whatWeSendIsWhatSoftRoceSends() throws IOException {
        var headers = new UdpHeaders(0);
        int equal = 0;
        for (Roce packet : golden()) {
            byte[] theirs = packet.captured.toArray(ValueLayout.JAVA_BYTE);
            boolean isIpv4 = RoceV2.isIpv4(packet.frame.destinationHigh, packet.frame.destinationLow);
            if (packet.envelope.flowLabel() == 0 && (!isIpv4 || packet.envelope.ipv4FlagsFragment() != 0)) {
                byte[] ours = wrap(headers, packet.frame, Ethernet.NO_TAG).toArray(ValueLayout.JAVA_BYTE);
                for (byte[] each : List.of(ours, theirs)) {
                    Arrays.fill(each, 0, 12, (byte) 0); // the addresses of Ethernet
                    if (isIpv4) {
                        Arrays.fill(each, 18, 20, (byte) 0);
                        Arrays.fill(each, 24, 26, (byte) 0); // the checksum
                        Arrays.fill(each, each.length - 4, each.length, (byte) 0); // the ICRC
                    }
                }
                assertThat(ours).isEqualTo(theirs);
                equal++;
            }
        }
        assertThat(equal).isGreaterThan(300);
    }

    @Test
    void everyGoldenPacketSurvivesRoceV1() throws IOException {
        var headers = new GrhHeaders();
        var encapsulation = new Encapsulation();
        Frame again = Frames.empty();
        for (Roce packet : golden()) {
            MemorySegment bytes = wrap(headers, packet.frame, Ethernet.tag(5, 3));
            Unwrapped unwrapped = encapsulation.unwrap(LinkType.ETHERNET, bytes, again);
            assertThat(unwrapped).isInstanceOf(Unwrapped.Roce.class);
            assertThat(again.icrcValid).isTrue();
            assertThat(Frames.hex(again.packet())).isEqualTo(Frames.hex(packet.frame.packet()));

            int start = headers.read(RoceV1.ETHER_TYPE, bytes, 18, (int) bytes.byteSize(), again);
            assertThat(start).isEqualTo(18 + Grh.BYTES);
            // Judged where it lies: what stands before it is untouched.
            Frame view = Frames.empty();
            view.copyWay(again);
            MemorySegment memory = Arena.ofAuto().allocate(2L * Frame.SLOT_BYTES);
            MemorySegment.copy(bytes, 0, memory, Frame.HEADROOM, bytes.byteSize());
            view.view(memory, memory.asByteBuffer().order(java.nio.ByteOrder.LITTLE_ENDIAN), Frame.HEADROOM + start);
            view.length = again.length;
            assertThat(headers.verify(view)).isTrue();
            assertThat(memory.asSlice(Frame.HEADROOM, bytes.byteSize()).mismatch(bytes))
                    .isEqualTo(-1);
        }
    }

    @Test
    void addressesAreMadeAsTheStandardsSay() {
        // RFC 4291, appendix A: the example, as a link-local address.
        assertThat(Ethernet.interfaceId(0x3456_789A_BCDEL)).isEqualTo(0x3656_78FF_FE9A_BCDEL);
        assertThat(Ethernet.isOfMac(0xFE80_0000_0000_0000L, 0x3656_78FF_FE9A_BCDEL))
                .isTrue();
        assertThat(Ethernet.macOf(0x3656_78FF_FE9A_BCDEL)).isEqualTo(0x3456_789A_BCDEL);
        assertThat(Ethernet.isOfMac(0xFE80_0000_0000_0000L, 0x1234_5678_9ABC_DEF0L))
                .isFalse();
        assertThat(Ethernet.isOfMac(0xFD00_0000_0000_0000L, 0x3656_78FF_FE9A_BCDEL))
                .isFalse();
        // RFC 2464, 7, and RFC 1112, 6.4: of IPv4 only 23 bits.
        assertThat(Ethernet.groupMac(0xFF02_0000_0000_0000L, 0x0001_FF28_9C5AL)).isEqualTo(0x3333_FF28_9C5AL);
        assertThat(Ethernet.groupMac(0, 0xFFFF_E0AB_CDEFL)).isEqualTo(0x0100_5E2B_CDEFL);
        assertThat(Ethernet.isGroup(0x0100_5E2B_CDEFL)).isTrue();
        assertThat(Ethernet.isGroup(0x3456_789A_BCDEL)).isFalse();
    }

    // ---- programs that others have written

    private static Path export(Path folder, boolean isRoceV1) throws IOException {
        Path file = folder.resolve("frames.pcapng");
        NetworkHeaders headers = isRoceV1 ? new GrhHeaders() : new UdpHeaders(0);
        try (var capture = CaptureWriter.pcapng(Files.newOutputStream(file), LinkType.ETHERNET)) {
            int n = 0;
            for (Roce packet : golden()) {
                packet.frame.sourcePort = 0;
                int tag = n++ % 2 == 0 ? Ethernet.NO_TAG : Ethernet.tag(100, 5);
                capture.write(n, wrap(headers, packet.frame, tag));
            }
        }
        return file;
    }

    @Test
    void tsharkReadsTheSameFields(@TempDir Path folder) throws Exception {
        assumeTrue(works("tshark", "--version"), "tshark is not installed");
        for (boolean isRoceV1 : new boolean[] {true, false}) {
            Path file = export(folder, isRoceV1);
            String said = output(
                    folder,
                    "tshark -r %s -T fields -e vlan.id -e vlan.priority -e infiniband.bth.opcode -e infiniband.bth.psn -e infiniband.grh.tclass"
                            .formatted(file)
                            .split(" "));
            var expected = new ArrayList<String>();
            for (Roce packet : golden()) {
                Frame frame = packet.frame;
                expected.add((expected.size() % 2 == 0 ? "\t" : "100\t5")
                        + "\t" + BigEndian.u8(frame.slot, frame.start)
                        + "\t" + Bth.psn(frame.slot, frame.start)
                        + "\t" + (isRoceV1 ? String.valueOf(frame.trafficClass) : ""));
            }
            assertThat(said.lines().map(NetworkHeadersTest::plain)).isEqualTo(expected);
        }
    }

    /// tshark shows some numbers with zeros in front.
    private static String plain(String line) {
        return line.replaceAll("\\b0+(?=\\d)", "");
    }

    /// Scapy knows the layers of both kinds, and the ICRC of RoCE v2 over IPv4. That of RoCE v1 is a few lines
    /// after the standard's text (IBTA A16.5.1), with Python's CRC.
    private static final String SCAPY = """
            import sys
            from zlib import crc32
            from scapy.all import Ether, RawPcapNgReader, IP, raw
            from scapy.contrib.roce import BTH, GRH
            equal = 0
            for data, _ in RawPcapNgReader(sys.argv[1]):
                packet = Ether(data)
                if GRH in packet:
                    grh = packet[GRH]
                    assert grh.ipver == 6 and grh.nexthdr == 27, data.hex()
                    whole = bytearray(data[-grh.paylen - 40:])
                    whole[0:4] = b"\\x6f\\xff\\xff\\xff"
                    whole[7] = 0xff
                    whole[44] = 0xff
                    icrc = crc32(b"\\xff" * 8 + bytes(whole[:-4])).to_bytes(4, "little")
                elif IP in packet:
                    icrc = packet[BTH].compute_icrc(None)
                else:
                    continue
                if icrc != data[-4:]:
                    sys.exit("ICRC of " + data.hex())
                equal += 1
            print(equal)
            """;

    @Test
    void scapyComputesTheSameIcrc(@TempDir Path folder) throws Exception {
        String python = Files.isExecutable(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";
        assumeTrue(works(python, "-c", "import scapy.contrib.roce"), "scapy is not installed");
        Path script = Files.writeString(folder.resolve("icrc.py"), SCAPY);
        for (boolean isRoceV1 : new boolean[] {true, false}) {
            String said = output(
                    folder, python, script.toString(), export(folder, isRoceV1).toString());
            long equal = Long.parseLong(said.strip().lines().toList().getLast());
            assertThat(equal).isGreaterThan(isRoceV1 ? 400 : 300);
        }
    }

    private static String output(Path folder, String... command) throws Exception {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(folder.resolve("errors").toFile())
                .start();
        assertThat(process.waitFor())
                .as(Files.readString(folder.resolve("errors")))
                .isZero();
        return Files.readString(output, StandardCharsets.UTF_8);
    }

    private static boolean works(String... command) {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }
}
