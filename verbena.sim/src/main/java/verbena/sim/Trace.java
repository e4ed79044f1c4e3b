package verbena.sim;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Preview;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;
import verbena.wire.pcap.CaptureWriter;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.LinkType;

/// The record of a world's events: a SHA-256 of all of them, and the last [#KEPT] in full. Two runs are the same when
/// their digests are equal.
///
/// For each packet the digest covers its time, path, fate, BTH, length and ICRC, which stands for all other bytes.
/// For each completion it covers the time, place and content. Recording allocates nothing. The thread of the [World]
/// uses it.
///
/// @since 0.1
@Preview
public final class Trace {
    /// The number of events that are kept.
    public static final int KEPT = 128;

    private static final int RECORD_BYTES = 64;
    private static final int BTH_BYTES = 12;

    private enum Kind {
        SENT("->"),
        DAMAGED("-~>"),
        LATE("->>"),
        TWICE("-2>"),
        LOST("-x"),
        COMPLETION(""),
        NOTE("");

        final String arrow;

        Kind(String arrow) {
            this.arrow = arrow;
        }
    }

    private static final class Event {
        final Frame frame;
        long nanos;
        Kind kind = Kind.NOTE;
        String from = "";
        String to = "";
        String text = "";
        final WorkCompletion completion = new WorkCompletion();

        Event(Frame frame) {
            this.frame = frame;
        }
    }

    private final MessageDigest sha256;
    private final ByteBuffer pending = ByteBuffer.allocate(1_024 * RECORD_BYTES);
    private final Event[] events = new Event[KEPT];
    private long count;

    Trace() {
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
        Frame[] frames = Frame.allocate(Arena.ofAuto().allocate((long) KEPT * Frame.SLOT_BYTES, 64));
        for (int i = 0; i < KEPT; i++) {
            events[i] = new Event(frames[i]);
        }
    }

    // ---- recording

    void lost(long nanos, SimLink from, @Nullable SimLink to, Frame frame) {
        packet(nanos, Kind.LOST, from, to, frame);
    }

    void sent(long nanos, SimLink from, SimLink to, Frame frame, boolean late, boolean twice) {
        Kind kind = !frame.icrcValid ? Kind.DAMAGED : twice ? Kind.TWICE : late ? Kind.LATE : Kind.SENT;
        packet(nanos, kind, from, to, frame);
    }

    private void packet(long nanos, Kind kind, SimLink from, @Nullable SimLink to, Frame frame) {
        ByteBuffer record = record(nanos, kind, from.number, to == null ? -1 : to.number);
        record.putInt(frame.length);
        record.putLong(BigEndian.i64(frame.slot, frame.start));
        record.putInt(BigEndian.i32(frame.slot, frame.start + BTH_BYTES - Integer.BYTES));
        record.putInt(BigEndian.i32(frame.slot, frame.start + frame.length - Integer.BYTES));
        Event event = next(nanos, kind, from.name, to == null ? "nobody" : to.name);
        event.frame.copyFrom(frame);
        event.frame.icrcValid = kind != Kind.DAMAGED;
    }

    void completion(long nanos, int number, String name, WorkCompletion wc) {
        ByteBuffer record = record(nanos, Kind.COMPLETION, number, wc.qpn());
        record.putLong(wc.wrId());
        record.putInt(wc.status().ordinal());
        if (wc.ok()) {
            record.putInt(wc.opcode().code()).putLong(wc.byteLength());
            record.putInt(CompletionAccess.flags(wc)).putInt(wc.immediate());
        }
        Event event = next(nanos, Kind.COMPLETION, name, "");
        CompletionAccess.fill(
                event.completion,
                wc.wrId(),
                wc.status(),
                wc.opcode(),
                wc.vendorError(),
                wc.byteLength(),
                wc.immediate(),
                wc.qpn(),
                wc.sourceQpn(),
                CompletionAccess.flags(wc),
                wc.cause());
    }

    void note(long nanos, String where, String text) {
        ByteBuffer record = record(nanos, Kind.NOTE, where.hashCode(), text.hashCode());
        record.putInt(text.length());
        next(nanos, Kind.NOTE, where, "").text = text;
    }

    private ByteBuffer record(long nanos, Kind kind, int a, int b) {
        if (pending.remaining() < RECORD_BYTES) {
            sha256.update(pending.flip());
            pending.clear();
        }
        return pending.putLong(nanos).putInt(kind.ordinal()).putInt(a).putInt(b);
    }

    private Event next(long nanos, Kind kind, String from, String to) {
        Event event = events[(int) (count++ % KEPT)];
        event.nanos = nanos;
        event.kind = kind;
        event.from = from;
        event.to = to;
        return event;
    }

    // ---- reading

    /// Returns the SHA-256 of everything until now, in hexadecimal. Recording can go on afterwards.
    public String digest() {
        try {
            var copy = (MessageDigest) sha256.clone();
            copy.update(pending.duplicate().flip());
            return HexFormat.of().formatHex(copy.digest());
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("the JDK's SHA-256 can be cloned", e);
        }
    }

    /// Returns the last `n` events, at most [#KEPT], one line each, oldest first. Packets are in the packet
    /// notation.
    public List<String> last(int n) {
        var lines = new ArrayList<String>();
        for (long i = Math.max(0, count - Math.min(n, KEPT)); i < count; i++) {
            lines.add(line(events[(int) (i % KEPT)]));
        }
        return lines;
    }

    private static String line(Event event) {
        String time = String.format(Locale.ROOT, "%12.6fms", event.nanos / 1e6);
        return switch (event.kind) {
            case COMPLETION -> time + "  " + event.from + "  " + text(event.completion);
            case NOTE -> time + "  " + event.from + "  " + event.text;
            default ->
                time + "  " + event.from + " " + event.kind.arrow + " " + event.to + "  "
                        + PacketText.format(event.frame, Names.NUMBERS);
        };
    }

    /// Returns a completion in the notation of packet scripts.
    private static String text(WorkCompletion wc) {
        String head = String.format(Locale.ROOT, "completion qp 0x%06x  wr %d ", wc.qpn(), wc.wrId());
        if (!wc.ok()) {
            return head + word(wc.status()) + "  cause " + wc.cause();
        }
        return head + "success  opcode " + word(wc.opcode()) + " byte-len " + wc.byteLength()
                + (wc.hasImmediate() ? " imm 0x" + Integer.toHexString(wc.immediate()) : "")
                + (wc.hasInvalidate() ? " inv 0x" + Integer.toHexString(wc.invalidatedRkey()) : "");
    }

    private static String word(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// Writes the packets of the last events to a pcapng file. They are as they were on the way: with their damage,
    /// and the lost ones too.
    public void writeCapture(Path file) throws IOException {
        var encapsulation = new Encapsulation();
        MemorySegment bytes =
                MemorySegment.ofArray(new byte[Frame.PACKET_MAX + Encapsulation.OVERHEAD_MAX + 14 + RECORD_BYTES]);
        try (var writer =
                CaptureWriter.pcapng(new BufferedOutputStream(Files.newOutputStream(file)), LinkType.ETHERNET)) {
            for (long i = Math.max(0, count - KEPT); i < count; i++) {
                Event event = events[(int) (i % KEPT)];
                if (event.kind != Kind.COMPLETION && event.kind != Kind.NOTE) {
                    int length = Encapsulation.wrap(event.frame, encapsulation.envelope(event.frame), bytes);
                    writer.write(event.nanos, bytes.asSlice(0, length));
                }
            }
        }
    }
}
