package verbena.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// The name of a device that encrypts its packets.
public final class ProtectedDevice {
    private ProtectedDevice() {}

    /// Returns a name with a secret of its own.
    ///
    /// @param mode `on` or `offered`
    public static String name(String mode) {
        try {
            Path secret = Files.createTempFile(
                    "secret", "", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            secret.toFile().deleteOnExit();
            Files.writeString(secret, "0123456789abcdef0123456789abcdef");
            return "rocev2,psp=" + mode + ",secret=" + secret;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
