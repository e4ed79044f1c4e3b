package verbena.tools.files;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import verbena.tools.CommandFailed;

/// Names of files as the bytes that they are. A [Path] has them inside, and gives them out as a URI only: its text
/// has lost what is not in the locale's character set.
final class Names {
    private static final Path ROOT = Path.of("/");
    private static final String HEX = "0123456789ABCDEF";

    private Names() {}

    /// The bytes of a relative path.
    static byte[] bytes(Path relative) {
        String text = relative.toString();
        if (isPlain(text)) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
        String uri = ROOT.resolve(relative).toUri().getRawPath();
        var bytes = ByteBuffer.allocate(uri.length());
        for (int i = 1; i < uri.length(); i++) {
            char c = uri.charAt(i);
            if (c == '%') {
                bytes.put((byte) Integer.parseInt(uri, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.put((byte) c);
            }
        }
        int end = bytes.position();
        while (end > 0 && bytes.get(end - 1) == '/') {
            end--; // of a folder that exists
        }
        return java.util.Arrays.copyOf(bytes.array(), end);
    }

    /// The relative path of these bytes; slashes at its start mean nothing.
    ///
    /// @throws CommandFailed when no file can be named so
    static Path path(byte[] bytes) {
        var text = new String(bytes, StandardCharsets.ISO_8859_1);
        if (text.indexOf(0) >= 0) {
            throw new CommandFailed("no path has a zero byte: " + shown(bytes));
        }
        if (isPlain(text)) {
            return Path.of(text.replaceFirst("^/+", ""));
        }
        var uri = new StringBuilder("file:///");
        for (byte b : bytes) {
            if (b == '/') {
                uri.append('/');
            } else {
                uri.append('%').append(HEX.charAt((b >> 4) & 0xF)).append(HEX.charAt(b & 0xF));
            }
        }
        return ROOT.relativize(Path.of(URI.create(uri.toString())));
    }

    /// Legible, whatever it holds: a name may not speak to the terminal.
    static String shown(Path path) {
        return shown(bytes(path));
    }

    static String shown(byte[] bytes) {
        var text = new String(bytes, StandardCharsets.UTF_8);
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

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                return false;
            }
        }
        return true;
    }
}
