package verbena.tools.kit;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/// Text from elsewhere, a file's name or an error's words, as it may be printed: it may not speak to the terminal.
public final class Legible {
    private Legible() {}

    /// Returns the text of these bytes, with escapes in place of characters that control a terminal or the
    /// direction of text.
    public static String text(byte[] bytes) {
        var text = new String(bytes, StandardCharsets.UTF_8);
        if (isPlain(text)) {
            return text;
        }
        var shown = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (Character.isISOControl(c)
                    || Character.getType(c) == Character.FORMAT
                    || c == '\u2028'
                    || c == '\u2029') {
                shown.append("\\x%02x".formatted(c));
            } else {
                shown.appendCodePoint(c);
            }
        });
        return shown.toString();
    }

    /// Returns a figure by a format for one, such as `%.1f`. A figure that rounds to zero has no sign.
    public static String figure(String format, double value) {
        String text = String.format(Locale.ROOT, format, value);
        return text.chars().noneMatch(c -> c >= '1' && c <= '9') ? text.replace("-", "") : text;
    }

    /// Returns whether it has nothing but the characters of ASCII that are printed.
    public static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                return false;
            }
        }
        return true;
    }
}
