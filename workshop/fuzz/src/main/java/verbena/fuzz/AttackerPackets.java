package verbena.fuzz;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Header;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Reth;
import verbena.wire.ib.Transport;
import verbena.wire.ib.XrcEth;

/// Packets that an attacker makes from the input: mostly with fields near those that fit, at times any bytes.
final class AttackerPackets {
    private final Input in;
    private final Frame frame;
    private final Transport transport;
    private final int qpn;
    private final Region writable;
    private final Region readable;
    private final Window window;

    /// @param frame where packets are made, one after the other
    /// @param qpn the queue pair that is attacked
    AttackerPackets(
            Input in, Frame frame, Transport transport, int qpn, Region writable, Region readable, Window window) {
        this.in = in;
        this.frame = frame;
        this.transport = transport;
        this.qpn = qpn;
        this.writable = writable;
        this.readable = readable;
        this.window = window;
    }

    /// Returns a packet of any opcode of the queue pair's kind, with fields near those that fit; null when there is
    /// no such opcode.
    @Nullable
    Frame packet() {
        Opcode opcode = Opcode.of(transport.prefix() | in.u8() % 0x20);
        if (opcode == null) {
            return null;
        }
        int choices = in.u8();
        int payload = switch (opcode.payload()) {
            case NONE -> 0;
            case SIXTEEN -> 16;
            case EIGHT -> 8;
            default ->
                switch (choices & 3) {
                    case 0 -> QueuePairTarget.MTU;
                    case 1 -> 0;
                    default -> in.u16() % 600;
                };
        };
        frame.length = Packet.length(opcode, payload);
        frame.packet().fill((byte) 0x42);
        frame.slot.asSlice(frame.start, opcode.headerBytes()).fill((byte) 0);
        MemorySegment s = frame.slot;
        Bth.setOpcode(s, frame.start, opcode.code());
        Bth.setPkey(s, frame.start, Bth.PKEY_DEFAULT);
        Bth.setPadCount(s, frame.start, Packet.padCount(payload));
        Bth.setDestinationQp(s, frame.start, qpn);
        Bth.setAckRequest(s, frame.start, (choices & 4) != 0);
        Bth.setSolicited(s, frame.start, (choices & 8) != 0);
        int from = opcode.isResponse() ? QueuePairTarget.OUR_PSN : QueuePairTarget.THEIR_PSN;
        Bth.setPsn(s, frame.start, from + in.u8() - 4 & 0xFF_FFFF);
        for (Header header : opcode.headers()) {
            header(s, frame.start + opcode.offset(header), header, payload);
        }
        return frame;
    }

    private void header(MemorySegment s, long o, Header header, int payload) {
        switch (header) {
            case RETH -> {
                Region region = (in.u8() & 3) == 0 ? readable : writable;
                int length = in.bool() ? payload : in.u16();
                Reth.write(s, o, region.iova() + address(), key(region), length);
            }
            case ATOMIC_ETH -> AtomicEth.write(s, o, writable.iova() + (address() & ~7), key(writable), 3, in.u8());
            case AETH -> Aeth.write(s, o, in.u8(), in.u8());
            case ATOMIC_ACK_ETH -> AtomicAckEth.write(s, o, in.u16());
            case IETH -> Ieth.write(s, o, key(writable));
            case DETH -> Deth.write(s, o, in.bool() ? QueuePairTarget.QKEY : in.i32(), in.u8());
            case FETH -> Feth.write(s, o, in.u8(), in.u8());
            case XRCETH -> {
                int choice = in.u8();
                XrcEth.write(s, o, choice < 240 ? QueuePairTarget.SRQ : choice);
            }
            case BTH, RDETH, IMM_DT -> {}
        }
    }

    private int address() {
        int choice = in.u8();
        return choice < 200 ? choice : in.u16() - 1_000;
    }

    private int key(Region region) {
        int choice = in.u8();
        return choice < 200 ? region.key() : choice < 230 ? window.key() : in.i32();
    }

    /// Returns the input's own bytes; null when a device would not take them for a packet of the queue pair's kind.
    @Nullable
    Frame rawPacket() {
        byte[] bytes = in.take(in.u8());
        MemorySegment.copy(bytes, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, bytes.length);
        frame.length = bytes.length;
        boolean fits =
                Packet.check(frame) == Malformed.OK && Packet.opcode(frame).transport() == transport;
        return fits ? frame : null;
    }
}
