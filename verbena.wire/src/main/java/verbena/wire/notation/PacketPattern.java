package verbena.wire.notation;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Scanner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Payload;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// A packet as a script names it: the opcode and some of its fields. Compared with a frame, what is not named may
/// be anything; built into a frame, it gets a sane value. Immutable.
public final class PacketPattern {
    static final String BYTES = "bytes";
    static final String BAD_ICRC = "badicrc";
    private static final String OPCODE = "opcode";
    private static final String PAYLOAD = "|";
    // name+offset or name-offset
    private static final Pattern REGION = Pattern.compile("([A-Za-z][A-Za-z0-9_.]*)([+-])([0-9]+|0x[0-9a-fA-F]+)");

    private final String text;
    private final Names names;
    private @Nullable Shape shape; // null for raw bytes
    private byte[] bytes = {};
    private Syndrome.@Nullable Kind kind; // that the head of an acknowledgement names
    private final Map<Field, Long> fields = new EnumMap<>(Field.class);
    private int payloadBytes = -1; // not named
    private boolean badIcrc;

    private PacketPattern(String text, Names names) {
        this.text = text.strip();
        this.names = names;
    }

    /// Reads one packet in the notation.
    ///
    /// @throws NotationException when a word is unknown, has no place in a packet of that opcode, or a value does
    /// not fit
    public static PacketPattern parse(String text, Names names) {
        var pattern = new PacketPattern(text, names);
        Deque<String> words = new Scanner(pattern.text).tokens().collect(Collectors.toCollection(ArrayDeque::new));
        pattern.parseHead(words);
        while (!words.isEmpty()) {
            pattern.parseField(words);
        }
        return pattern;
    }

    /// Returns whether every named field of `frame` is as named. A bad ICRC is compared only when `badicrc` is
    /// there.
    public boolean matches(Frame frame) {
        return differences(frame).isEmpty();
    }

    /// Returns the differences, a line for each named field: `psn: expected 101, was 102`. Empty when the frame
    /// matches.
    public List<String> differences(Frame frame) {
        var differences = new ArrayList<String>();
        if (badIcrc && frame.icrcValid) {
            differences.add("icrc: expected bad, was right");
        }
        Shape expected = shape;
        boolean isShort = frame.length < Packet.BYTES_MIN;
        if (expected == null || isShort) {
            String was = isShort
                    ? BYTES + " " + PacketText.hex(frame)
                    : Shape.of(frame).name();
            String wanted = expected == null ? BYTES + " " + HexFormat.of().formatHex(bytes) : expected.name();
            if (!was.equals(wanted)) {
                differences.add("expected " + wanted + ", was " + was);
            }
            return differences;
        }
        compare(expected, frame, differences);
        return differences;
    }

    /// Fills `frame` with this packet; `payload` is copied and repeated as often as the payload's length needs,
    /// null stands for zeroes. Fields that are not named become 0, with four exceptions. The P_Key is the default
    /// one, the pad count is right, the syndrome of an acknowledgement is that of its name, and `len` of a whole
    /// WRITE is its payload. The frame's addresses are left alone; the ICRC is zero, to be sealed unless
    /// [Frame#icrcValid] is false because the notation says `badicrc`.
    ///
    /// @throws IllegalArgumentException when the packet is larger than [Frame#PACKET_MAX]
    public void build(Frame frame, @Nullable MemorySegment payload) {
        frame.icrcValid = !badIcrc;
        Shape built = shape;
        if (built == null) {
            MemorySegment.copy(bytes, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, bytes.length);
            frame.length = bytes.length;
            return;
        }
        Opcode opcode = built.opcode();
        int headerBytes = opcode == null ? Bth.BYTES : opcode.headerBytes();
        int payloadBytes = payloadBytesBuilt(opcode);
        int padDerived = built.padCountDerived(payloadBytes);
        int padCount = Math.toIntExact(fields.getOrDefault(Field.PAD, (long) padDerived));
        int padBytes = opcode == null ? 0 : padCount;
        long length = (long) headerBytes + payloadBytes + padBytes + Packet.ICRC_BYTES;
        if (length > Frame.PACKET_MAX) {
            throw new IllegalArgumentException(
                    "packet \"" + text + "\": " + length + " bytes, at most " + Frame.PACKET_MAX + " fit a frame");
        }
        frame.length = (int) length;
        frame.packet().fill((byte) 0);
        Bth.setOpcode(frame.slot, frame.start, built.code());
        Bth.setPkey(frame.slot, frame.start, Bth.PKEY_DEFAULT);
        Bth.setPadCount(frame.slot, frame.start, padCount);
        buildDefaults(frame, opcode, payloadBytes);
        fields.forEach((field, value) -> field.write(frame, opcode, value));
        fill(frame.slot.asSlice(frame.start + headerBytes, payloadBytes), payload);
    }

