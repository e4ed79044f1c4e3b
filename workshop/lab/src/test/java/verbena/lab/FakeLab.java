package verbena.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/// A program `lab` that runs the guest's commands right here. While there is a file `hung`, its guest runs none; a
/// new guest is well. Commands that only a guest can run succeed. It keeps a list of what it was asked for.
final class FakeLab {
    private static final String PROGRAM = """
            here=$(dirname "$0")
            echo "$*" >> $here/asked
            case $* in
              up*) rm -f $here/hung; exit 0 ;;
              setup* | down*) exit 0 ;;
              *dev/tcp*) exit 1 ;;
              exec*) [ ! -f $here/hung ] || exit 1 ;;
            esac
            while [ "$1" != -- ]; do shift; done
            shift
            case $* in *tc\\ qdisc* | */sys/module*) exit 0 ;; esac
            exec "$@"
            """;

    private final Path folder;
    private final Lab lab;

    FakeLab(Path folder) throws IOException {
        this.folder = folder;
        Path verbena = script("verbena", "exec \"$@\"");
        lab = Lab.over(folder, script("lab", PROGRAM), verbena.toString());
    }

    private Path script(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, "#!/bin/sh\n" + text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    Lab lab() {
        return lab;
    }

    /// From now on its guest hangs.
    void hang() {
        try {
            Files.writeString(folder.resolve("hung"), "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<String> asked() throws IOException {
        return Files.readAllLines(folder.resolve("asked"));
    }
}
