package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import verbena.fuzz.Contract;
import verbena.fuzz.Input;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.InternetChecksum;
import verbena.wire.ib.Packet;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.GrhHeaders;
import verbena.wire.roce.NetworkHeaders;
import verbena.wire.roce.UdpHeaders;

/// Ethernet frames of any content, at the inbox of a link that writes its own headers. The input is a byte of
/// choices, a tag, and the frame. It is in this package because that is where the inbox is.
public final class EthernetTarget {
    private static final long MAC = 0x0200_0000_000BL;
    private static final int FRAME_MAX = 6_000;
    private static final int VLAN = 100;
    private static final int IPV4_AT = Ethernet.BYTES;
    private static final int IPV4_BYTES = 20;
    private static final List<GidEntry> GIDS = List.of(
            new GidEntry(0, new Gid(Ethernet.linkLocalPrefix(), Ethernet.interfaceId(MAC)), GidType.ROCE_V1, "veth", 1),
            new GidEntry(1, Gid.parse("10.0.0.2"), GidType.ROCE_V1, "veth", 1));

    private static final Frame[] FRAMES = Frame.allocate(Arena.global().allocate(2L * Frame.SLOT_BYTES, 64));

    private EthernetTarget() {}

    public static void run(byte[] data) {
        var in = new Input(data);
        int choices = in.u8();
        int tag = (choices & 1) == 0 ? Ethernet.NO_TAG : in.u16();
        byte[] bytes = in.take(FRAME_MAX);
        MemorySegment frame = MemorySegment.ofArray(bytes);
        if ((choices & 2) != 0 && bytes.length >= IPV4_AT + IPV4_BYTES) {
            // A checksum is no hurdle for an attacker.
            BigEndian.put16(frame, IPV4_AT + 10, 0);
            BigEndian.put16(frame, IPV4_AT + 10, InternetChecksum.of(frame, IPV4_AT, IPV4_BYTES));
        }
        NetworkHeaders headers = (choices & 4) == 0 ? new GrhHeaders() : new UdpHeaders(0);
        var wire = new OneFrameWire(frame, tag);
        var inbox = new EthernetInbox(wire, MAC, (choices & 8) == 0 ? Ethernet.NO_TAG : VLAN, headers, GIDS);
        int taken = inbox.take(FRAMES, 0, FRAMES.length);
        Contract.equal(1L, taken + inbox.malformed() + inbox.foreign(), "frames that were a packet or counted");
        if (taken == 1) {
            Frame packet = FRAMES[0];
            Contract.holds(
                    packet.length >= NetworkHeaders.PACKET_MIN && packet.length <= Frame.PACKET_MAX,
                    "a packet of " + packet.length + " bytes");
            long end = (long) packet.start + packet.length;
            Contract.holds(end <= (long) wire.start() + bytes.length, "the packet ends behind its frame");
            Contract.holds(packet.local.destinationMac == MAC, "for another address");
            var _ = Packet.check(packet);
        }
        byte[] after = wire.memory().asSlice(wire.start(), bytes.length).toArray(ValueLayout.JAVA_BYTE);
        Contract.holds(java.util.Arrays.equals(after, bytes), "the frame has changed while it was judged");
    }
}
