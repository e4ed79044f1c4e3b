package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import verbena.nic.link.Link;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVerdict;
import verbena.wire.roce.RoceV2;

/// The texts of the packets that a [PspLink] has opened last, each at a place of its own, where frames show them.
final class OpenedPackets {
    /// The protocol number of IP of a packet of RoCE in PSP.
    static final int UDP = 17;
    /// The protocol number of IP of nothing in PSP, which confirms keys.
    static final int NOTHING = 59;

    private final MemorySegment memory;
    private final ByteBuffer bytes;

    /// @param count of packets
    OpenedPackets(Arena arena, int count) {
        memory = arena.allocate((long) count * Frame.SLOT_BYTES, 64);
        bytes = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    MemorySegment memory() {
        return memory;
    }

    /// Returns the offset of a place, which has room before it for the headers that an ICRC covers.
    static int at(int place) {
        return place * Frame.SLOT_BYTES + Frame.HEADROOM - RoceV2.UDP_BYTES;
    }

    /// Makes a frame show what was opened; of length 0 when that is nothing. The receiver does not check the ICRC
    /// inside, because the ICV covers all that it covers.
    ///
    /// @param arrived the packet of PSP
    /// @param into may be the same frame
    PspVerdict show(int place, Frame arrived, Frame into) {
        int beyond = PspHeader.bytes(arrived.slot, arrived.start) - PspHeader.BYTES;
        int next = PspHeader.nextHeader(arrived.slot, arrived.start);
        int text = arrived.length - PspHeader.BYTES - beyond - PspHeader.ICV_BYTES;
        int at = at(place) + beyond;
        if (next == NOTHING && text == 0) {
            into.length = 0;
            return PspVerdict.ACCEPTED;
        }
        if (next != UDP
                || text < RoceV2.UDP_BYTES + Link.PACKET_MIN
                || BigEndian.u16(memory, at + 2) != RoceV2.UDP_PORT
                || BigEndian.u16(memory, at + 4) != text) {
            return PspVerdict.UNEXPECTED;
        }
        into.copyWay(arrived);
        into.view(memory, bytes, at + RoceV2.UDP_BYTES);
        into.sourcePort = BigEndian.u16(memory, at);
        into.length = text - RoceV2.UDP_BYTES;
        into.icrcValid = true;
        return PspVerdict.ACCEPTED;
    }
}
