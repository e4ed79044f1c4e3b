package verbena.nic.capture;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.LinkException;
import verbena.nic.link.tap.Tap;
import verbena.nic.link.tap.TappedStream;
import verbena.transport.PacketFate;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.FrameMarks;

/// A tap that notes all traffic in a ring. It waits only for another engine of the device that notes at the same
/// moment. Allocates nothing for a packet.
final class CaptureTap implements Tap {
    /// The event that a note describes.
    enum Kind {
        SENT,
        UNSENDABLE,
        RECEIVED,
        /// A packet that a request without packets would have had.
        DIRECT_REQUEST,
        DIRECT_ANSWER,
        /// Malformed arrivals; [NoteRing#STREAM] holds their number.
        MALFORMED,
        STREAM_OPENED,
        STREAM_SENT,
        STREAM_RECEIVED,
        STREAM_ENDED,
        STREAM_ENDED_BY_PEER,
        STREAM_CLOSED,
        STREAM_RESET
    }

    static final int ICRC_RIGHT = 1;
    static final int DAMAGED = 1 << 1;
    /// The most bytes of a stream in one note.
    private static final int PIECE_BYTES_MAX = 32 << 10;

    private final NoteRing ring;
    private final int packetBytesMax;
    private final Map<TappedStream, Stream> streams = new ConcurrentHashMap<>();
    private final AtomicInteger streamNumber = new AtomicInteger();

    /// Both ends of a stream, as far as they are known, and how many octets each has sent, noted or not.
    private static final class Stream {
        final int number;
        final Gid local;
        final int localPort;
        final Gid remote;
        final int remotePort;
        long sent;
        long received;

        Stream(int number, Gid local, int localPort, Gid remote, int remotePort) {
            this.number = number;
            this.local = local;
            this.localPort = localPort;
            this.remote = remote;
            this.remotePort = remotePort;
        }
    }

    /// @param packetBytesMax the most bytes kept of a packet; streams are kept whole
    CaptureTap(NoteRing ring, int packetBytesMax) {
        this.ring = ring;
        this.packetBytesMax = packetBytesMax;
    }

    // ---- packets

    @Override
    public void onSent(Frame packet, long nanos) {
        int flags = ICRC_RIGHT | (packet.marks.damagedBit < 0 ? 0 : DAMAGED);
        note(Kind.SENT, flags, null, packet, nanos);
    }

    @Override
    public void onUnsendable(Frame packet, long nanos) {
        note(Kind.UNSENDABLE, ICRC_RIGHT, null, packet, nanos);
    }

    @Override
    public void onReceived(Frame packet, @Nullable PacketFate fate, long nanos) {
        note(Kind.RECEIVED, packet.icrcValid ? ICRC_RIGHT : 0, fate, packet, nanos);
    }

    @Override
    public void onDirect(Frame packet, boolean isAnswer, long nanos) {
        note(isAnswer ? Kind.DIRECT_ANSWER : Kind.DIRECT_REQUEST, ICRC_RIGHT, null, packet, nanos);
    }

    @Override
    public void onDirectLeftOut(int packets, long nanos) {
        synchronized (ring) {
            ring.lose(packets);
        }
    }

    private void note(Kind kind, int flags, @Nullable PacketFate fate, Frame packet, long nanos) {
        int kept = Math.min(packet.length, packetBytesMax);
        synchronized (ring) {
            if (!ring.begin(kind.ordinal(), kept)) {
                return;
            }
            ring.putInt(NoteRing.WHOLE_BYTES, packet.length);
            ring.putInt(NoteRing.FLAGS, flags);
            ring.putInt(NoteRing.FATE, fate == null ? FrameMarks.NO_FATE : fate.ordinal());
            ring.putLong(NoteRing.NANOS, nanos);
            ring.putLong(NoteRing.SOURCE_HIGH, packet.sourceHigh);
            ring.putLong(NoteRing.SOURCE_LOW, packet.sourceLow);
            ring.putLong(NoteRing.DESTINATION_HIGH, packet.destinationHigh);
            ring.putLong(NoteRing.DESTINATION_LOW, packet.destinationLow);
            ring.putInt(NoteRing.SOURCE_PORT, packet.sourcePort);
            ring.putInt(NoteRing.TRAFFIC_CLASS, packet.trafficClass);
            ring.putInt(NoteRing.HOP_LIMIT, packet.hopLimit);
            ring.putLong(NoteRing.SOURCE_MAC, packet.local.sourceMac);
            ring.putLong(NoteRing.DESTINATION_MAC, packet.local.destinationMac);
            ring.putInt(NoteRing.VLAN_TAG, packet.local.vlanTag);
            ring.putInt(NoteRing.ROCE_V1, packet.local.isRoceV1 ? 1 : 0);
            ring.putBytes(packet.slot, packet.start, kept);
            ring.publish();
        }
    }

