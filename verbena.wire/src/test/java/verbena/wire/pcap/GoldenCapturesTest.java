package verbena.wire.pcap;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.Frames;
import verbena.wire.Golden;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Header;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Reth;
import verbena.wire.roce.RoceV2;

/// What two soft-RoCE kernels said to each other, taken apart and put together again.
class GoldenCapturesTest {
    private record Roce(CapturedPacket captured, Frame frame, Envelope envelope) {}

    private final RoceV2 roce = new RoceV2();

    static List<Path> captures() throws IOException {
        return Golden.captures("rc-", "uc-", "ud-", "mcast-", "cm-");
    }

    @ParameterizedTest
    @MethodSource("captures")
    void everyPacketIsTakenApartAndRebuiltByteForByte(Path capture) throws IOException {
        Frame rebuilt = Frames.empty();
        MemorySegment out = Arena.ofAuto().allocate(Frame.PACKET_MAX + 200L);
        List<Roce> packets = packets(capture);
        assertThat(packets).isNotEmpty();
        for (Roce packet : packets) {
            assertThat(Packet.check(packet.frame)).isEqualTo(Malformed.OK);
            rebuild(packet.frame, packet.envelope, rebuilt);
            out.fill((byte) 0x5A);
            int bytes = Encapsulation.wrap(rebuilt, packet.envelope, out);
            assertThat(Frames.hex(out.asSlice(0, bytes))).isEqualTo(Frames.hex(packet.captured.bytes()));
        }
    }

    @ParameterizedTest
    @MethodSource("captures")
    void everyIcrcIsRightExactlyAndAsFarAsASocketSees(Path capture) throws IOException {
        for (Roce packet : packets(capture)) {
            assertThat(packet.frame.icrcValid).isTrue();
            assertThat(roce.verify(packet.frame)).isTrue();
            if (RoceV2.isIpv4(packet.frame.destinationHigh, packet.frame.destinationLow)) {
                assertThat(roce.hiddenFields(packet.frame))
                        .isEqualTo(((long) packet.envelope.ipv4Identification() << 16)
                                | packet.envelope.ipv4FlagsFragment());
            }
        }
    }

    /// Every 13th covered bit of every packet.
    @ParameterizedTest
    @MethodSource("captures")
    void aFlippedBitIsNoticed(Path capture) throws IOException {
        int congestionBits = 4 * 8;
        for (Roce packet : packets(capture)) {
            Frame frame = packet.frame;
            int id = packet.envelope.ipv4Identification();
            int flagsFragment = packet.envelope.ipv4FlagsFragment();
            for (int bit = 0; bit < 8 * frame.length; bit += 13) {
                if (bit >= congestionBits && bit < congestionBits + 8) {
                    continue;
                }
                int at = Frame.HEADROOM + bit / 8;
                int before = BigEndian.u8(frame.slot, at);
                BigEndian.put8(frame.slot, at, before ^ (1 << bit % 8));
                assert !roce.verify(frame, id, flagsFragment) : capture + " bit " + bit;
                BigEndian.put8(frame.slot, at, before);
            }
        }
    }

    /// A capture that we write of what a socket showed us has the identification back.
    @Test
    void anEnvelopeForAFrameFromASocketMakesItsIcrcRight() throws IOException {
        Frame again = Frames.empty();
        var encapsulation = new Encapsulation();
        for (Roce packet : packets(Golden.root().resolve("golden/rc-write-multi-mtu1024.pcap"))) {
            MemorySegment out = Arena.ofAuto().allocate(Frame.PACKET_MAX + 200L);
            int bytes = Encapsulation.wrap(packet.frame, encapsulation.envelope(packet.frame), out);
            Unwrapped unwrapped = encapsulation.unwrap(LinkType.ETHERNET, out.asSlice(0, bytes), again);
            assertThat(unwrapped).isInstanceOf(Unwrapped.Roce.class);
            assertThat(again.icrcValid).isTrue();
        }
    }

