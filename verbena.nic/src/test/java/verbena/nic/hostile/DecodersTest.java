package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.GoalRun;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Reth;
import verbena.wire.ib.Transport;
import verbena.wire.pcap.CaptureWriter;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.LinkType;
import verbena.wire.roce.RoceV2;

/// Goal N7: packets of all kinds with all kinds of values mean the same to decoders that the authors of
/// Verbena did not write. tshark reads the same fields; scapy, and a few lines after the standard's text,
/// compute the same ICRC.
class DecodersTest {
    /// The opcodes that tshark 4.0 can name.
    private static final List<Opcode> KNOWN = Arrays.stream(Opcode.values())
            .filter(opcode -> opcode.transport() == Transport.RC
                    || opcode.transport() == Transport.UC
                    || opcode.transport() == Transport.UD)
            .filter(opcode -> !opcode.isFlush() && !opcode.isAtomicWrite())
            .toList();

    private static final String[] FIELDS = {
        "bth.opcode",
        "bth.se",
        "bth.m",
        "bth.padcnt",
        "bth.tver",
        "bth.p_key",
        "bth.destqp",
        "bth.a",
        "bth.psn",
        "deth.q_key",
        "deth.srcqp",
        "reth.va",
        "reth.r_key",
        "reth.dmalen",
        "atomiceth.swapdt",
        "atomiceth.cmpdt",
        "aeth.syndrome",
        "aeth.msn",
        "atomicacketh.origremdt",
        "immdt",
        "ieth"
    };

    /// The protocols for which tshark might take a payload.
    private static final List<String> GUESSES =
            List.of("smc", "smb_direct", "rpcordma", "nvme-rdma", "lnet", "iser", "infiniband.eoib", "infiniband_sdp");

    @TempDir
    private Path folder;

    /// Makes packet after packet, the same for the same seed.
    private static final class Source {
        final Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        private final SplittableRandom chance = new SplittableRandom(GoalRun.seed());
        private final RoceV2 roce = new RoceV2();
        private int made;

        void next() {
            Opcode opcode = KNOWN.get(made++ % KNOWN.size());
            int bytes = payloadBytes(opcode);
            MemorySegment slot = frame.slot;
            // tshark guesses the protocol of a payload by its first bytes: they must match none that it knows.
            slot.asSlice(Frame.HEADROOM, Bth.BYTES + 64L + bytes).fill((byte) 0x55);
            int flags = chance.nextInt();
            Bth.write(
                    slot,
                    Frame.HEADROOM,
                    opcode,
                    (flags & 1) != 0,
                    Packet.padCount(bytes),
                    chance.nextInt(0x1_0000),
                    chance.nextInt(2, 0xFF_FFFF),
                    (flags & 2) != 0,
                    chance.nextInt(1 << 24));
            Bth.setMigrated(slot, Frame.HEADROOM, (flags & 4) != 0);
            Bth.setFecn(slot, Frame.HEADROOM, (flags & 8) != 0);
            Bth.setBecn(slot, Frame.HEADROOM, (flags & 16) != 0);
            writeHeaders(slot, opcode);
            frame.length = Packet.length(opcode, bytes);
            boolean ipv4 = (flags & 32) != 0;
            Gid from = Gid.parse(ipv4 ? "192.0.2.1" : "2001:db8::1");
            Gid to = Gid.parse(ipv4 ? "192.0.2.2" : "2001:db8::2");
            frame.sourceHigh = from.high();
            frame.sourceLow = from.low();
            frame.destinationHigh = to.high();
            frame.destinationLow = to.low();
            frame.sourcePort = 0xC000 | chance.nextInt(0x4000);
            frame.trafficClass = chance.nextInt(256);
            frame.hopLimit = chance.nextInt(64, 256); // a small one is worth a note to tshark
            roce.seal(frame, chance.nextInt(0x1_0000));
            frame.icrcValid = true;
        }

