package verbena.tools.files;

import java.nio.file.Path;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/// The request of a client: that the server takes files, or gives some.
///
/// @param isPut whether the client is the sender
/// @param path in the served folder: where to, or what
record Request(boolean isPut, Set<Option> options, Path path) {
    /// An option of a request; on the wire the bit of its ordinal.
    enum Option {
        /// Folders too, with all that is in them.
        RECURSIVE,
        /// Files of the same size and time too.
        ALWAYS,
        /// A rehearsal: nothing is changed, and the changes that would be made are reported.
        REHEARSAL,
        /// The path has to be a folder, and what comes goes into it.
        INTO_FOLDER,
        /// The permission to name files before the disk has their bytes.
        NO_SYNC,
        /// A check that reads each file again before it has its name.
        VERIFY
    }

    /// The name of the served folder itself at its destination: its own name is the server's alone.
    private static final Path SERVED = Path.of("served");

    /// Returns the name of a source at both ends: the last name of its path.
    static Path nameOf(Path path) {
        Path last = path.normalize().getFileName();
        return last == null || last.toString().isEmpty() || last.toString().equals("..") ? SERVED : last;
    }

    /// Returns the entries that the receiver is ready to take: a client takes the one source that it has asked for;
    /// a server takes what a client names, and more than one source only into a folder.
    Announced.Scope scope() {
        boolean isRecursive = options.contains(Option.RECURSIVE);
        return isPut
                ? new Announced.Scope(null, !options.contains(Option.INTO_FOLDER), isRecursive)
                : new Announced.Scope(nameOf(path), true, isRecursive);
    }

    Message writeTo(Message message) {
        return message.int8(isPut ? 1 : 0).int32(bits(options)).counted(Names.bytes(path));
    }

    static Request readFrom(Message message) {
        boolean isPut = message.bytes().get() != 0;
        return new Request(isPut, ofBits(message.bytes().getInt()), Names.path(message.takeCounted()));
    }

    private static int bits(Collection<Option> options) {
        return options.stream().mapToInt(option -> 1 << option.ordinal()).sum();
    }

    private static Set<Option> ofBits(int bits) {
        Set<Option> options = EnumSet.noneOf(Option.class);
        for (Option option : Option.values()) {
            if ((bits & (1 << option.ordinal())) != 0) {
                options.add(option);
            }
        }
        return options;
    }
}