    @Override
    public void onMalformed(long arrivals, long nanos) {
        synchronized (ring) {
            if (ring.begin(Kind.MALFORMED.ordinal(), 0)) {
                ring.putLong(NoteRing.NANOS, nanos);
                ring.putInt(NoteRing.STREAM, (int) arrivals);
                ring.publish();
            }
        }
    }

    // ---- streams

    @Override
    public void onStreamOpened(TappedStream socket, long nanos) {
        note(Kind.STREAM_OPENED, stream(socket), nanos);
    }

    @Override
    public void onStreamSent(TappedStream socket, MemorySegment bytes, long from, long count, long nanos) {
        Stream stream = stream(socket);
        notePieces(Kind.STREAM_SENT, stream, stream.sent, bytes, from, count, nanos);
        stream.sent += count;
    }

    @Override
    public void onStreamReceived(TappedStream socket, MemorySegment bytes, long from, long count, long nanos) {
        Stream stream = stream(socket);
        notePieces(Kind.STREAM_RECEIVED, stream, stream.received, bytes, from, count, nanos);
        stream.received += count;
    }

    private void notePieces(
            Kind kind, Stream stream, long position, MemorySegment bytes, long from, long count, long nanos) {
        for (long done = 0; done < count; done += PIECE_BYTES_MAX) {
            int piece = (int) Math.min(PIECE_BYTES_MAX, count - done);
            note(kind, stream, nanos, position + done, bytes, from + done, piece);
        }
    }

    @Override
    public void onStreamEnded(TappedStream socket, boolean byPeer, long nanos) {
        Kind kind = byPeer ? Kind.STREAM_ENDED_BY_PEER : Kind.STREAM_ENDED;
        note(kind, stream(socket), nanos);
    }

    @Override
    public void onStreamClosed(TappedStream socket, boolean reset, long nanos) {
        Stream stream = streams.remove(socket);
        if (stream != null) { // null: it never opened
            note(reset ? Kind.STREAM_RESET : Kind.STREAM_CLOSED, stream, nanos);
        }
    }

    private Stream stream(TappedStream socket) {
        Stream known = streams.get(socket);
        if (known == null) {
            InetSocketAddress local;
            try {
                local = socket.localAddress();
            } catch (LinkException _) {
                local = new InetSocketAddress("0.0.0.0", 0); // the stream has just broken
            }
            known = new Stream(
                    streamNumber.incrementAndGet(),
                    Gid.of(local.getAddress()),
                    local.getPort(),
                    socket.remote(),
                    socket.remotePort());
            streams.put(socket, known);
        }
        return known;
    }

    private void note(Kind kind, Stream stream, long nanos) {
        note(kind, stream, nanos, 0, MemorySegment.NULL, 0, 0);
    }

    private void note(Kind kind, Stream stream, long nanos, long position, MemorySegment bytes, long from, int count) {
        synchronized (ring) {
            if (!ring.begin(kind.ordinal(), count)) {
                return;
            }
            ring.putLong(NoteRing.NANOS, nanos);
            ring.putInt(NoteRing.STREAM, stream.number);
            ring.putLong(NoteRing.POSITION, position);
            ring.putLong(NoteRing.SOURCE_HIGH, stream.local.high());
            ring.putLong(NoteRing.SOURCE_LOW, stream.local.low());
            ring.putLong(NoteRing.DESTINATION_HIGH, stream.remote.high());
            ring.putLong(NoteRing.DESTINATION_LOW, stream.remote.low());
            ring.putInt(NoteRing.SOURCE_PORT, stream.localPort);
            ring.putInt(NoteRing.DESTINATION_PORT, stream.remotePort);
            ring.putBytes(bytes, from, count);
            ring.publish();
        }
    }
}
