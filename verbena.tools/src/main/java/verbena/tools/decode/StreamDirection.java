package verbena.tools.decode;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import verbena.tools.decode.IwarpStreams.Said;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.notation.FpduText;
import verbena.wire.pcap.Unwrapped.Tcp;

/// The stream of one end of a TCP connection: its segments put in order, and the frames of MPA and the FPDUs in
/// them.
///
/// A stream that is seen from its start is iWARP when it begins with a frame of MPA. A stream that the capture joins
/// later, or misses a part of, is looked at again at the start of each segment. It is iWARP from the first segment
/// that begins with a complete FPDU. The FPDU counts if its CRC is right, or if it ends where a segment ends.
final class StreamDirection {
    /// Octets that may wait for those before them.
    private static final int HELD_MAX = 4 << 20;

    private enum Phase {
        START,
        FPDUS,
        /// A stream in which the start of the next FPDU is not known.
        LOST,
        FOREIGN
    }

    /// @param flags of a frame of MPA
    private record Frame(boolean isReply, int flags) {}

    /// Packets seen, for counting.
    long packets;

    private final CRC32C crc32c = new CRC32C();
    private Phase phase = Phase.LOST;
    private boolean isIwarp;
    private boolean isSynced;
    /// The sequence number of octet 0.
    private int base;
    /// The first octet that has not come.
    private long next;
    /// The first that the other end has not got.
    private long acknowledged;
    private final TreeMap<Long, byte[]> held = new TreeMap<>();
    private int heldBytes;

    /// The bytes that have come and are not part of a complete frame or FPDU yet.
    private byte[] bytes = new byte[0];

    private int from;
    private int to;

    /// Octets told since the first FPDU, for the markers among them.
    private long position;
    /// The frame that this end has sent; null when it was not seen.
    private @Nullable Frame frame;

    private final List<Said> said = new ArrayList<>();

    boolean isIwarp() {
        return isIwarp;
    }

    /// Returns the frames and FPDUs that are complete now.
    ///
    /// @param back the other direction
    List<Said> add(Tcp packet, StreamDirection back) {
        said.clear();
        if (packet.has(Tcp.SYN)) {
            begin(packet.sequence() + 1, Phase.START);
        } else if (!isSynced) {
            begin(packet.sequence(), Phase.LOST);
        }
        if (phase != Phase.FOREIGN && packet.payloadBytes() > 0) {
            take(packet, back);
        }
        if (packet.has(Tcp.ACK) && back.isSynced) {
            back.acknowledged = back.octet(packet.acknowledgement());
        }
        if (!held.isEmpty() && held.firstKey() <= acknowledged) {
            skipTo(held.firstKey(), back); // the other end has what the capture has not
        }
        if (isIwarp && packet.has(Tcp.FIN)) {
            tell("", "end of the stream");
        }
        if ((isIwarp || back.isIwarp) && packet.has(Tcp.RST)) {
            tell("", "connection reset");
        }
        return List.copyOf(said);
    }

    private void begin(int sequence, Phase as) {
        base = sequence;
        next = 0;
        acknowledged = 0;
        isSynced = true;
        isIwarp = false;
        phase = as;
        frame = null;
        from = 0;
        to = 0;
        held.clear();
        heldBytes = 0;
    }

    /// Returns the octet of a sequence number: the octet nearest to the bytes that have come.
    private long octet(int sequence) {
        return next + (sequence - (base + (int) next));
    }

    private void tell(String name, String text) {
        said.add(new Said(name, text, false, false));
    }

    // ---- segments

    private void take(Tcp packet, StreamDirection back) {
        long at = octet(packet.sequence());
        byte[] payload = packet.payload().toArray(ValueLayout.JAVA_BYTE);
        if (at > next) {
            hold(at, payload, back);
        } else if (at + payload.length > next) {
            append(Arrays.copyOfRange(payload, (int) (next - at), payload.length), back);
            release(back);
        }
        long end = at + packet.payloadBytes();
        if (payload.length < packet.payloadBytes() && at + payload.length == next && end > next) {
            skipTo(end, back); // the capture has cut it
        }
    }

    private void hold(long at, byte[] payload, StreamDirection back) {
        if (held.putIfAbsent(at, payload) == null) {
            heldBytes += payload.length;
        }
        if (heldBytes > HELD_MAX) {
            skipTo(held.firstKey(), back);
        }
    }

    private void release(StreamDirection back) {
        while (!held.isEmpty() && held.firstKey() <= next) {
            var first = held.pollFirstEntry();
            heldBytes -= first.getValue().length;
            if (first.getKey() + first.getValue().length > next) {
                append(
                        Arrays.copyOfRange(first.getValue(), (int) (next - first.getKey()), first.getValue().length),
                        back);
            }
        }
    }

    private void skipTo(long octet, StreamDirection back) {
        if (isIwarp) {
            tell("", "gap: " + (octet - next) + " bytes are not in the capture");
        }
        next = octet;
        from = 0;
        to = 0;
        phase = Phase.LOST;
        release(back);
    }

