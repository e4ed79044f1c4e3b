package verbena.nic.link.psp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A file with the keys of a device, for tests: with them `verbena decode --keys` opens a capture of the wire.
/// A line is an SPI and its key in hexadecimal.
public final class KeyLog {
    /// The log that takes nothing.
    public static final KeyLog NONE = new KeyLog(null);

    private static final System.Logger LOGGER = System.getLogger("verbena.nic");
    private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rw-------");

    private final @Nullable Path file;

    private KeyLog(@Nullable Path file) {
        this.file = file;
    }

    /// Opens a log that goes on at the end of a file, or makes the file, for its owner alone.
    ///
    /// @throws IllegalArgumentException when the file cannot be made, or others may read it
    public static KeyLog in(Path file) {
        try {
            if (!Files.exists(file)) {
                Files.createFile(file, PosixFilePermissions.asFileAttribute(OWN));
            }
            if (!OWN.containsAll(Files.getPosixFilePermissions(file))) {
                throw new IllegalArgumentException("keylog: others may read " + file + "; chmod 600 " + file);
            }
            LOGGER.log(System.Logger.Level.WARNING, "keys of encrypted packets are written into {0}", file);
            return new KeyLog(file);
        } catch (IOException | UnsupportedOperationException e) {
            throw new IllegalArgumentException("keylog: cannot write " + file + ": " + e, e);
        }
    }

    /// Adds a key. One that cannot be written is missing.
    void add(int spi, byte[] key) {
        Path to = file;
        if (to == null) {
            return;
        }
        String line = "0x%08x %s%n".formatted(spi, HexFormat.of().formatHex(key));
        try {
            Files.writeString(to, line, StandardCharsets.US_ASCII, StandardOpenOption.APPEND);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.WARNING, "keylog: cannot write " + to, e);
        }
    }
}
