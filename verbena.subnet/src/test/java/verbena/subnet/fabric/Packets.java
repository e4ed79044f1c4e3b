package verbena.subnet.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;

/// Packets for tests: LRH, BTH, a number, and padding up to a length.
final class Packets {
    private static final int QPN = 0x11;
    static final int NUMBER_AT = Lrh.BYTES + Bth.BYTES;
    static final int SHORT = NUMBER_AT + 4 + Packet.ICRC_BYTES + Vcrc.BYTES;

    private Packets() {}

    static MemorySegment of(int from, int to, int level, int pkey, int number, int bytes) {
        MemorySegment memory = Arena.ofAuto().allocate(bytes);
        Lrh.write(memory, 0, 0, level, Lrh.NEXT_BTH, to, (bytes - Vcrc.BYTES) / 4, from);
        Bth.setPkey(memory, Lrh.BYTES, pkey);
        Bth.setDestinationQp(memory, Lrh.BYTES, QPN);
        BigEndian.put32(memory, NUMBER_AT, number);
        Vcrc.seal(memory, 0, bytes - Vcrc.BYTES);
        return memory;
    }

    static void send(ChannelAdapter from, int to, int number) {
        send(from, to, 0, 0xFFFF, number, SHORT);
    }

    static void send(ChannelAdapter from, int to, int level, int pkey, int number, int bytes) {
        from.send(of(from.lid(), to, level, pkey, number, bytes), 0, bytes);
    }

    /// Takes the oldest arrival; returns its number.
    static int take(ChannelAdapter at, Fabric fabric) {
        int packet = at.arrival();
        MemorySegment memory = fabric.store().memory(packet);
        long offset = fabric.store().offset(packet);
        int number = BigEndian.i32(memory, offset + NUMBER_AT);
        if (!Vcrc.verify(memory, offset, fabric.store().length(packet) - Vcrc.BYTES)) {
            throw new AssertionError("VCRC of packet " + number);
        }
        at.taken();
        return number;
    }
}
