package verbena.nic.roce;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// A file with a secret, as option `secret` wants it.
public final class SecretFile {
    private SecretFile() {}

    /// Writes one that only its owner may read; returns the options of a device that uses it.
    public static String options(Path folder, String secret) {
        try {
            Path file = folder.resolve("secret");
            Files.writeString(file, secret + "\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            return ",psp=on,secret=" + file;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
