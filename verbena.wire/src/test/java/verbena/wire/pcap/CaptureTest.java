package verbena.wire.pcap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.wire.Frame;
import verbena.wire.Frames;
import verbena.wire.Golden;

/// Capture files and the headers around a packet in them.
class CaptureTest {
    private static final long NANOS = 1_795_000_000_123_456_789L;

    private interface Start {
        CaptureWriter writer(OutputStream out, int linkType) throws IOException;
    }

    private static final String PCAPNG_BIG_ENDIAN = """
            0a0d0d0a 00000020 1a2b3c4d 00010000 ffffffffffffffff 00000000 00000020
            00000001 00000020 0001 0000 00000000 0009 0001 06000000 00000000 00000020
            0000000b 00000010 cafebabe 00000010
            00000006 00000024 00000000 00000000 000f4241 00000003 00000009 aabbcc00 00000024
            00000003 00000014 00000004 11223344 00000014
            """;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsWrittenIsReadBack(boolean pcapng) throws IOException {
        byte[] file = write(pcapng ? CaptureWriter::pcapng : CaptureWriter::pcap, "010203", "", "0a0b0c0d0e");
        List<CapturedPacket> packets = read(file);
        assertThat(packets).extracting(p -> Frames.hex(p.bytes())).containsExactly("010203", "", "0a0b0c0d0e");
        assertThat(packets).extracting(CapturedPacket::nanos).containsExactly(NANOS, NANOS, NANOS);
        assertThat(packets).allMatch(p -> p.linkType() == LinkType.ETHERNET && !p.isTruncated());
    }

    @Test
    void bigEndianSectionsUnknownBlocksAndSimplePacketsAreRead() throws IOException {
        List<CapturedPacket> packets = read(Frames.bytes(PCAPNG_BIG_ENDIAN));
        assertThat(packets).extracting(p -> Frames.hex(p.bytes())).containsExactly("aabbcc", "11223344");
        assertThat(packets.getFirst().nanos()).isEqualTo(1_000_001_000);
        assertThat(packets.getFirst().isTruncated()).isTrue();
        assertThat(packets.getFirst().originalBytes()).isEqualTo(9);
    }

