package verbena.tools.files;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Legible;

/// A file, folder or link that a sender offers.
///
/// @param name from the transfer's root on: `photos/2024/a.jpg`
/// @param target of a link, absolute or not; empty for anything else
record Entry(int id, Attributes attributes, Path name, Path target) {
    /// The greatest number of bytes of a path that can be sent.
    static final int NAME_MAX = Message.TEXT_MAX;

    /// The reason why a link stays behind.
    static final String OUTSIDE = "a link to outside of what is copied";

    /// Bytes of it in a message, without its name and target.
    private static final int FIXED = 4 + 1 + 4 + 8 + 8 + 4 + 8 + 2 + 2;

    static final Path NO_TARGET = Path.of("");
    private static final Path ROOT = Path.of("/");

    /// Returns the number of bytes that it takes in a message.
    int length() {
        return FIXED + Names.bytes(name).length + Names.bytes(target).length;
    }

    Message writeTo(Message message) {
        Attributes a = attributes;
        Instant modified = a.modified();
        message.int32(id).int8(a.type().ordinal()).int32(a.mode()).int64(a.size());
        message.int64(modified.getEpochSecond()).int32(modified.getNano()).int64(a.identity());
        return message.counted(Names.bytes(name)).counted(Names.bytes(target));
    }

    /// @throws CommandFailed when it is none, or its name could lead elsewhere
    static Entry readFrom(Message message) {
        var in = message.bytes();
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
            Path name = checked(message.takeCounted());
            Path target = target(message.takeCounted());
            if (!target.equals(NO_TARGET) && attributes.type() != Attributes.Type.LINK) {
                throw new CommandFailed("the peer offers a target of what is no link: " + Names.shown(name));
            }
            return new Entry(id, attributes, name, target);
        } catch (DateTimeException | ArithmeticException e) {
            throw new CommandFailed("the peer offers a file with a time that is none", e);
        }
    }

    /// Returns the target of a link. Unlike a name it may be absolute: then it is refused later.
    private static Path target(byte[] bytes) {
        Path relative = Names.path(bytes);
        return bytes.length > 0 && bytes[0] == '/' ? ROOT.resolve(relative) : relative;
    }

    /// Returns the path of these bytes: one or more names with a slash between each two, and nothing else.
    private static Path checked(byte[] bytes) {
        Path name = Names.path(bytes);
        boolean isPlain = bytes.length <= NAME_MAX && Arrays.equals(bytes, Names.bytes(name));
        for (Path part : name) {
            String text = part.toString();
            isPlain &= !text.isEmpty() && !text.equals(".") && !text.equals("..");
        }
        if (!isPlain) {
            throw new CommandFailed("the peer offers a file by a path, not a name: " + Legible.text(bytes));
        }
        return name;
    }

    /// Returns the reason why a link of a tree stays behind; null when it leads to somewhere in that tree, whatever
    /// else is made there.
    ///
    /// Its target may go up at its start only, and not above the tree. The folders on the way to a link are no
    /// links themselves (see [Folder#find(Path, Path)]), so going up from there leads where the text says. After
    /// the first name it can only go down, or on over another link, for which the same holds. Where `..` behind a
    /// name leads depends on what that name is, so it is refused.
    static @Nullable String staysBehind(Path link, Path target) {
        if (target.equals(NO_TARGET)) {
            return "a link to nothing";
        }
        int up = 0;
        boolean isDown = false;
        for (Path part : target) {
            boolean isUp = part.toString().equals("..");
            if (isUp && isDown) {
                return "a link with .. behind a name, which may lead outside of what is copied";
            }
            up += isUp ? 1 : 0;
            isDown |= !isUp && !part.toString().equals(".");
        }
        boolean leadsOut = target.isAbsolute() || up > link.getNameCount() - 2;
        return leadsOut ? OUTSIDE : null;
    }
}
