package verbena.tools.files;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import verbena.tools.CommandFailed;

/// Names of files as the bytes that they are. A [Path] has them inside, and gives them out as a URI only: its text
/// has lost what is not in the locale's character set.
final class Names {
    private static final Path ROOT = Path.of("/");
    private static final Path EMPTY = Path.of("");
    private static final String HEX = "0123456789ABCDEF";

    private Names() {}

    /// The bytes of a path; with a slash before them when it is absolute.
    static byte[] bytes(Path path) {
        String text = path.toString();
        if (isPlain(text)) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
        var bytes = new ByteArrayOutputStream();
        for (Path name : path) {
            if (path.isAbsolute() || bytes.size() > 0) {
                bytes.write('/');
            }
            bytes.writeBytes(nameBytes(name));
        }
        return bytes.toByteArray();
    }

    private static byte[] nameBytes(Path name) {
        String uri = ROOT.resolve(name).toUri().getRawPath();
        var bytes = new ByteArrayOutputStream();
        for (int i = 1; i < uri.length(); i++) {
            char c = uri.charAt(i);
            if (c == '%') {
                bytes.write(Integer.parseInt(uri, i + 1, i + 3, 16));
                i += 2;
            } else if (c != '/') { // which a folder that exists has at its end
                bytes.write(c);
            }
        }
        return bytes.toByteArray();
    }

    /// The relative path of these bytes, name by name, whatever the names are. Slashes at its start mean nothing, nor
    /// do
    /// those behind another one or at its end.
    ///
    /// @throws CommandFailed when no file can be named so
    static Path path(byte[] bytes) {
        var text = new String(bytes, StandardCharsets.ISO_8859_1);
        if (text.indexOf(0) >= 0) {
            throw new CommandFailed("no path has a zero byte: " + shown(bytes));
        }
        if (isPlain(text)) {
            int start = 0;
            while (start < text.length() && text.charAt(start) == '/') {
                start++;
            }
            return Path.of(text.substring(start));
        }
        Path path = EMPTY;
        for (String name : text.split("/+", -1)) {
            if (!name.isEmpty()) {
                path = path.resolve(name(name)); // does not take ".." for a step
            }
        }
        return path;
    }

    private static Path name(String text) {
        if (isPlain(text)) {
            return Path.of(text);
        }
        var uri = new StringBuilder("file:///");
        for (byte b : text.getBytes(StandardCharsets.ISO_8859_1)) {
            uri.append('%').append(HEX.charAt((b >> 4) & 0xF)).append(HEX.charAt(b & 0xF));
        }
        return Path.of(URI.create(uri.toString())).getFileName();
    }

    /// Legible, whatever it holds: a name may not speak to the terminal.
    static String shown(Path path) {
        String text = path.toString();
        return isPlain(text) ? text : shown(bytes(path));
    }

    static String shown(byte[] bytes) {
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
