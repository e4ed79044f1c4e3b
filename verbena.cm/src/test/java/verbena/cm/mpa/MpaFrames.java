package verbena.cm.mpa;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.notation.FpduText;

/// MPA frames from the notation that [FpduText] prints, for peers that a script plays.
final class MpaFrames {
    private static final byte REPLY_MARK = 'p'; // "MPA ID Rep Frame" against "MPA ID Req Frame"
    private static final int REPLY_MARK_AT = 9;

    private MpaFrames() {}

    static boolean isReply(MemorySegment frame) {
        return frame.get(ValueLayout.JAVA_BYTE, REPLY_MARK_AT) == REPLY_MARK;
    }

    /// The frame that prints so, with private data of zeroes.
    static MemorySegment parse(String text) {
        List<String> words = List.of(text.split("\\s+", -1));
        boolean isEnhanced = words.contains("ird");
        List<String> rtr = List.of(value(text, "rtr", "").split(",", -1));
        var terms = new MpaTerms(
                Integer.parseInt(value(text, "rev", "2")),
                isEnhanced,
                words.contains("crc"),
                words.contains("markers"),
                words.contains("p2p"),
                rtr.contains("send"),
                rtr.contains("write"),
                rtr.contains("read"),
                Integer.parseInt(value(text, "ird", Integer.toString(MpaFrame.DEPTH_MAX))),
                Integer.parseInt(value(text, "ord", Integer.toString(MpaFrame.DEPTH_MAX))));
        MemorySegment whole = MemorySegment.ofArray(new byte[600]);
        var data = MemorySegment.ofArray(new byte[Integer.parseInt(value(text, "|", "0"))]);
        boolean isReply = words.get(1).equals("reply");
        MemorySegment frame = whole.asSlice(0, terms.write(whole, 0, isReply, words.contains("reject"), data));
        if (!FpduText.mpa(frame, isReply).equals(text + (words.contains("|") ? "" : " | 0"))) {
            throw new IllegalStateException("it reads " + FpduText.mpa(frame, isReply));
        }
        return frame;
    }

    /// The word behind a word.
    static String value(String text, String word, String otherwise) {
        List<String> words = List.of(text.split("\\s+", -1));
        int at = words.indexOf(word);
        return at < 0 ? otherwise : words.get(at + 1);
    }
}