    @Test
    void aPacketCutShortAtAnyLengthIsToldFromAWholeOne() throws IOException {
        CapturedPacket packet =
                packets(Golden.root().resolve("golden/rc-write-imm-only.pcap")).getFirst().captured;
        Frame frame = Frames.empty();
        var encapsulation = new Encapsulation();
        int headers = 14 + 20 + 8 + Opcode.RC_WRITE_ONLY_IMMEDIATE.headerBytes();
        for (long length = 0; length < packet.bytes().byteSize(); length++) {
            Unwrapped unwrapped =
                    encapsulation.unwrap(LinkType.ETHERNET, packet.bytes().asSlice(0, length), frame);
            if (length < headers) {
                assertThat(unwrapped)
                        .as("%d bytes", length)
                        .isEqualTo(new Unwrapped.Other(Unwrapped.Reason.TRUNCATED, ""));
            } else {
                assertThat(unwrapped).as("%d bytes", length).isInstanceOf(Unwrapped.Part.class);
                assertThat(frame.length).isEqualTo((int) packet.bytes().byteSize() - 14 - 20 - 8);
                assertThat(Packet.opcode(frame)).isEqualTo(Opcode.RC_WRITE_ONLY_IMMEDIATE);
            }
        }
    }

    @Test
    void iwarpCapturesHoldNoRoce() throws IOException {
        for (Path capture : Golden.captures("iwarp-")) {
            assertThat(packets(capture)).isEmpty();
        }
    }

    private static List<Roce> packets(Path capture) throws IOException {
        var packets = new ArrayList<Roce>();
        var encapsulation = new Encapsulation();
        try (var reader = CaptureReader.open(capture)) {
            for (var packet = reader.next(); packet != null; packet = reader.next()) {
                Frame frame = Frames.empty();
                if (encapsulation.unwrap(packet.linkType(), packet.bytes(), frame)
                        instanceof Unwrapped.Roce(Envelope envelope)) {
                    packets.add(new Roce(packet, frame, envelope));
                }
            }
        }
        return packets;
    }

    // From the parsed fields only; the frame was full of junk.
    private void rebuild(Frame from, Envelope envelope, Frame to) {
        to.slot.fill((byte) 0xA5);
        to.sourceHigh = from.sourceHigh;
        to.sourceLow = from.sourceLow;
        to.destinationHigh = from.destinationHigh;
        to.destinationLow = from.destinationLow;
        to.sourcePort = from.sourcePort;
        to.trafficClass = from.trafficClass;
        to.hopLimit = from.hopLimit;
        Opcode opcode = Packet.opcode(from);
        MemorySegment f = from.slot;
        MemorySegment t = to.slot;
        long bth = Frame.HEADROOM;
        Bth.write(
                t,
                bth,
                opcode,
                Bth.solicited(f, bth),
                Bth.padCount(f, bth),
                Bth.pkey(f, bth),
                Bth.destinationQp(f, bth),
                Bth.ackRequest(f, bth),
                Bth.psn(f, bth));
        Bth.setMigrated(t, bth, Bth.migrated(f, bth));
        Bth.setFecn(t, bth, Bth.fecn(f, bth));
        Bth.setBecn(t, bth, Bth.becn(f, bth));
        for (Header header : opcode.headers()) {
            long o = bth + opcode.offset(header);
            switch (header) {
                case BTH -> {}
                case DETH -> Deth.write(t, o, Deth.qkey(f, o), Deth.sourceQp(f, o));
                case RETH -> Reth.write(t, o, Reth.virtualAddress(f, o), Reth.rkey(f, o), Reth.dmaLength(f, o));
                case ATOMIC_ETH ->
                    AtomicEth.write(
                            t,
                            o,
                            AtomicEth.virtualAddress(f, o),
                            AtomicEth.rkey(f, o),
                            AtomicEth.swapOrAdd(f, o),
                            AtomicEth.compare(f, o));
                case AETH -> Aeth.write(t, o, Aeth.syndrome(f, o), Aeth.msn(f, o));
                case ATOMIC_ACK_ETH -> AtomicAckEth.write(t, o, AtomicAckEth.original(f, o));
                case IMM_DT -> ImmDt.write(t, o, ImmDt.immediate(f, o));
                case IETH -> Ieth.write(t, o, Ieth.rkey(f, o));
                case RDETH, XRCETH, FETH -> throw new AssertionError("no capture has a " + header);
            }
        }
        int payloadBytes = Packet.payloadBytes(from, opcode);
        int payload = Packet.payloadOffset(from, opcode);
        MemorySegment.copy(f, payload, t, payload, payloadBytes);
        int padCount = Packet.padCount(payloadBytes);
        t.asSlice((long) payload + payloadBytes, padCount).fill((byte) 0);
        to.length = Packet.length(opcode, payloadBytes);
        roce.seal(to, envelope.ipv4Identification(), envelope.ipv4FlagsFragment());
    }
}