    /// Returns the value of a field by its word (`psn`, `len`, …) if the packet names it. A flag is 1.
    public OptionalLong value(String word) {
        for (var field : fields.entrySet()) {
            if (field.getKey().word.equals(word)) {
                return OptionalLong.of(field.getValue());
            }
        }
        return OptionalLong.empty();
    }

    /// Returns the opcode, or null when the packet is given by an opcode's number or by its bytes.
    public @Nullable Opcode opcode() {
        return shape == null ? null : shape.opcode();
    }

    /// Returns the named number of payload bytes.
    public OptionalInt payloadBytes() {
        return payloadBytes < 0 ? OptionalInt.empty() : OptionalInt.of(payloadBytes);
    }

    /// Returns whether the packet is marked with `badicrc`.
    public boolean badIcrc() {
        return badIcrc;
    }

    /// Returns the text from which the pattern was read.
    @Override
    public String toString() {
        return text;
    }

    private void parseHead(Deque<String> words) {
        String head = words.poll();
        if (head == null) {
            throw wrong("empty");
        }
        if (head.equals(BYTES)) {
            bytes = words.isEmpty() || words.peek().equals(BAD_ICRC) ? bytes : hexBytes(words.remove());
            return;
        }
        if (head.equals(OPCODE)) {
            int code = (int) number(OPCODE, words, 8);
            shape = new Shape(code, null);
            return;
        }
        Opcode opcode = opcodeOf(head);
        shape = new Shape(opcode.code(), opcode);
        if (kind == Syndrome.Kind.NAK && !words.isEmpty()) {
            parseNakReason(words);
        }
    }

    private Opcode opcodeOf(String head) {
        if (head.equals("CNP")) {
            return Opcode.CNP;
        }
        if (head.equals("SELECTIVE_ACK")) {
            return Opcode.SELECTIVE_ACK;
        }
        Transport transport = Transport.RC;
        String name = head;
        for (Transport candidate : Transport.values()) {
            if (head.startsWith(candidate + "_")) {
                transport = candidate;
                name = head.substring(candidate.name().length() + 1);
            }
        }
        kind = switch (name) {
            case "ACK" -> Syndrome.Kind.ACK;
            case "NAK" -> Syndrome.Kind.NAK;
            case "RNR" -> Syndrome.Kind.RNR_NAK;
            default -> null;
        };
        try {
            return Opcode.of(transport, kind == null ? Operation.valueOf(name) : Operation.ACKNOWLEDGE);
        } catch (IllegalArgumentException _) {
            throw wrong("there is no packet called " + head);
        }
    }

    private void parseNakReason(Deque<String> words) {
        for (int syndrome = Syndrome.NAK_SEQUENCE; syndrome <= Syndrome.NAK_INVALID_RD_REQUEST; syndrome++) {
            if (Syndrome.text(syndrome).equals("NAK " + words.peek())) {
                words.remove();
                fields.put(Field.SYNDROME, (long) syndrome);
                return;
            }
        }
    }

    private void parseField(Deque<String> words) {
        String word = words.remove();
        if (word.equals(BAD_ICRC)) {
            badIcrc = true;
            return;
        }
        Shape parsed = shape;
        if (parsed == null) {
            throw wrong("\"" + word + "\" has no place behind bytes");
        }
        if (word.equals(PAYLOAD)) {
            payloadBytes = (int) number(PAYLOAD, words, 16);
            return;
        }
        if (!Field.isWord(word)) {
            parseRegion(word, parsed.opcode());
            return;
        }
        Field field = Field.of(word, parsed.opcode());
        if (field == null) {
            throw wrong(parsed.name() + " has no field " + word);
        }
        put(field, field.form == Field.Form.FLAG ? flag(words) : value(field, words));
    }

    /// Reads the value of a flag: a `0` behind its word clears it, otherwise it is set.
    private static long flag(Deque<String> words) {
        if ("0".equals(words.peek())) {
            words.remove();
            return 0;
        }
        return 1;
    }

    private void parseRegion(String word, @Nullable Opcode opcode) {
        Matcher matcher = REGION.matcher(word);
        Field address = Field.of(Field.ADDRESS.word, opcode);
        Field key = Field.of(Field.RKEY.word, opcode);
        if (!matcher.matches()) {
            throw wrong("\"" + word + "\" is no field");
        }
        if (address == null || key == null) {
            throw wrong("it names no memory, but \"" + word + "\" does");
        }
        Names.Region region = names.region(matcher.group(1));
        if (region == null) {
            throw wrong("there is no region called " + matcher.group(1));
        }
        long offset = number("offset", matcher.group(3));
        put(address, region.virtualAddress() + (matcher.group(2).equals("-") ? -offset : offset));
        put(key, Integer.toUnsignedLong(region.rkey()));
    }

