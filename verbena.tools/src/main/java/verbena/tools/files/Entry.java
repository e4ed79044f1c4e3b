package verbena.tools.files;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import verbena.tools.CommandFailed;

/// A file, folder or link that a sender offers.
///
/// @param name from the transfer's root on: `photos/2024/a.jpg`
/// @param target of a link, absolute or not; empty for anything else
record Entry(int id, Attributes attributes, Path name, Path target) {
    /// Bytes of a path that can be told.
    static final int NAME_MAX = 4096;

    static final Path NO_TARGET = Path.of("");
    private static final Path ROOT = Path.of("/");

    Letter writeTo(Letter letter) {
        Attributes a = attributes;
        Instant modified = a.modified();
        letter.int32(id).int8(a.type().ordinal()).int32(a.mode()).int64(a.size());
        letter.int64(modified.getEpochSecond()).int32(modified.getNano()).int64(a.identity());
        return letter.counted(Names.bytes(name)).counted(Names.bytes(target));
    }

    /// @throws CommandFailed when it is none, or its name could lead elsewhere
    static Entry readFrom(Letter letter) {
        var in = letter.bytes();
        int id = in.getInt();
        int type = in.get();
        int mode = in.getInt() & 0777;
        long size = in.getLong();
        if (type < 0 || type >= Attributes.Type.OTHER.ordinal() || size < 0) {
            throw new CommandFailed("the peer offers something that is no file");
        }
        try {
            Instant modified = Instant.ofEpochSecond(in.getLong(), in.getInt());
            var attributes = new Attributes(Attributes.Type.values()[type], mode, size, modified, in.getLong());
            return new Entry(id, attributes, checked(Names.path(letter.takeCounted())), target(letter.takeCounted()));
        } catch (DateTimeException | ArithmeticException e) {
            throw new CommandFailed("the peer offers a file with a time that is none", e);
        }
    }

    /// Unlike a name it may be absolute, and is refused later then.
    private static Path target(byte[] bytes) {
        Path relative = Names.path(bytes);
        return bytes.length > 0 && bytes[0] == '/' ? ROOT.resolve(relative) : relative;
    }

    private static Path checked(Path name) {
        for (Path part : name) {
            String text = part.toString();
            if (text.isEmpty() || text.equals(".") || text.equals("..")) {
                throw new CommandFailed("the peer offers a file by a path, not a name: " + Names.shown(name));
            }
        }
        return name;
    }

    /// Whether a link leads to somewhere within what is copied, as far as its text tells. One that does not stays
    /// behind: elsewhere it would mean something else.
    static boolean staysInside(Path link, Path target) {
        if (target.isAbsolute()) {
            return false;
        }
        int depth = link.getNameCount() - 1;
        for (Path part : target) {
            if (part.toString().equals("..")) {
                depth--;
            } else if (!part.toString().equals(".") && !part.toString().isEmpty()) {
                depth++;
            }
            if (depth < 1) {
                return false;
            }
        }
        return true;
    }
}