    private void append(byte[] segment, StreamDirection back) {
        next += segment.length;
        if (phase == Phase.FOREIGN || (phase == Phase.LOST && from == to && !mayBegin(segment))) {
            return;
        }
        if (to + segment.length > bytes.length) {
            System.arraycopy(bytes, from, bytes, 0, to - from);
            to -= from;
            from = 0;
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length, Integer.highestOneBit(to + segment.length) << 1));
        }
        System.arraycopy(segment, 0, bytes, to, segment.length);
        to += segment.length;
        parse(back);
    }

    // ---- frames and FPDUs

    private void parse(StreamDirection back) {
        boolean more = true;
        while (more && from < to) {
            more = switch (phase) {
                case START -> start();
                case FPDUS -> fpdu(back);
                case LOST -> join();
                case FOREIGN -> false;
            };
        }
    }

    private boolean start() {
        MemorySegment rest = MemorySegment.ofArray(bytes).asSlice(from, to - from);
        int asRequest = MpaFrame.length(rest, 0, to - from, false);
        int length = asRequest >= 0 ? asRequest : MpaFrame.length(rest, 0, to - from, true);
        if (length < 0) {
            phase = Phase.FOREIGN;
            from = 0;
            to = 0;
            bytes = new byte[0];
        } else if (length > 0) {
            boolean isReply = asRequest < 0;
            frame = new Frame(isReply, MpaFrame.flags(rest, 0));
            isIwarp = true;
            position = 0;
            tell(isReply ? IwarpStreams.MPA_REPLY : IwarpStreams.MPA_REQUEST, FpduText.mpa(rest, isReply));
            from += length;
            phase = Phase.FPDUS;
        }
        return length != 0;
    }

    /// Returns whether FPDUs have CRCs: both ends use them when the reply says so (RFC 5044 7.1.1). Without a reply
    /// it is not known.
    private boolean hasCrc(StreamDirection back) {
        Frame reply = frame != null && frame.isReply ? frame : back.frame;
        return reply != null && reply.isReply && (reply.flags & MpaFrame.CRC) != 0;
    }

    private boolean fpdu(StreamDirection back) {
        MemorySegment all = MemorySegment.ofArray(bytes);
        boolean markers = frame != null && back.frame != null && (back.frame.flags & MpaFrame.MARKERS) != 0;
        int front = markers && Fpdu.toMarker(position) == 0 ? Fpdu.MARKER_BYTES : 0;
        if (to - from < front + Fpdu.LENGTH_BYTES) {
            return false;
        }
        int length = Fpdu.length(Fpdu.ulpduLength(all, from + front));
        int raw = markers ? Fpdu.withMarkers(position, length) : length;
        if (to - from < raw) {
            return false;
        }
        boolean isCrcBad = hasCrc(back) && !isCrcRight(from, raw);
        MemorySegment plain = markers ? withoutMarkers(raw, length) : all.asSlice(from, length);
        RdmapOpcode opcode = FpduText.opcode(plain);
        said.add(new Said(
                opcode == null ? "" : opcode.name(),
                FpduText.format(plain, FpduText.Places.NUMBERS),
                isCrcBad,
                opcode == null));
        from += raw;
        position += raw;
        return true;
    }

    private MemorySegment withoutMarkers(int raw, int length) {
        MemorySegment plain = MemorySegment.ofArray(new byte[length]);
        Fpdu.copyWithoutMarkers(MemorySegment.ofArray(bytes), from, raw, position, plain);
        return plain;
    }

    private boolean isCrcRight(int at, int length) {
        int covered = length - Fpdu.CRC_BYTES;
        return Fpdu.crc(crc32c, ByteBuffer.wrap(bytes), at, covered)
                == Fpdu.crc(MemorySegment.ofArray(bytes), at + covered);
    }

    // ---- a stream that is not known from its start

    /// Returns whether these can be the first bytes of an FPDU.
    private static boolean mayBegin(byte[] segment) {
        if (segment.length < Fpdu.LENGTH_BYTES + Ddp.UNTAGGED_BYTES) {
            return false;
        }
        MemorySegment b = MemorySegment.ofArray(segment);
        int ddp = Fpdu.LENGTH_BYTES;
        RdmapOpcode opcode = RdmapOpcode.of(Ddp.opcode(b, ddp));
        return opcode != null
                && Ddp.version(b, ddp) == Ddp.VERSION
                && Ddp.rdmapVersion(b, ddp) == Ddp.RDMAP_VERSION
                && Ddp.isTagged(b, ddp) == opcode.isTagged()
                && (opcode.isTagged() || Ddp.queue(b, ddp) == opcode.queue())
                && Fpdu.ulpduLength(b, 0) >= opcode.headerBytes();
    }

    private boolean join() {
        int length = Fpdu.length(Fpdu.ulpduLength(MemorySegment.ofArray(bytes), from));
        if (to - from < length) {
            return false;
        }
        if (to - from != length && !isCrcRight(from, length)) {
            from = to; // it only looked like one
            return false;
        }
        isIwarp = true;
        phase = Phase.FPDUS;
        return true;
    }
}
