package verbena.fuzz;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Header;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Rdeth;
import verbena.wire.ib.Reth;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.XrcEth;
import verbena.wire.notation.CmText;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketPattern;
import verbena.wire.notation.PacketText;

/// Packets of the InfiniBand transport: the check, the views of all headers, and the notation. The input is the
/// packet.
final class PacketTarget {
    private static final Frame[] FRAMES = Frame.allocate(Arena.global().allocate(2L * Frame.SLOT_BYTES, 64));

    private PacketTarget() {}

    static void run(byte[] data) {
        Frame frame = FRAMES[0];
        int length = Math.min(data.length, Frame.PACKET_MAX);
        MemorySegment.copy(data, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, length);
        frame.length = length;
        frame.icrcValid = length == 0 || (data[length - 1] & 1) == 0;
        if (Packet.check(frame) == Malformed.OK) {
            checkShape(frame);
        }
        checkNotation(frame);
        String said = CmText.format(frame);
        Contract.holds(said == null || !said.isEmpty(), "a message without a name");
    }

    /// Computes the promise of [Packet#check] by other means.
    private static void checkShape(Frame frame) {
        Opcode opcode = Packet.opcode(frame);
        int headers = 0;
        for (Header header : opcode.headers()) {
            headers += header.bytes();
        }
        int pad = BigEndian.u8(frame.slot, frame.start + 1) >>> 4 & 3;
        int payload = frame.length - headers - pad - 4;
        Contract.holds(payload >= 0, "a checked packet has less than its headers");
        Contract.equal(payload, Packet.payloadBytes(frame, opcode), "payload");
        Contract.equal(frame.start + headers, Packet.payloadOffset(frame, opcode), "where the payload begins");
        Contract.equal(0, frame.length % 4, "the length of a checked packet, modulo 4");
        for (Header header : opcode.headers()) {
            read(frame.slot, frame.start + opcode.offset(header), header);
        }
    }

    private static void read(MemorySegment s, long o, Header header) {
        switch (header) {
            case BTH -> {
                fits(Bth.destinationQp(s, o), 24);
                fits(Bth.psn(s, o), 24);
                fits(Bth.pkey(s, o), 16);
            }
            case RETH -> {
                long _ = Reth.virtualAddress(s, o) + Reth.rkey(s, o);
                fits(Reth.dmaLength(s, o), 32);
            }
            case ATOMIC_ETH -> {
                long _ = AtomicEth.virtualAddress(s, o)
                        + AtomicEth.rkey(s, o)
                        + AtomicEth.swapOrAdd(s, o)
                        + AtomicEth.compare(s, o);
            }
            case AETH -> {
                fits(Aeth.msn(s, o), 24);
                Objects.requireNonNull(Syndrome.kind(Aeth.syndrome(s, o)));
            }
            case ATOMIC_ACK_ETH -> {
                long _ = AtomicAckEth.original(s, o);
            }
            case IMM_DT -> {
                int _ = ImmDt.immediate(s, o);
            }
            case IETH -> {
                int _ = Ieth.rkey(s, o);
            }
            case DETH -> fits(Deth.sourceQp(s, o), 24);
            case RDETH -> fits(Rdeth.eeContext(s, o), 24);
            case XRCETH -> fits(XrcEth.srqNumber(s, o), 24);
            case FETH -> {
                fits(Feth.placement(s, o), 4);
                fits(Feth.selectivity(s, o), 2);
            }
        }
    }

    private static void fits(long value, int bits) {
        Contract.holds(value >>> bits == 0, value + " has more than " + bits + " bits");
    }

    /// Checks that the printed text can be read, matches the frame, and builds a frame that prints the same text.
    private static void checkNotation(Frame frame) {
        String text = PacketText.format(frame, Names.NUMBERS);
        PacketPattern pattern = PacketPattern.parse(text, Names.NUMBERS);
        Contract.equal(List.of(), pattern.differences(frame), text);
        pattern.build(FRAMES[1], null);
        Contract.equal(text, PacketText.format(FRAMES[1], Names.NUMBERS), "built and printed again");
    }
}
