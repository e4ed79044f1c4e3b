package verbena.nic.capture;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureTap.Kind;
import verbena.transport.PacketFate;
import verbena.wire.Frame;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.Envelope;
import verbena.wire.pcap.PcapngBlocks;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.RoceV2;

/// The conversion of the notes in a ring into blocks of packets. It makes up the headers that no link knows, so that
/// a dissector finds what was on the wire: Ethernet, IP and UDP around a packet of RoCE, TCP around pieces of a
/// stream. One reader.
final class CaptureBlocks {
    private static final Kind[] KINDS = Kind.values();
    private static final PacketFate[] FATES = PacketFate.values();
    private static final int ETHERNET_BYTES = Ethernet.BYTES + Ethernet.TAG_BYTES;

    private final NoteRing ring;
    private final long epochNanos;
    private final Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
    private final Encapsulation encapsulation = new Encapsulation();
    private final TcpStreams streams = new TcpStreams(this::block);
    private final MemorySegment packet =
            MemorySegment.ofArray(new byte[ETHERNET_BYTES + Encapsulation.OVERHEAD_MAX + Frame.PACKET_MAX]);

    private ByteArrayOutputStream out = new ByteArrayOutputStream();
    private long lost;
    private long malformed;

    /// @param epochNanos the difference between nanoseconds since 1970 and the device's clock
    CaptureBlocks(NoteRing ring, long epochNanos) {
        this.ring = ring;
        this.epochNanos = epochNanos;
    }

    /// Returns the blocks of the waiting notes, whole, until they are `enough` bytes; empty when there are no
    /// notes.
    byte[] take(int enough) {
        out = new ByteArrayOutputStream();
        int note = ring.peek();
        while (note >= 0 && out.size() < enough) {
            lost += ring.getInt(note, NoteRing.LOST);
            add(note);
            ring.remove(note);
            note = ring.peek();
        }
        streams.flush();
        return out.toByteArray();
    }

    private void add(int note) {
        Kind kind = KINDS[ring.getInt(note, NoteRing.KIND)];
        switch (kind) {
            case SENT, UNSENDABLE, RECEIVED, DIRECT_REQUEST, DIRECT_ANSWER -> addPacket(kind, note);
            case MALFORMED -> malformed += ring.getInt(note, NoteRing.STREAM);
            case STREAM_OPENED,
                    STREAM_SENT,
                    STREAM_RECEIVED,
                    STREAM_ENDED,
                    STREAM_ENDED_BY_PEER,
                    STREAM_CLOSED,
                    STREAM_RESET -> streams.add(kind, ring, note);
        }
    }