        private int payloadBytes(Opcode opcode) {
            if (opcode.hasInvalidate()) {
                return 64 + chance.nextInt(64); // tshark 4.0 steps over an IETH twice, and is confused by short ones
            }
            return switch (opcode.payload()) {
                case NONE -> 0;
                case EIGHT -> 8;
                case SIXTEEN -> 16;
                case FULL_MTU -> 256 << chance.nextInt(5);
                case ONE_TO_MTU -> 1 + chance.nextInt(chance.nextInt(8) == 0 ? 4_096 : 64);
                case ZERO_TO_MTU -> chance.nextInt(chance.nextInt(8) == 0 ? 4_097 : 64);
            };
        }

        private void writeHeaders(MemorySegment slot, Opcode opcode) {
            if (opcode.rethOffset() >= 0) {
                Reth.write(
                        slot,
                        Frame.HEADROOM + opcode.rethOffset(),
                        chance.nextLong(),
                        chance.nextInt(),
                        chance.nextInt() & 0xFFFF_FFFFL);
            }
            if (opcode.atomicEthOffset() >= 0) {
                AtomicEth.write(
                        slot,
                        Frame.HEADROOM + opcode.atomicEthOffset(),
                        chance.nextLong(),
                        chance.nextInt(),
                        chance.nextLong(),
                        chance.nextLong());
            }
            if (opcode.aethOffset() >= 0) {
                Aeth.write(slot, Frame.HEADROOM + opcode.aethOffset(), chance.nextInt(256), chance.nextInt(1 << 24));
            }
            if (opcode.atomicAckEthOffset() >= 0) {
                AtomicAckEth.write(slot, Frame.HEADROOM + opcode.atomicAckEthOffset(), chance.nextLong());
            }
            if (opcode.immediateOffset() >= 0) {
                ImmDt.write(slot, Frame.HEADROOM + opcode.immediateOffset(), chance.nextInt());
            }
            if (opcode.iethOffset() >= 0) {
                Ieth.write(slot, Frame.HEADROOM + opcode.iethOffset(), chance.nextInt());
            }
            if (opcode.dethOffset() >= 0) {
                Deth.write(slot, Frame.HEADROOM + opcode.dethOffset(), chance.nextInt(), chance.nextInt(1 << 24));
            }
        }

        /// The fields that we read, in the order of [#FIELDS]; null where the packet has no such field.
        Long[] fields() {
            MemorySegment slot = frame.slot;
            Opcode opcode = Packet.opcode(frame);
            var values = new Long[FIELDS.length];
            int at = Frame.HEADROOM;
            values[0] = (long) Bth.opcode(slot, at);
            values[1] = Bth.solicited(slot, at) ? 1L : 0;
            values[2] = Bth.migrated(slot, at) ? 1L : 0;
            values[3] = (long) Bth.padCount(slot, at);
            values[4] = (long) Bth.version(slot, at);
            values[5] = (long) Bth.pkey(slot, at);
            values[6] = (long) Bth.destinationQp(slot, at);
            values[7] = Bth.ackRequest(slot, at) ? 1L : 0;
            values[8] = (long) Bth.psn(slot, at);
            if (opcode.dethOffset() >= 0) {
                values[9] = unsigned(Deth.qkey(slot, at + opcode.dethOffset()));
                values[10] = (long) Deth.sourceQp(slot, at + opcode.dethOffset());
            }
            if (opcode.rethOffset() >= 0) {
                values[11] = Reth.virtualAddress(slot, at + opcode.rethOffset());
                values[12] = unsigned(Reth.rkey(slot, at + opcode.rethOffset()));
                values[13] = Reth.dmaLength(slot, at + opcode.rethOffset());
            }
            if (opcode.atomicEthOffset() >= 0) {
                values[11] = AtomicEth.virtualAddress(slot, at + opcode.atomicEthOffset());
                values[12] = unsigned(AtomicEth.rkey(slot, at + opcode.atomicEthOffset()));
                values[14] = AtomicEth.swapOrAdd(slot, at + opcode.atomicEthOffset());
                values[15] = AtomicEth.compare(slot, at + opcode.atomicEthOffset());
            }
            if (opcode.aethOffset() >= 0) {
                values[16] = (long) Aeth.syndrome(slot, at + opcode.aethOffset());
                values[17] = (long) Aeth.msn(slot, at + opcode.aethOffset());
            }
            if (opcode.atomicAckEthOffset() >= 0) {
                values[18] = AtomicAckEth.original(slot, at + opcode.atomicAckEthOffset());
            }
            if (opcode.immediateOffset() >= 0) {
                values[19] = unsigned(ImmDt.immediate(slot, at + opcode.immediateOffset()));
            }
            if (opcode.iethOffset() >= 0) {
                values[20] = unsigned(Ieth.rkey(slot, at + opcode.iethOffset()));
            }
            return values;
        }

