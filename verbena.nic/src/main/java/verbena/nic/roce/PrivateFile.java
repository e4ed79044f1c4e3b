package verbena.nic.roce;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/// A file that only its owner may read.
final class PrivateFile {
    private PrivateFile() {}

    /// @throws IllegalArgumentException when others may read it; begins with `what`
    static void check(String what, Path file) throws IOException {
        if (Files.getFileStore(file).supportsFileAttributeView("posix")
                && isOpenToOthers(Files.getPosixFilePermissions(file))) {
            throw new IllegalArgumentException(what + ": others may read " + file + "; chmod 600 " + file);
        }
    }

    private static boolean isOpenToOthers(Set<PosixFilePermission> permissions) {
        return permissions.contains(PosixFilePermission.GROUP_READ)
                || permissions.contains(PosixFilePermission.OTHERS_READ);
    }
}
