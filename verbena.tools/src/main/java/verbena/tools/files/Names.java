package verbena.tools.files;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Legible;

/// Names of files as the bytes that they are. A [Path] has them inside, and gives them out as a URI only: its text
/// has lost what is not in the locale's character set.
final class Names {
    private static final Path ROOT = Path.of("/");
    private static final Path EMPTY = Path.of("");
    private static final String HEX = "0123456789ABCDEF";

    private Names() {}

    /// Returns the bytes of a path; with a slash before them when it is absolute.
    static byte[] bytes(Path path) {
        String text = path.toString();
        if (Legible.isPlain(text)) {
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

    /// Returns the relative path of these bytes, name by name, whatever the names are. Slashes at its start mean
    /// nothing, nor do those behind another one or at its end.
    ///
    /// @throws CommandFailed when no file can be named so
    static Path path(byte[] bytes) {
        var text = new String(bytes, StandardCharsets.ISO_8859_1);
        if (text.indexOf(0) >= 0) {
            throw new CommandFailed("no path has a zero byte: " + Legible.text(bytes));
        }
        if (Legible.isPlain(text)) {
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
        if (Legible.isPlain(text)) {
            return Path.of(text);
        }
        var uri = new StringBuilder("file:///");
        for (byte b : text.getBytes(StandardCharsets.ISO_8859_1)) {
            uri.append('%').append(HEX.charAt((b >> 4) & 0xF)).append(HEX.charAt(b & 0xF));
        }
        return Path.of(URI.create(uri.toString())).getFileName();
    }

    /// Returns the path in legible form, whatever it holds: a name may not control the terminal.
    static String shown(Path path) {
        String text = path.toString();
        return Legible.isPlain(text) ? text : Legible.text(bytes(path));
    }
}