    private long value(Field field, Deque<String> words) {
        String word = words.peek();
        if (word != null && field.form == Field.Form.KEY) {
            Names.Region region = names.region(word);
            if (region != null) {
                words.remove();
                return Integer.toUnsignedLong(region.rkey());
            }
        }
        if (word != null && field.form == Field.Form.QUEUE_PAIR) {
            OptionalInt qpn = names.queuePair(word);
            if (qpn.isPresent()) {
                words.remove();
                return qpn.getAsInt();
            }
        }
        return number(field.word, words, field.bits());
    }

    // A later word overrides an earlier one: "r1+0 rkey 0x5" is r1's address with another key.
    private void put(Field field, long value) {
        if (!field.fits(value)) {
            throw wrong(field.word + " has " + field.bits() + " bits");
        }
        fields.put(field, value);
    }

    private long number(String what, Deque<String> words, int bits) {
        String word = words.poll();
        if (word == null) {
            throw wrong(what + " needs a number");
        }
        long value = number(what, word);
        if (bits < 64 && value >>> bits != 0) {
            throw wrong(what + " has " + bits + " bits, too few for " + word);
        }
        return value;
    }

    private long number(String what, String word) {
        try {
            if (word.startsWith("0x")) {
                return Long.parseUnsignedLong(word, 2, word.length(), 16);
            }
            return word.startsWith("-") ? Long.parseLong(word) : Long.parseUnsignedLong(word);
        } catch (NumberFormatException _) {
            throw wrong(what + " needs a number, not \"" + word + "\"");
        }
    }

    private byte[] hexBytes(String hex) {
        byte[] parsed;
        try {
            parsed = HexFormat.of().parseHex(hex);
        } catch (IllegalArgumentException e) {
            throw wrong(e.getMessage());
        }
        if (parsed.length >= Packet.BYTES_MIN) {
            throw wrong(BYTES + " is for packets of less than " + Packet.BYTES_MIN + " bytes");
        }
        return parsed;
    }

    private NotationException wrong(@Nullable String what) {
        return new NotationException(text, String.valueOf(what));
    }

    private void compare(Shape expected, Frame frame, List<String> differences) {
        Shape was = Shape.of(frame);
        // By number, a packet is compared as BTH and rest, whatever its opcode could tell more.
        Shape seen = expected.opcode() == null ? new Shape(was.code(), null) : was;
        if (!seen.equals(expected)) {
            differences.add("expected " + expected.name() + ", was " + was.name());
            return;
        }
        Opcode opcode = expected.opcode();
        if (kind != null && opcode != null) {
            int syndrome = Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset());
            if (Syndrome.kind(syndrome) != kind) {
                differences.add("expected " + kind + ", was " + seen.acknowledgeName(syndrome));
                return;
            }
        }
        fields.forEach((field, value) -> {
            long actual = field.read(frame, opcode);
            if (actual != value) {
                differences.add(field.word + ": expected " + field.text(value) + ", was " + field.text(actual));
            }
        });
        int actualBytes = seen.payloadBytes(frame);
        if (payloadBytes >= 0 && payloadBytes != actualBytes) {
            differences.add("payload: expected " + payloadBytes + " bytes, was " + actualBytes);
        }
    }

    private int payloadBytesBuilt(@Nullable Opcode opcode) {
        if (payloadBytes >= 0 || opcode == null) {
            return Math.max(0, payloadBytes);
        }
        Payload rule = opcode.payload();
        return rule == Payload.EIGHT || rule == Payload.SIXTEEN ? rule.bytesMin() : 0;
    }

    private void buildDefaults(Frame frame, @Nullable Opcode opcode, int payloadBytes) {
        if (opcode == null) {
            return;
        }
        if (opcode.aethOffset() >= 0) {
            Field.SYNDROME.write(frame, opcode, syndromeDefault());
        }
        boolean isWholeWrite = opcode.isWrite() && opcode.startsMessage() && opcode.endsMessage();
        if (isWholeWrite || opcode.isAtomicWrite()) {
            Field.LENGTH.write(frame, opcode, payloadBytes);
        }
    }

    private int syndromeDefault() {
        return switch (kind) {
            case RNR_NAK -> Syndrome.rnrNak(0);
            case NAK -> Syndrome.NAK_SEQUENCE;
            case ACK, RESERVED -> Syndrome.ACK;
            case null -> Syndrome.ACK;
        };
    }

    private static void fill(MemorySegment area, @Nullable MemorySegment payload) {
        if (payload == null || payload.byteSize() == 0) {
            return;
        }
        for (long at = 0; at < area.byteSize(); at += payload.byteSize()) {
            MemorySegment.copy(payload, 0, area, at, Math.min(payload.byteSize(), area.byteSize() - at));
        }
    }
}