    @Test
    void anotherSectionMayHaveAnotherByteOrderAndForgetsTheInterfaces() throws IOException {
        byte[] little = write(CaptureWriter::pcapng, "0102");
        byte[] both = concat(Frames.bytes(PCAPNG_BIG_ENDIAN), little);
        assertThat(read(both)).extracting(p -> Frames.hex(p.bytes())).containsExactly("aabbcc", "11223344", "0102");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFileCutShortAtAnyLengthGivesWholePacketsAndThenOneException(boolean pcapng) throws IOException {
        byte[] file = write(pcapng ? CaptureWriter::pcapng : CaptureWriter::pcap, "0102030405", "06070809");
        int failures = 0;
        for (int length = 0; length < file.length; length++) {
            byte[] cut = Arrays.copyOf(file, length);
            try {
                assertThat(read(cut)).hasSizeLessThan(2);
            } catch (CaptureException e) {
                assertThat(e.position()).isBetween(0L, (long) length);
                failures++;
            }
        }
        assertThat(failures).isGreaterThan(file.length - 5);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            neither pcap nor pcapng   | 00112233
            without byte order        | 0a0d0d0a 00000020 11111111
            a block of 13 bytes       | 0a0d0d0a 1c000000 4d3c2b1a 01000000 ffffffffffffffff 1c000000 06000000 0d000000
            of which nothing was said | 0a0d0d0a 1c000000 4d3c2b1a 01000000 ffffffffffffffff 1c000000 06000000 20000000 00000000 00000000 00000000 00000000 00000000 20000000
            ends as one of            | 0a0d0d0a 1c000000 4d3c2b1a 01000000 ffffffffffffffff 20000000
            a packet of 4294967295    | d4c3b2a1 02000400 00000000 00000000 ffff0000 01000000 00000000 00000000 ffffffff ffffffff
            a packet of 262145 bytes  | d4c3b2a1 02000400 00000000 00000000 ffff0000 01000000 00000000 00000000 01000400 01000400
            """)
    void damageIsOneExceptionThatSaysWhatAndWhere(String what, String file) {
        assertThatThrownBy(() -> read(Frames.bytes(file)))
                .isInstanceOf(CaptureException.class)
                .hasMessageStartingWith("capture, byte ")
                .hasMessageContaining(what);
    }

    @Test
    void aBlockThatSaysItIsHugeCostsNoMemory() {
        String file = """
                0a0d0d0a 1c000000 4d3c2b1a 01000000 ffffffffffffffff 1c000000
                77777777 fcffffff 00000000
                """;
        assertThatThrownBy(() -> read(Frames.bytes(file))).isInstanceOf(CaptureException.class);
    }

    /// Files with a few bytes changed: packets or the one exception, and unwrapping never fails at all.
    @Test
    void damagedFilesOnlyGiveTheDeclaredException() throws IOException {
        byte[] pcap = Files.readAllBytes(Golden.root().resolve("golden/rc-atomic.pcap"));
        byte[] pcapng = rewrite(pcap);
        var random = new Random(11);
        Frame frame = Frames.empty();
        var encapsulation = new Encapsulation();
        int damaged = 0;
        for (int i = 0; i < 40_000; i++) {
            byte[] file = (i % 2 == 0 ? pcap : pcapng).clone();
            for (int n = 1 + random.nextInt(4); n > 0; n--) {
                file[random.nextInt(file.length)] = (byte) random.nextInt();
            }
            try {
                for (CapturedPacket packet : read(file)) {
                    encapsulation.unwrap(packet.linkType(), packet.bytes(), frame);
                }
            } catch (CaptureException e) {
                damaged++;
            }
        }
        assertThat(damaged).isBetween(1_000, 39_000);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            1   | Ethernet                | 0200000000010200000000020800
            1   | Ethernet with a VLAN    | 020000000001020000000002 8100 0064 0800
            1   | Ethernet with two VLANs | 020000000001020000000002 88a8 0064 8100 0065 0800
            101 | raw IP                  |
            228 | raw IPv4                |
            113 | cooked                  | 0000 0001 0006 0200000000010000 0800
            276 | cooked, version 2       | 0800 0000 00000002 0001 00 06 0200000000010000
            1   | Ethernet with another VLAN | 020000000001020000000002 9100 0064 8100 0065 0800
            1   | Ethernet with LLC and SNAP | 020000000001020000000002 0048 aaaa03 000000 0800
            1   | Ethernet with MPLS      | 020000000001020000000002 8847 00064040 00065140
            1   | Ethernet with PPPoE     | 020000000001020000000002 8864 1100 0001 0042 0021
            0   | loopback, big-endian    | 00000002
            0   | loopback, little-endian | 02000000
            108 | loopback of OpenBSD     | 00000002
            9   | PPP                     | 0021
            9   | PPP with address        | ff03 0021
            9   | PPP, compressed         | 21
            50  | PPP in HDLC             | ff03 0021
            50  | HDLC of Cisco as PPP    | 0f00 0800
            51  | PPP over Ethernet       | 1100 0001 0042 0021
            104 | HDLC of Cisco           | 0f00 0800
            12  | raw IP of BSD           |
            14  | raw IP of OpenBSD       |
            197 | ERF of Ethernet         | 0000000000000000 02 04 0060 0000 0050 0000 020000000001020000000002 0800
            197 | ERF with an extension   | 0000000000000000 82 04 0068 0000 0050 0000000000000000 0000 020000000001020000000002 0800
            197 | ERF of IPv4             | 0000000000000000 16 04 0050 0000 0040
            101 | GRE                     | 4500 0058 0000 4000 40 2f 0000 0a000001 0a000002 0000 0800
            101 | GRE with checksum, key and number | 4500 0064 0000 4000 40 2f 0000 0a000001 0a000002 b000 0800 00000000 00000001 00000002
            101 | GRE of Ethernet         | 4500 0066 0000 4000 40 2f 0000 0a000001 0a000002 0000 6558 020000000001020000000002 0800
            101 | IP in IP                | 4500 0054 0000 4000 40 04 0000 0a000001 0a000002
            101 | VXLAN                   | 4500 0072 0000 4000 40 11 0000 0a000001 0a000002 c000 12b5 005e 0000 0800000000000100 020000000001020000000002 0800
            113 | cooked, with a VLAN     | 0000 0001 0006 0200000000010000 8100 0064 0800
            276 | cooked, version 2, with a VLAN | 8100 0000 00000002 0001 00 06 0200000000010000 0064 0800
            101 | GRE of MPLS             | 4500 005c 0000 4000 40 2f 0000 0a000001 0a000002 0000 8847 00065140
            101 | ERSPAN, version 1       | 4500 0066 0000 4000 40 2f 0000 0a000001 0a000002 0000 88be 020000000001020000000002 0800
            101 | ERSPAN, version 2       | 4500 0072 0000 4000 40 2f 0000 0a000001 0a000002 1000 88be 00000001 1001000100000000 020000000001020000000002 0800
            101 | ERSPAN, version 3       | 4500 0076 0000 4000 40 2f 0000 0a000001 0a000002 1000 22eb 00000001 200100010000000000000000 020000000001020000000002 0800
            101 | ERSPAN, version 3, with a part of a platform | 4500 007e 0000 4000 40 2f 0000 0a000001 0a000002 1000 22eb 00000001 200100010000000000000001 0c00000000000000 020000000001020000000002 8100 0064 0800
            101 | VXLAN, extended, of IP  | 4500 0064 0000 4000 40 11 0000 0a000001 0a000002 c000 12b6 0050 0000 0c00000100000100
            101 | VXLAN, extended         | 4500 0072 0000 4000 40 11 0000 0a000001 0a000002 c000 12b6 005e 0000 0c00000300000100 020000000001020000000002 0800
            101 | MPLS in UDP             | 4500 0060 0000 4000 40 11 0000 0a000001 0a000002 c000 19eb 004c 0000 00065140
            101 | IP in IPv6 with options of Linux | 60000000 0048 3c 40 fd000000000000000000000000000001 fd000000000000000000000000000002 0400 0401 0401 0100
            101 | IP behind AH            | 4500 006c 0000 4000 40 33 0000 0a000001 0a000002 0404 0000 00000001 00000001 000000000000000000000000
            101 | Geneve                  | 4500 0076 0000 4000 40 11 0000 0a000001 0a000002 c000 17c1 0062 0000 0100655800000100 01020000 020000000001020000000002 0800
            1   | Ethernet with MACsec in the clear | 02000000000102000000000288e5 00 00 00000001 0800
            1   | Ethernet with MACsec in the clear and its channel | 02000000000102000000000288e5 20 00 00000001 0200000000020001 8100 0064 0800
            1   | Ethernet with TRILL | 02000000000102000000000222f3 003f 0001 00020200000000010200000000020800
            1   | Ethernet with TRILL and options | 02000000000102000000000222f3 007f 0001 0002 000000000200000000010200000000020800
            1   | Ethernet with NSH of IP | 020000000001020000000002894f 0fc6 01 01 000001ff00000000000000000000000000000000
            1   | Ethernet with NSH of Ethernet | 020000000001020000000002894f 0fc2 02 03 000001ff0200000000010200000000020800
            1   | Ethernet with NSH of MPLS | 020000000001020000000002894f 0fc2 02 05 000001ff 00065140
            1   | Ethernet in Ethernet (802.1ah) | 02000000000102000000000288a8 0064 88e7 000000640200000000010200000000020800
            1   | Ethernet with HSR | 020000000001020000000002892f 0046 0001 0800
            1   | Ethernet with 802.1CB | 020000000001020000000002f1c1 0000 0001 0800
            1   | Ethernet with VNTAG | 0200000000010200000000028926 00000000 0800
            1   | Ethernet with 802.1BR | 020000000001020000000002893f 0000 0001 0000 0800
            1   | Ethernet with Cisco's metadata | 0200000000010200000000028909 01 01 0001 0064 0800
            1   | batman-adv to one node | 0200000000010200000000024305 40 0f 32 01 0200000000030200000000010200000000020800
            1   | batman-adv to one node, from a gateway | 0200000000010200000000024305 42 0f 32 01 020000000003 020000000004 01 000200000000010200000000020800
            1   | batman-adv to all | 0200000000010200000000024305 01 0f 32 00 00000001 0200000000040200000000010200000000020800
            9   | PPP of MPLS | ff03 0281 00065140
            9   | PPP of MPLS, compressed | 0283 00065140
            104 | HDLC of Cisco, of MPLS | 0f00 8847 00065140
            101 | Ethernet in IP | 4500006400004000406100000a0000010a00000230000200000000010200000000020800
            101 | Ethernet in IP of segment routing | 4500006200004000408f00000a0000010a0000020200000000010200000000020800
            101 | MPLS in IP | 4500005800004000408900000a0000010a00000200065140
            101 | GTP-U | 4500006400004000401100000a0000010a000002c00008680050000030ff004000000001
            101 | GTP-U with extensions | 4500006c00004000401100000a0000010a000002c00008680058000034ff0048000000010000008501000000
            101 | GTP-U with a number | 4500006800004000401100000a0000010a000002c00008680054000032ff00440000000100070085
            101 | LISP | 4500006400004000401100000a0000010a000002c00010f5005000008000000100000001
            101 | VXLAN, extended, of NSH | 4500006c00004000401100000a0000010a000002c00012b6005800000c000004000001000fc20201000001ff
            101 | VXLAN, extended, of MPLS | 4500006800004000401100000a0000010a000002c00012b6005400000c0000050000010000065140
            """)
    void everyLinkTypeIsTakenApartAndRebuilt(int linkType, String name, String linkHeader) {
        String packet = """
                45010040047840004011b4d5c0a80007c0a80007 c00012b7002caca2
                2460ffff000000d300cf1710 4630818be28935d90e9a95505401be885e500000 78f353f3
                """;
        byte[] bytes = Frames.bytes((linkHeader == null ? "" : linkHeader) + packet);
        Frame frame = Frames.empty();
        Unwrapped unwrapped = new Encapsulation().unwrap(linkType, MemorySegment.ofArray(bytes), frame);
        assertThat(unwrapped).as(name).isInstanceOf(Unwrapped.Roce.class);
        assertThat(frame.icrcValid).isTrue();
        assertThat(frame.trafficClass).isEqualTo(1);
        assertThat(frame.hopLimit).isEqualTo(64);
        byte[] rebuilt = new byte[bytes.length];
        if (unwrapped instanceof Unwrapped.Roce(Envelope envelope)) {
            assertThat(Encapsulation.wrap(frame, envelope, MemorySegment.ofArray(rebuilt)))
                    .isEqualTo(bytes.length);
        }
        assertThat(rebuilt).isEqualTo(bytes);
    }

    @Test
    void rocev1IsTakenApartAndRebuilt() {
        byte[] bytes = Frames.bytes("""
                020000000001 020000000002 8915
                6020000000281b40 00000000000000000000ffff0f000002 00000000000000000000ffff0f000002
                0a70ffff0000010a80a788bc 000055d4c0726000000047b300000005 0000000001 000000 e3d856bb
                """);
        Frame frame = Frames.empty();
        Unwrapped unwrapped = new Encapsulation().unwrap(LinkType.ETHERNET, MemorySegment.ofArray(bytes), frame);
        assertThat(unwrapped).isInstanceOf(Unwrapped.Roce.class);
        assertThat(frame.icrcValid).isTrue();
        byte[] rebuilt = new byte[bytes.length];
        if (unwrapped instanceof Unwrapped.Roce(Envelope envelope)) {
            Encapsulation.wrap(frame, envelope, MemorySegment.ofArray(rebuilt));
        }
        assertThat(rebuilt).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            UNKNOWN_LINK_TYPE | 147 | | 4500
            OTHER_PROTOCOL    | 1   | ARP (EtherType 0x0806) | 020000000001 020000000002 0806 0001
            OTHER_PROTOCOL    | 1   | EtherType 0x88b5 | 020000000001 020000000002 88b5 0001
            OTHER_PROTOCOL    | 1   | MACsec, encrypted (EtherType 0x88e5) | 020000000001 020000000002 88e5 2c 00 00000001 0200000000020001 5a5a5a5a
            OTHER_PROTOCOL    | 1   | NSH without IP, Ethernet or MPLS (EtherType 0x894f) | 020000000001 020000000002 894f 0fc2 02 06 000001ff 5a5a
            OTHER_PROTOCOL    | 1   | batman-adv without a whole frame (EtherType 0x4305) | 020000000001 020000000002 4305 41 0f 32 01
            OTHER_PROTOCOL    | 1   | LLC without SNAP | 020000000001 020000000002 0010 4242 03
            OTHER_PROTOCOL    | 1   | more than eight tags | 020000000001 020000000002 81000064 81000064 81000064 81000064 81000064 81000064 81000064 81000064 81000064 8100
            OTHER_PROTOCOL    | 1   | neither IPv4 nor IPv6 in MPLS, a tunnel or raw IP | 020000000001 020000000002 8847 00065140 00000000
            OTHER_PROTOCOL    | 1   | IP of another version | 020000000001 020000000002 0800 7500001c000040004011b4d5c0a80007c0a80007
            OTHER_PROTOCOL    | 1   | InfiniBand without a BTH | 020000000001 020000000002 8915 6020000000281140 00000000000000000000ffff0f000002 00000000000000000000ffff0f000002
            OTHER_PROTOCOL    | 9   | protocol 0xc021 of PPP | c021 0101 0004
            OTHER_PROTOCOL    | 0   | address family 7 | 00000007 4500
            OTHER_PROTOCOL    | 101 | IP of another version | 45000018000040004004b4d5c0a80007c0a80007 6000000000000000 0000000000000000 00000000
            TRUNCATED         | 0   | | 0000
            TRUNCATED         | 197 | | 0000000000000000 82 04 0068 0000 0050 80
            TRUNCATED         | 1   | | 020000000001 020000000002 8847 00064040
            TRUNCATED         | 1   | | 020000000001 020000000002 88e5 20 00 00000001 0200
            TRUNCATED         | 1   | | 020000000001 020000000002 22f3 003f 0001
            TRUNCATED         | 1   | | 020000000001 020000000002 894f 0fc2 02 03
            TRUNCATED         | 1   | | 020000000001 020000000002 4305
            TRUNCATED         | 1   | | 020000000001 020000000002 88e7 0000
            TRUNCATED         | 101 | | 45000018000040004004b4d5c0a80007c0a80007
            TRUNCATED         | 101 | | 45000019000040004033b4d5c0a80007c0a80007 04
            TRUNCATED         | 101 | | 4500001e00004000402fb4d5c0a80007c0a80007 100022eb 00000001 2001
            TRUNCATED         | 101 | | 45000030000040004011b4d5c0a80007c0a80007 c0000868001c0000 34ff001000000001 00000085 02
            OTHER_PORT        | 101 | IP with extension headers (IP protocol 60) | 4500002400004000403cb4d5c0a80007c0a80007 3c00000000000000 1100000000000000
            OTHER_PORT        | 101 | ESP, encrypted (IP protocol 50) | 45000020000040004032b4d5c0a80007c0a80007 0000000100000001 5a5a5a5a
            OTHER_PORT        | 101 | IP protocol 200 | 450000200000400040c8b4d5c0a80007c0a80007 0000000100000001 5a5a5a5a
            OTHER_PORT        | 101 | GTP-U without data of a user (UDP port 2152) | 45000024000040004011b4d5c0a80007c0a80007 c000086800100000 3201000400000000
            OTHER_PORT        | 101 | WireGuard, encrypted (UDP port 51820) | 45000024000040004011b4d5c0a80007c0a80007 c000ca6c00100000 0400000000000000
            UNKNOWN_LINK_TYPE | 197 | | 0000000000000000 05 04 0068 0000 0050 80
            OTHER_PORT        | 101 | TCP that no host takes | 45000018000040004006b4d5c0a80007c0a80007 c00012b7
            OTHER_PORT        | 101 | UDP to other ports | 4500001c000040004011b4d5c0a80007c0a80007 c000003500080000
            FRAGMENT          | 101 | | 4500001c000020004011b4d5c0a80007c0a80007 c00012b700080000
            IPV4_OPTIONS      | 101 | | 46000020000040004011b4d5c0a80007c0a80007 01010101 c00012b700080000
            BAD_LENGTH        | 101 | | 4500001c000040004011b4d5c0a80007c0a80007 c00012b700090000
            TOO_SHORT         | 101 | | 4500001c000040004011b4d5c0a80007c0a80007 c00012b700080000
            TOO_LONG          | 101 | | 4500ffff000040004011b4d5c0a80007c0a80007 c00012b7ffeb0000
            TRUNCATED         | 101 | | 45000040000040004011b4d5c0a80007c0a80007 c00012b7002c0000
            """)
    void whatIsNoRocePacketHasAReasonAndAName(Unwrapped.Reason reason, int linkType, String name, String packet) {
        assertThat(new Encapsulation().unwrap(linkType, MemorySegment.ofArray(Frames.bytes(packet)), Frames.empty()))
                .isEqualTo(new Unwrapped.Other(reason, name == null ? "" : name));
    }

    /// A longest packet of nothing but wrappings has its end, too.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "020000000001 020000000002 6558",
                "020000000001 020000000002 88e7 00000064",
                "020000000001 020000000002 22f3 003f 0001 0002",
                "020000000001 020000000002 894f 0fc2 02 03 000001ff",
                "020000000001 020000000002 4305 40 0f 32 01 020000000003"
            })
    void framesInFramesAreLeftAfterTheFourth(String wrapping) {
        byte[] packet = Frames.bytes(wrapping.repeat(262_144 / Frames.bytes(wrapping).length));
        assertThat(new Encapsulation().unwrap(LinkType.ETHERNET, MemorySegment.ofArray(packet), Frames.empty()))
                .isEqualTo(new Unwrapped.Other(Unwrapped.Reason.OTHER_PROTOCOL, "more than four tunnels"));
    }

    private static byte[] write(Start start, String... packets) throws IOException {
        var out = new ByteArrayOutputStream();
        try (CaptureWriter writer = start.writer(out, LinkType.ETHERNET)) {
            for (String packet : packets) {
                writer.write(NANOS, MemorySegment.ofArray(Frames.bytes(packet)));
            }
        }
        return out.toByteArray();
    }

    private static byte[] rewrite(byte[] pcap) throws IOException {
        var out = new ByteArrayOutputStream();
        try (CaptureWriter writer = CaptureWriter.pcapng(out, LinkType.ETHERNET)) {
            for (CapturedPacket packet : read(pcap)) {
                writer.write(packet.nanos(), packet.bytes());
            }
        }
        return out.toByteArray();
    }

    private static List<CapturedPacket> read(byte[] file) throws IOException {
        var packets = new ArrayList<CapturedPacket>();
        try (var reader = CaptureReader.of(new ByteArrayInputStream(file))) {
            for (var packet = reader.next(); packet != null; packet = reader.next()) {
                packets.add(packet);
            }
        }
        return packets;
    }

    private static byte[] concat(byte[] a, byte[] b) {
        byte[] both = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }
}
