package verbena.tools.explain;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.tools.explain.Event.Kind;
import verbena.tools.explain.Recorder.Chunk;
import verbena.verbs.Access;
import verbena.wire.BigEndian;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;
import verbena.wire.notation.FpduText;

/// The events of the bytes that two taps have seen of iWARP's TCP streams: MPA frames, then FPDUs.
final class Streams {
    private static final String READY =
            "An empty WRITE, which touches nothing: by it the responder knows that the initiator is ready, and may begin.";
    private static final int MPA_HEADER = MpaFrame.HEADER_BYTES;

    private final List<Chunk> chunks;
    private final List<Key> keys;
    private final List<Event> events = new ArrayList<>();
    /// The header of the segment that an end has answered with a TERMINATE, as the bytes, by that end.
    private final Map<Place, Chunk> terminated = new EnumMap<>(Place.class);

    Streams(List<Chunk> chunks, List<Key> keys) {
        this.chunks =
                chunks.stream().sorted(Comparator.comparingLong(Chunk::nanos)).toList();
        this.keys = keys;
    }

    /// Returns the number of bytes that were sent and have not arrived.
    long underWay() {
        return chunks.stream()
                .mapToLong(chunk -> chunk.sent() ? chunk.bytes().length : -chunk.bytes().length)
                .sum();
    }

    List<Event> events() {
        findTerminated();
        Map<String, List<Chunk>> sent = new LinkedHashMap<>();
        for (Chunk chunk : chunks) {
            if (chunk.sent()) {
                sent.computeIfAbsent(chunk.connection() + chunk.device().end(), _ -> new ArrayList<>())
                        .add(chunk);
            }
        }
        sent.values().forEach(this::direction);
        return events;
    }

    // All that one end has sent on a connection.
    private void direction(List<Chunk> sent) {
        Place from = sent.getFirst().device();
        List<Chunk> received = chunks.stream()
                .filter(chunk -> !chunk.sent()
                        && chunk.device() == from.opposite()
                        && chunk.connection().equals(sent.getFirst().connection()))
                .toList();
        var all = new ByteArrayOutputStream();
        sent.forEach(chunk -> all.writeBytes(chunk.bytes()));
        byte[] bytes = all.toByteArray();
        var memory = MemorySegment.ofArray(bytes);
        boolean isReply = MpaFrame.length(memory, 0, bytes.length, true) > 0;
        var units = new ArrayList<Unit>();
        for (int at = 0; at < bytes.length - 1; ) {
            int length = at == 0
                    ? MpaFrame.length(memory, 0, bytes.length, isReply)
                    : Fpdu.length(Fpdu.ulpduLength(memory, at));
            if (length <= 0 || at + length > bytes.length) {
                break; // the end of the recording cuts it
            }
            units.add(
                    new Unit(memory.asSlice(at, length), from, time(sent, at + 1), time(received, (long) at + length)));
            at += length;
        }
        if (units.isEmpty()) {
            return;
        }
        Unit start = units.removeFirst();
        tell(start, FpduText.mpa(start.bytes, isReply), mpaText(isReply), mpaParts(start.bytes));
        Unit refused = refused(units);
        boolean goesOn = false;
        boolean isOver = false;
        for (Unit unit : units) {
            goesOn = segment(unit, goesOn || isOver, unit.equals(refused));
            isOver |= unit.equals(refused); // those behind it are ignored
        }
    }

    // The one that was answered with a TERMINATE, which shows its header: the last of those that look so.
    private @Nullable Unit refused(List<Unit> units) {
        Unit last = null;
        for (Unit unit : units) {
            Chunk terminate = terminated.get(unit.from.opposite());
            if (terminate != null && unit.received >= 0 && unit.received <= terminate.nanos()) {
                byte[] header = terminate.bytes();
                boolean isLike = unit.bytes.byteSize() >= Fpdu.LENGTH_BYTES + header.length
                        && unit.bytes.asSlice(Fpdu.LENGTH_BYTES, header.length).mismatch(MemorySegment.ofArray(header))
                                < 0;
                last = isLike ? unit : last;
            }
        }
        return last;
    }

    private record Unit(MemorySegment bytes, Place from, long sent, long received) {}

    // When so many bytes had gone, or come; -1 for not at all.
    private static long time(List<Chunk> chunks, long bytes) {
        long sum = 0;
        for (Chunk chunk : chunks) {
            sum += chunk.bytes().length;
            if (sum >= bytes) {
                return chunk.nanos();
            }
        }
        return -1;
    }