        private static long unsigned(int value) {
            return value & 0xFFFF_FFFFL;
        }
    }

    /// Computes the ICRC a second time, from the text of IBTA 7.8.1 and A17.3.3: CRC-32 over 64 ones and the
    /// packet from its IP header on, with ones in place of variable fields.
    ///
    /// @param ip the packet from its IP header on
    private static int icrc(byte[] ip) {
        byte[] covered = ip.clone();
        boolean ipv4 = covered[0] >>> 4 == 4;
        int udp = ipv4 ? 20 : 40;
        int[] variant = ipv4
                ? new int[] {1, 8, 10, 11} // TOS, time to live, header checksum
                : new int[] {1, 2, 3, 7}; // traffic class, flow label, hop limit
        for (int at : variant) {
            covered[at] = -1;
        }
        if (!ipv4) {
            covered[0] |= 0x0F; // the upper half of the traffic class
        }
        covered[udp + 6] = -1; // UDP checksum
        covered[udp + 7] = -1;
        covered[udp + 8 + 4] = -1; // BTH: FECN, BECN and 6 bits reserved
        var crc = new CRC32();
        crc.update(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1});
        crc.update(covered, 0, covered.length - 4);
        return Integer.reverseBytes((int) crc.getValue()); // the least significant byte is sent first
    }

    private Path export(int packets) throws IOException {
        Path file = folder.resolve("packets.pcapng");
        var source = new Source();
        var encapsulation = new Encapsulation();
        try (var arena = Arena.ofConfined();
                var capture = CaptureWriter.pcapng(
                        new BufferedOutputStream(Files.newOutputStream(file), 1 << 16), LinkType.ETHERNET)) {
            MemorySegment scratch = arena.allocate(Frame.SLOT_BYTES + 256L);
            for (int i = 0; i < packets; i++) {
                source.next();
                int bytes = Encapsulation.wrap(source.frame, encapsulation.envelope(source.frame), scratch);
                MemorySegment packet = scratch.asSlice(0, bytes);
                byte[] ip = packet.asSlice(14).toArray(ValueLayout.JAVA_BYTE);
                assertThat(icrc(ip)).as("ICRC of packet %d", i).isEqualTo((int)
                        BigEndian.u32(packet, bytes - (long) Packet.ICRC_BYTES));
                capture.write(i * 1_000L, packet);
            }
        }
        return file;
    }

    @Test
    void tsharkReadsWhatWeReadAndFindsNothingMalformed() throws Exception {
        assumeTrue(isThere("tshark", "--version"), "tshark is not installed");
        int packets = GoalRun.size(10_000, 1_000_000);
        long started = System.nanoTime();
        Path file = export(packets);
        var command = new ArrayList<>(List.of(
                "tshark",
                "-n",
                "-o",
                "udp.ignore_ipv6_zero_checksum:TRUE",
                "-r",
                file.toString(),
                "-T",
                "fields",
                "-E",
                "occurrence=f"));
        for (String guess : GUESSES) {
            command.addAll(List.of("--disable-protocol", guess));
        }
        for (String field : FIELDS) {
            command.addAll(List.of("-e", "infiniband." + field));
        }
        command.addAll(List.of("-e", "_ws.malformed", "-e", "_ws.expert.severity"));
        Process tshark = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        var source = new Source();
        int read = 0;
        try (var lines = new BufferedReader(new InputStreamReader(tshark.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine(), read++) {
                source.next();
                String[] theirs = line.split("\t", -1);
                Long[] ours = source.fields();
                for (int i = 0; i < FIELDS.length; i++) {
                    if (!same(ours[i], theirs[i], FIELDS[i])) {
                        assertThat(theirs[i])
                                .as(
                                        "%s of packet %d, a %s, from seed %d",
                                        FIELDS[i], read, Packet.opcode(source.frame), GoalRun.seed())
                                .isEqualTo(ours[i] == null ? "" : "0x" + Long.toHexString(ours[i]));
                    }
                }
                assertThat(theirs[FIELDS.length])
                        .as("malformed, packet %d", read)
                        .isEmpty();
                assertThat(theirs[FIELDS.length + 1])
                        .as("severity, packet %d", read)
                        .isEmpty();
            }
        }
        assertThat(tshark.waitFor()).isZero();
        assertThat(read).isEqualTo(packets);
        GoalRun.print(
                "N7",
                "%,d packets of %d opcodes from seed %d: tshark finds 0 malformed and %d fields equal in all of them; an ICRC from the standard's text agrees; %.0f s"
                        .formatted(
                                packets,
                                KNOWN.size(),
                                GoalRun.seed(),
                                FIELDS.length,
                                (System.nanoTime() - started) / 1e9));
    }

    private static boolean same(Long ours, String theirs, String field) {
        if (ours == null || theirs.isEmpty()) {
            return ours == null && theirs.isEmpty();
        }
        return ours
                == switch (theirs) {
                    case "True" -> 1;
                    case "False" -> 0;
                    default -> number(theirs, field);
                };
    }

    /// Parses a decimal number, a hexadecimal one with `0x`, or bytes where tshark does not show a number.
    private static long number(String text, String field) {
        if (field.equals("immdt") || field.equals("ieth")) {
            return Long.parseUnsignedLong(text.replace(":", ""), 16);
        }
        return text.startsWith("0x") ? Long.parseUnsignedLong(text.substring(2), 16) : Long.parseUnsignedLong(text);
    }

    /// Scapy's RoCE layer, from its contributed ones, knows IPv4 only.
    private static final String SCAPY = """
            import sys
            try:
                from scapy.all import Ether, RawPcapNgReader, IP
                from scapy.contrib.roce import BTH
            except ImportError:
                print("none")
                sys.exit()
            equal = 0
            for data, _ in RawPcapNgReader(sys.argv[1]):
                packet = Ether(data)
                if IP in packet:
                    stored = data[-4:]
                    if packet[BTH].compute_icrc(None) != stored:
                        sys.exit("ICRC of " + data.hex())
                    equal += 1
            print(equal)
            """;

    @Test
    void scapyComputesTheSameIcrc() throws Exception {
        String python = Files.isExecutable(Path.of("/usr/bin/python3")) ? "/usr/bin/python3" : "python3";
        assumeTrue(isThere(python, "-c", ""), "python3 is not installed");
        int packets = GoalRun.size(500, 200_000);
        Path file = export(packets);
        Path script = Files.writeString(folder.resolve("icrc.py"), SCAPY);
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(python, script.toString(), file.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        int status = process.waitFor();
        String said = Files.readString(output).strip();
        assertThat(status).as(said).isZero();
        assumeFalse(said.equals("none"), "scapy is not installed");
        long equal = Long.parseLong(said.lines().toList().getLast());
        assertThat(equal).isGreaterThan(packets / 3);
        GoalRun.print("N7", "scapy computes the same ICRC for " + equal + " IPv4 packets from seed " + GoalRun.seed());
    }

    private static boolean isThere(String... command) {
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
