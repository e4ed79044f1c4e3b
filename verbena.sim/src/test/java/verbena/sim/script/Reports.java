package verbena.sim.script;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.transport.Shortcut;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.PathMigration;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.ib.Grh;
import verbena.wire.notation.PacketPattern;
import verbena.wire.notation.PacketText;

/// The lines that compare what an end shows: completions, events, state, counters, memory.
final class Reports {
    private static final int UDP = 17;
    private static final int UDP_BYTES = 8;
    private static final int IPV4_BYTES = 20;

    private Reports() {}

    /// `at-once all`, `at-once some`
    static void atOnce(End end, Words words) {
        boolean isAll = words.accept("all");
        if (!isAll) {
            words.expect("some");
        }
        boolean didAll = end.protocol instanceof Shortcut shortcut && shortcut.carryOut();
        if (didAll != isAll) {
            throw new Mismatch(end.name + (isAll ? " left some of it" : " did all of it"));
        }
    }

    /// `shown WRITE_ONLY psn 100`, `shown nothing`
    static void shown(Ends ends, End end, Words words) {
        Frame frame = end.shown.poll();
        if (words.accept("nothing")) {
            if (frame != null) {
                throw new Mismatch(end.name + " has shown " + PacketText.format(frame, ends));
            }
            return;
        }
        PacketPattern pattern = PacketPattern.parse(words.rest(), ends);
        if (frame == null) {
            throw new Mismatch(end.name + " has shown nothing more");
        }
        List<String> differences = pattern.differences(frame);
        if (!differences.isEmpty()) {
            throw new Mismatch(
                    end.name + " has shown " + PacketText.format(frame, ends) + "\n" + String.join("\n", differences));
        }
    }

    /// What was found, for the log; null when none was expected.
    static @Nullable String completion(Ends ends, End end, Words words, long now) {
        var completion = new WorkCompletion();
        boolean none = words.accept("none");
        boolean there = end.takeCompletion(completion, now);
        if (none) {
            if (there) {
                throw new Mismatch(end.name + " completion " + text(completion));
            }
            return null;
        }
        if (!there) {
            throw new Mismatch(end.name + " has no completion");
        }
        String actual = text(completion);
        while (!words.isEmpty()) {
            String word = words.next("word");
            boolean same = switch (word) {
                case "wr" -> completion.wrId() == words.number("wr");
                case "byte-len" -> completion.byteLength() == words.number("byte-len");
                case "imm" -> completion.hasImmediate() && completion.immediate() == (int) words.number("immediate");
                case "inv" ->
                    completion.hasInvalidate() && completion.invalidatedRkey() == ends.key(words.next("key"), words);
                case "qp" -> completion.qpn() == ends.qpnOf(words.next("end"));
                case "source-qp" -> completion.sourceQpn() == words.integer(word);
                case "grh" -> completion.hasGrh();
                case "opcode" -> name(completion.opcode()).equals(words.next("opcode"));
                case "cause" -> completion.cause().contains(words.rest());
                default -> status(word, words) == completion.status();
            };
            if (!same) {
                throw new Mismatch(end.name + " completion " + actual);
            }
        }
        return end.name + " completion " + actual;
    }