    private void tell(Unit unit, String label, String text, List<Event.Part> parts) {
        boolean arrived = unit.received >= 0;
        byte[] bytes = unit.bytes.toArray(ValueLayout.JAVA_BYTE);
        events.add(new Event(
                unit.sent,
                arrived ? unit.received - unit.sent : -1,
                arrived ? Kind.PACKET : Kind.LOST,
                unit.from,
                unit.from.opposite(),
                label,
                text + (arrived ? "" : " It had not arrived when the recording ended."),
                new Event.Contents("in the TCP stream of device " + unit.from.end(), bytes, parts)));
    }

    // ---- MPA

    private static String mpaText(boolean isReply) {
        return isReply
                ? "The answer: from here on the stream carries FPDUs. What the application wants to say goes along."
                : "The first bytes of the stream: may it become an RDMA connection, with CRCs or without, and how many READs"
                        + " at once?";
    }

    private static List<Event.Part> mpaParts(MemorySegment frame) {
        var anatomy = new Anatomy(frame, 0).header("MPA frame");
        anatomy.value("key", 16, "MPA ID ...", "says what it is");
        anatomy.hex("flags", 1, "markers, CRC, reject, enhanced");
        anatomy.number("revision", 1, "");
        anatomy.number("length", 2, "of what follows");
        if (MpaFrame.isEnhanced(frame, 0)) {
            anatomy.hex("IRD", 2, "READs that may be outstanding here, and flags");
            anatomy.hex("ORD", 2, "READs that will be outstanding, and flags");
        }
        int data = (int) frame.byteSize() - MPA_HEADER - (MpaFrame.isEnhanced(frame, 0) ? MpaFrame.ENHANCED_BYTES : 0);
        if (data > 0) {
            anatomy.blob("private data", "what the application says", data);
        }
        return anatomy.parts();
    }

    // ---- FPDUs

    // Tells one; the answer is whether its message goes on.
    private boolean segment(Unit unit, boolean isUnchecked, boolean isRefused) {
        MemorySegment b = unit.bytes;
        int ulpdu = Fpdu.ulpduLength(b, 0);
        RdmapOpcode opcode = FpduText.opcode(b);
        if (opcode == null) {
            tell(unit, FpduText.format(b, this::place), "Its opcode is not defined.", List.of());
            return false;
        }
        int ddp = Fpdu.LENGTH_BYTES;
        int body = ddp + opcode.headerBytes();
        int payload = ulpdu - opcode.headerBytes();
        boolean last = Ddp.isLast(b, ddp);
        boolean isReady = opcode == RdmapOpcode.WRITE && payload == 0 && Ddp.taggedOffset(b, ddp) == 0;
        tell(unit, FpduText.format(b, this::place), isReady ? READY : text(opcode, b, body), parts(opcode, b, payload));
        if (!isUnchecked && !isReady && unit.received >= 0) {
            check(opcode, unit, ddp, body, payload, !isRefused);
        }
        return !last;
    }

    private void findTerminated() {
        for (Chunk chunk : chunks) {
            byte[] bytes = chunk.bytes();
            var memory = MemorySegment.ofArray(bytes);
            int body = Fpdu.LENGTH_BYTES + Ddp.UNTAGGED_BYTES;
            if (chunk.sent()
                    && isTerminate(bytes)
                    && bytes.length >= body + Terminate.CONTROL_BYTES
                    && (Terminate.flags(memory, body) & Terminate.HAS_DDP) != 0) {
                int at = body + Terminate.ddpOffset(memory, body);
                int count = Ddp.isTagged(memory, at) ? Ddp.TAGGED_BYTES : Ddp.UNTAGGED_BYTES;
                terminated.put(
                        chunk.device(),
                        new Chunk(
                                chunk.device(),
                                true,
                                chunk.nanos(),
                                chunk.connection(),
                                Arrays.copyOfRange(bytes, at, at + count)));
            }
        }
    }

    private String place(int stag, long offset) {
        Key key = Key.of(stag, keys);
        return key == null ? FpduText.Places.NUMBERS.name(stag, offset) : key.name() + "+" + (offset - key.address());
    }

