package verbena.tools.files;

import java.nio.file.Path;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/// What a client asks for: that the server takes files, or gives some.
///
/// @param isPut whether the client is the sender
/// @param path in the served folder: where to, or what
record Request(boolean isPut, Set<Option> options, Path path) {
    /// On the wire the bit of its ordinal.
    enum Option {
        /// Folders too, with all that is in them.
        RECURSIVE,
        /// Files of the same size and time too.
        ALWAYS,
        /// Nothing is changed; what would be is told.
        REHEARSAL,
        /// The path has to be a folder, and what comes goes into it.
        INTO_FOLDER,
        /// Files have their names before the disk has their bytes.
        NO_SYNC,
        /// Each file is read again before it has its name.
        VERIFY
    }

    Letter writeTo(Letter letter) {
        return letter.int8(isPut ? 1 : 0).int32(bits(options)).counted(Names.bytes(path));
    }

    static Request readFrom(Letter letter) {
        boolean isPut = letter.bytes().get() != 0;
        return new Request(isPut, ofBits(letter.bytes().getInt()), Names.path(letter.takeCounted()));
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