    private void addPacket(Kind kind, int note) {
        MemorySegment bytes = ring.bytes(note);
        MemorySegment.copy(bytes, 0, frame.slot, frame.start, bytes.byteSize());
        frame.length = ring.getInt(note, NoteRing.WHOLE_BYTES);
        frame.sourceHigh = ring.getLong(note, NoteRing.SOURCE_HIGH);
        frame.sourceLow = ring.getLong(note, NoteRing.SOURCE_LOW);
        frame.destinationHigh = ring.getLong(note, NoteRing.DESTINATION_HIGH);
        frame.destinationLow = ring.getLong(note, NoteRing.DESTINATION_LOW);
        frame.sourcePort = ring.getInt(note, NoteRing.SOURCE_PORT);
        frame.trafficClass = ring.getInt(note, NoteRing.TRAFFIC_CLASS);
        frame.hopLimit = ring.getInt(note, NoteRing.HOP_LIMIT);
        frame.local.sourceMac = ring.getLong(note, NoteRing.SOURCE_MAC);
        frame.local.destinationMac = ring.getLong(note, NoteRing.DESTINATION_MAC);
        frame.local.vlanTag = ring.getInt(note, NoteRing.VLAN_TAG);
        frame.local.isRoceV1 = ring.getInt(note, NoteRing.ROCE_V1) != 0;
        int marks = ring.getInt(note, NoteRing.FLAGS);
        int number = ring.getInt(note, NoteRing.FATE);
        PacketFate fate = number < 0 ? null : FATES[number];
        int cut = frame.length - (int) bytes.byteSize();
        // Only the whole packet shows what makes its ICRC right.
        Envelope envelope = cut == 0 ? encapsulation.envelope(frame) : Encapsulation.envelopeOfPart(frame);
        int length = Encapsulation.wrap(frame, envelope, packet);
        boolean in = kind == Kind.RECEIVED || kind == Kind.DIRECT_ANSWER;
        boolean group = RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow);
        block(
                ring.getLong(note, NoteRing.NANOS),
                packet,
                length - cut,
                length,
                (in ? PcapngBlocks.INBOUND : PcapngBlocks.OUTBOUND)
                        | (group ? PcapngBlocks.MULTICAST : PcapngBlocks.UNICAST)
                        | (marks == 0 ? PcapngBlocks.CRC_ERROR : 0),
                switch (kind) {
                    case RECEIVED -> comment(fate);
                    case UNSENDABLE -> "not sent: the network stack has refused it";
                    case DIRECT_REQUEST, DIRECT_ANSWER -> "direct access: no packet was sent";
                    default -> sentComment(marks);
                });
    }

    private static @Nullable String sentComment(int marks) {
        return (marks & CaptureTap.DAMAGED) != 0 ? "sent with one bit inverted on purpose (faults)" : null;
    }

    /// Describes the fate of an arrived packet; null when it was accepted.
    private static @Nullable String comment(@Nullable PacketFate fate) {
        return switch (fate) {
            case null -> "dropped: never handed to a queue pair (lost on purpose, or the device has failed)";
            case ACCEPTED -> null;
            case DUPLICATE -> "duplicate: seen before, not carried out again";
            case REFUSED -> "refused with a NAK";
            case OUT_OF_SEQUENCE -> "out of sequence: ahead of a gap, not carried out";
            case RECEIVER_NOT_READY -> "receiver not ready: no receive posted, answered with an RNR NAK";
            case DROPPED_MALFORMED -> "dropped: damaged, its headers do not fit its opcode (dropped.malformed)";
            case DROPPED_ICRC -> "dropped: damaged, its ICRC is wrong (dropped.icrc)";
            case DROPPED_UNKNOWN_QP -> "dropped: there is no such queue pair (dropped.unknown-qp)";
            case DROPPED_CLOSED_QP -> "dropped: this queue pair was closed not long ago (dropped.closed-qp)";
            case DROPPED_WRONG_SERVICE -> "dropped: the queue pair is of another type (dropped.wrong-service)";
            case DROPPED_STATE -> "dropped: not in this state of the queue pair (dropped.state)";
            case DROPPED_PKEY -> "dropped: wrong P_Key (dropped.pkey)";
            case DROPPED_QKEY -> "dropped: wrong Q_Key (dropped.qkey)";
            case DROPPED_SOURCE -> "dropped: not from the peer of this connection (dropped.source)";
            case DROPPED_NO_REPLAY ->
                "dropped: a repeated READ or atomic that cannot be answered again" + " (dropped.no-replay)";
            case DROPPED_BUSY -> "dropped: too many responses are waiting already (dropped.busy)";
            case DROPPED_GHOST_ACK -> "dropped: acknowledges a packet that was never sent (dropped.ghost-ack)";
            case DROPPED_EARLY_RESPONSE -> "dropped: an earlier response is missing (dropped.early-response)";
            case DROPPED_MESSAGE -> "dropped: the message broke off, or found no receive (dropped.message)";
            case DROPPED_NOTIFICATION ->
                "dropped: a notification of congestion that changes nothing (dropped.notification)";
            case DROPPED_MANAGEMENT -> "dropped: no agent takes this management datagram (dropped.management)";
        };
    }

    private void block(long nanos, MemorySegment from, int bytes, int flags, @Nullable String comment) {
        block(nanos, from, bytes, bytes, flags, comment);
    }

    private void block(long nanos, MemorySegment from, int bytes, int wholeBytes, int flags, @Nullable String comment) {
        String said = comment;
        if (malformed > 0) {
            said = malformed + " arrivals before this one were too short or too long to be packets"
                    + (said == null ? "" : "; this one: " + said);
            malformed = 0;
        }
        out.writeBytes(PcapngBlocks.packet(0, nanos + epochNanos, from, bytes, wholeBytes, flags, lost, said));
        lost = 0;
    }
}