    static String text(WorkCompletion wc) {
        if (!wc.ok()) {
            return "wr %d %s cause %s".formatted(wc.wrId(), name(wc.status()), wc.cause());
        }
        return "wr %d success opcode %s byte-len %d".formatted(wc.wrId(), name(wc.opcode()), wc.byteLength())
                + (wc.sourceQpn() != 0 ? " source-qp 0x%x".formatted(wc.sourceQpn()) : "")
                + (wc.hasImmediate() ? " imm 0x%08x".formatted(wc.immediate()) : "")
                + (wc.hasInvalidate() ? " inv 0x%08x".formatted(wc.invalidatedRkey()) : "");
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static WcStatus status(String word, Words words) {
        for (WcStatus status : WcStatus.values()) {
            if (name(status).equals(word)) {
                return status;
            }
        }
        throw words.wrong("\"" + word + "\" is no status");
    }

    static void event(End end, Words words) {
        if (words.accept("none")) {
            AsyncEvent.Type event = end.takeEvent();
            if (event != null) {
                throw new Mismatch(end.name + " event " + event);
            }
            return;
        }
        AsyncEvent.Type expected = AsyncEvent.Type.valueOf(words.next("event"));
        AsyncEvent.Type actual = end.takeEvent();
        if (actual != expected) {
            throw new Mismatch(actual == null ? end.name + " has no event" : end.name + " event " + actual);
        }
    }

    static void state(End end, Words words) {
        QpState expected = QpState.valueOf(words.next("state"));
        if (end.parameters.state != expected) {
            throw new Mismatch(end.name + " state " + end.parameters.state);
        }
    }

    /// `migration ARMED`
    static void migration(End end, Words words) {
        PathMigration expected = PathMigration.valueOf(words.next("state"));
        if (end.parameters.migration != expected) {
            throw new Mismatch(end.name + " migration " + end.parameters.migration);
        }
    }

    static void counter(End end, Words words) {
        String counter = words.next("counter");
        Long actual = end.host.counters.snapshot().get(counter);
        if (actual == null) {
            throw words.wrong("there is no counter called " + counter);
        }
        if (actual != words.number("value")) {
            throw new Mismatch(end.name + " counter " + counter + " " + actual);
        }
    }

    static void notified(End end, Words words) {
        long expected = words.isEmpty() ? 1 : words.number("times");
        if (end.notifications != expected) {
            throw new Mismatch(end.name + " was notified " + end.notifications + " times");
        }
        end.notifications = 0;
    }

    static void memory(Ends ends, End end, Words words) {
        if (words.accept("unchanged")) {
            end.host.areas.values().forEach(area -> unchanged(end, area, 0, 0));
            return;
        }
        Place place = ends.place(end, words);
        if (words.accept("unchanged")) {
            unchanged(end, place.area(), 0, 0);
            return;
        }
        int length = Grh.BYTES;
        byte[] expected;
        if (words.accept("grh")) {
            expected = grhArea(end.host.arrived);
        } else {
            words.expect("len");
            length = words.integer("length");
            words.expect("as");
            expected = expected(ends, end, length, words);
        }
        byte[] actual = place.area().bytes(place.offset(), length);
        int differs = Arrays.mismatch(expected, actual);
        if (differs >= 0) {
            int until = Math.min(differs + 8, Math.min(expected.length, actual.length));
            throw new Mismatch("%s %s+%d is %s, expected %s"
                    .formatted(
                            end.name,
                            place.area().name,
                            place.offset() + differs,
                            HexFormat.of().formatHex(actual, differs, until),
                            HexFormat.of().formatHex(expected, differs, until)));
        }
        if (words.accept("only")) {
            unchanged(end, place.area(), place.offset(), length);
        }
    }

    /// What precedes a datagram in its receive: the IPv6 header that it came in, or 20 zeroes and the IPv4 header
    /// (IBTA A17.4.5.1) with a checksum that is right.
    private static byte[] grhArea(Frame arrived) {
        var area = ByteBuffer.allocate(Grh.BYTES);
        if (!new Gid(arrived.sourceHigh, arrived.sourceLow).isIpv4()) {
            return area.putInt(6 << 28 | arrived.trafficClass << 20)
                    .putShort((short) (UDP_BYTES + arrived.length))
                    .put((byte) UDP)
                    .put((byte) arrived.hopLimit)
                    .putLong(arrived.sourceHigh)
                    .putLong(arrived.sourceLow)
                    .putLong(arrived.destinationHigh)
                    .putLong(arrived.destinationLow)
                    .array();
        }
        area.position(Grh.BYTES - IPV4_BYTES)
                .put((byte) 0x45)
                .put((byte) arrived.trafficClass)
                .putShort((short) (IPV4_BYTES + UDP_BYTES + arrived.length))
                .putShort((short) 0)
                .putShort((short) 0x4000) // DF
                .put((byte) arrived.hopLimit)
                .put((byte) UDP)
                .putShort((short) 0)
                .putInt((int) arrived.sourceLow)
                .putInt((int) arrived.destinationLow);
        int sum = 0;
        for (int i = Grh.BYTES - IPV4_BYTES; i < Grh.BYTES; i += Short.BYTES) {
            sum += Short.toUnsignedInt(area.getShort(i));
        }
        return area.putShort(Grh.BYTES - 10, (short) ~((sum & 0xFFFF) + (sum >>> 16)))
                .array();
    }

    private static byte[] expected(Ends ends, End end, int length, Words words) {
        End sender = ends.sender(end, words);
        if (words.accept("sent")) {
            byte[] sent = sender.lastSent;
            return Arrays.copyOf(sent == null ? sender.out().pattern() : sent, length);
        }
        if (words.accept("wr")) {
            byte[] sent = sender.sent.get(words.number("wr"));
            if (sent == null) {
                throw words.wrong("no data was posted with that number");
            }
            return Arrays.copyOf(sent, length);
        }
        Place place = ends.place(sender, words);
        return place.area().bytes(place.offset(), length);
    }

    private static void unchanged(End end, Area area, long from, long length) {
        if (area.isClosed()) {
            return;
        }
        long changed = area.firstChangeOutside(from, length);
        if (changed >= 0) {
            throw new Mismatch(end.name + " " + area.name + "+" + changed + " has changed");
        }
    }

    static void word(Ends ends, End end, Words words) {
        Place place = ends.place(end, words);
        words.expect("is");
        long actual = place.area().word(place.offset());
        if (actual != words.number("value")) {
            throw new Mismatch("%s word %s+%d is %d (0x%x)"
                    .formatted(end.name, place.area().name, place.offset(), actual, actual));
        }
    }
}
