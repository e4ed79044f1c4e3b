package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Frames between workers as text: a type, and pairs of a field's name and its value. A whole message is named by
/// its kind. Fields that are zero or not there are `none`.
final class FrameText {
    private FrameText() {}

    /// The pairs of some words.
    static Map<String, String> pairs(String[] words) {
        if (words.length % 2 != 0) {
            throw new IllegalStateException("pairs: " + String.join(" ", words));
        }
        var pairs = new LinkedHashMap<String, String>();
        for (int i = 0; i < words.length; i += 2) {
            pairs.put(words[i], words[i + 1]);
        }
        return pairs;
    }

    /// @param rails of the two workers
    /// @param rail by which the frame goes
    static Map<String, String> fields(byte[] bytes, int rails, int rail) {
        var fields = new LinkedHashMap<String, String>();
        MemorySegment frame = MemorySegment.ofArray(bytes);
        if (rails > 1) {
            fields.put("rail", String.valueOf(rail));
            var numbers = java.nio.ByteBuffer.wrap(bytes);
            int number = numbers.getInt();
            fields.put("got", String.valueOf(numbers.getInt()));
            if (Rails.isTold(frame, bytes.length)) {
                fields.put("type", "LOST");
                fields.put("rails", "0x" + Integer.toHexString(numbers.getInt()));
                return fields;
            }
            fields.put("frame", String.valueOf(number));
            frame = frame.asSlice(Rails.HEADER_BYTES);
        }
        put(fields, frame, rails);
        return fields;
    }

    private static void put(Map<String, String> fields, MemorySegment frame, int rails) {
        @Nullable Kind kind = Kind.of(Frame.kind(frame)).orElse(null);
        long bytes = frame.byteSize() - Frame.HEADER_BYTES;
        String name = kind == null ? "kind" + Frame.kind(frame) : kind.name();
        switch (Frame.type(frame)) {
            case Frame.CREDIT -> fields.put("type", "CREDIT");
            case Frame.TAKEN -> {
                fields.put("type", "TAKEN");
                fields.put("offer", String.valueOf(Frame.offer(frame)));
            }
            case Frame.OFFER -> {
                fields.put("type", "OFFER");
                fields.put("kind", name.toLowerCase(Locale.ROOT));
                fields.put("offer", String.valueOf(Frame.offer(frame)));
                fields.put("len", String.valueOf(Frame.length(frame)));
                long keys = Frame.memory(frame, rails).stream()
                        .filter(each -> each.rkey() != 0)
                        .count();
                fields.put("keys", String.valueOf(keys));
                tag(fields, kind, Frame.tag(frame));
            }
            case Frame.WHOLE -> {
                fields.put("type", name);
                tag(fields, kind, Frame.tag(frame));
                long header = kind == Kind.ACTIVE ? Frame.tag(frame) & 0xFFFF_FFFFL : 0;
                fields.put("len", String.valueOf(bytes - header));
            }
            default -> fields.put("type", "type" + Frame.type(frame));
        }
        if (Frame.credits(frame) > 0) {
            fields.put("credits", String.valueOf(Frame.credits(frame)));
        }
        if ((Frame.flags(frame) & Frame.RESERVE) != 0) {
            fields.put("reserve", "yes");
        }
        if ((Frame.flags(frame) & Frame.CROWDED) != 0) {
            fields.put("crowded", "yes");
        }
    }

    private static void tag(Map<String, String> fields, @Nullable Kind kind, long tag) {
        String upper = String.valueOf(tag >>> 32);
        if (kind == Kind.TAGGED) {
            fields.put("tag", String.valueOf(tag));
        } else if (kind == Kind.ACTIVE) {
            fields.put("handler", upper);
            fields.put("header", String.valueOf(tag & 0xFFFF_FFFFL));
        } else {
            fields.put("call", upper);
            if ((tag & 0xFFFF_FFFFL) != 0) {
                fields.put("limit", (tag & 0xFFFF_FFFFL) + "ms");
            }
        }
    }
}