    private static String text(RdmapOpcode opcode, MemorySegment b, int body) {
        return switch (opcode) {
            case WRITE ->
                "A tagged segment: its steering tag (STag) and offset say where in the receiver's memory it goes."
                        + " iWARP acknowledges no WRITE: TCP has it delivered, and that is all.";
            case READ_REQUEST -> "Asks for bytes: from where there, to where here.";
            case READ_RESPONSE -> "Bytes that were asked for, tagged with where they go.";
            case SEND, SEND_SOLICITED -> "A message, untagged: the receiver's next posted receive takes it.";
            case SEND_INVALIDATE, SEND_SOLICITED_INVALIDATE ->
                "A message that also withdraws a key of the receiver: no peer can use that key any more.";
            case TERMINATE -> {
                TerminateCode code = FpduText.code(b, body);
                yield "The connection ends with an error: "
                        + (code == null ? "of no known kind." : code.explanation() + ".");
            }
            case IMMEDIATE, IMMEDIATE_SOLICITED -> "32 bits for the receiver's application, behind a WRITE.";
            case ATOMIC_REQUEST -> "An atomic: the receiver's device does it in one step.";
            case ATOMIC_RESPONSE -> "The answer to an atomic: what the memory held before.";
        };
    }

    private static List<Event.Part> parts(RdmapOpcode opcode, MemorySegment b, int payload) {
        var anatomy = new Anatomy(b, 0).header("MPA");
        anatomy.number("ULPDU length", 2, "bytes that follow, but pad and CRC");
        anatomy.header("DDP and RDMAP");
        anatomy.hex("DDP control", 1, "tagged or not, last of its message or not, version");
        anatomy.value("RDMAP control", 1, opcode.name(), "version and opcode");
        if (opcode.isTagged()) {
            anatomy.hex("STag", 4, "the key of the memory that it goes to");
            anatomy.hex("tagged offset", 8, "where in it");
        } else {
            anatomy.hex("invalidate STag", 4, "the key to withdraw, if any");
            anatomy.number("queue", 4, "0 SEND, 1 READ requests, 2 TERMINATE, 3 atomic responses");
            anatomy.number("MSN", 4, "which message of the queue");
            anatomy.number("message offset", 4, "where in that message");
        }
        if (opcode == RdmapOpcode.READ_REQUEST && payload >= ReadRequest.BYTES) {
            anatomy.header("READ request")
                    .hex("sink STag", 4, "where to, here")
                    .hex("sink offset", 8, "")
                    .number("size", 4, "bytes")
                    .hex("source STag", 4, "where from, there")
                    .hex("source offset", 8, "");
        } else if (payload > 0) {
            anatomy.header("payload").blob("data", "", payload);
        }
        int rest = (int) b.byteSize() - Fpdu.CRC_BYTES - Fpdu.LENGTH_BYTES - opcode.headerBytes() - payload;
        anatomy.header("MPA");
        if (rest > 0) {
            anatomy.blob("pad", "makes it a multiple of 4 bytes", rest);
        }
        return anatomy.hex("CRC32c", 4, "of everything before").parts();
    }

    // Whether the receiver allowed it is told by what it did: a refusal is a TERMINATE that shows the segment.
    private void check(RdmapOpcode opcode, Unit unit, int ddp, int body, int payload, boolean allowed) {
        MemorySegment b = unit.bytes;
        switch (opcode) {
            case WRITE -> {
                int stag = Ddp.stag(b, ddp);
                add(unit, allowed, stag, Ddp.taggedOffset(b, ddp), payload, Access.REMOTE_WRITE);
            }
            case READ_REQUEST -> {
                int stag = ReadRequest.sourceStag(b, body);
                add(
                        unit,
                        allowed,
                        stag,
                        ReadRequest.sourceOffset(b, body),
                        ReadRequest.size(b, body),
                        Access.REMOTE_READ);
            }
            case ATOMIC_REQUEST -> {
                int stag = AtomicRequest.stag(b, body);
                add(unit, allowed, stag, AtomicRequest.taggedOffset(b, body), Long.BYTES, Access.REMOTE_ATOMIC);
            }
            default -> {}
        }
    }

    private void add(Unit unit, boolean allowed, int stag, long address, long bytes, Access right) {
        events.add(Wording.check(
                unit.from.opposite(), unit.received, allowed, Key.of(stag, keys), stag, address, bytes, right));
    }

    private static boolean isTerminate(byte[] bytes) {
        var memory = MemorySegment.ofArray(bytes);
        return bytes.length >= Fpdu.LENGTH_BYTES + Ddp.UNTAGGED_BYTES
                && BigEndian.u8(memory, 0) != 'M'
                && RdmapOpcode.of(Ddp.opcode(memory, Fpdu.LENGTH_BYTES)) == RdmapOpcode.TERMINATE;
    }
}
