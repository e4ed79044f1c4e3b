package verbena.nic.roce;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.KeyExchange;
import verbena.nic.SoftContext;
import verbena.nic.link.Link;
import verbena.nic.link.psp.PspLink;

/// Whether a device encrypts its packets, and the file that has the secret of all its peers: the options `psp=on`
/// and `secret=FILE`.
record Protection(boolean isOn, @Nullable Path secret) {
    /// The protection of packets in the clear: none.
    static final Protection NONE = new Protection(false, null);

    /// Rehearsals after which an agreement takes milliseconds.
    private static final int REHEARSALS = 3;

    private static final int SECRET_BYTES_MIN = 32;
    private static final int SECRET_BYTES_MAX = 1_024;

    Protection with(boolean on) {
        return new Protection(on, secret);
    }

    Protection with(String file) {
        if (file.isBlank()) {
            throw new IllegalArgumentException("secret: the name of a file");
        }
        return new Protection(isOn, Path.of(file));
    }

    /// @throws IllegalArgumentException when one of the two options is there without the other
    void check(String device) {
        if (isOn && secret == null) {
            throw new IllegalArgumentException(
                    "device " + device + ": option \"psp=on\" needs secret=FILE, a file that all peers have");
        }
        if (!isOn && secret != null) {
            throw new IllegalArgumentException("device " + device
                    + ": option \"secret\" needs psp=on; a secret for one connection is an option of the connection");
        }
    }

    /// Wraps a link that leaves packets as they are.
    ///
    /// @throws IllegalArgumentException when the file cannot be read, is open to other users, or is too short
    Link wrap(Link link) {
        KeyExchange.rehearse(REHEARSALS);
        return new PspLink(link, read(), System::nanoTime, SoftContext.secureRandom());
    }

    private byte[] read() {
        Path file = secret;
        if (file == null) {
            throw new IllegalStateException("checked before");
        }
        try {
            if (Files.getFileStore(file).supportsFileAttributeView("posix")
                    && isOpenToOthers(Files.getPosixFilePermissions(file))) {
                throw new IllegalArgumentException("secret: others may read " + file + "; chmod 600 " + file);
            }
            String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            if (bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
                throw new IllegalArgumentException("secret: " + SECRET_BYTES_MIN + " to " + SECRET_BYTES_MAX
                        + " bytes that nobody can guess, got " + bytes.length + " in " + file
                        + "; make one by: openssl rand -hex 32");
            }
            return bytes;
        } catch (IOException e) {
            throw new IllegalArgumentException("secret: cannot read " + file + ": " + e, e);
        }
    }

    private static boolean isOpenToOthers(Set<PosixFilePermission> permissions) {
        return permissions.contains(PosixFilePermission.GROUP_READ)
                || permissions.contains(PosixFilePermission.OTHERS_READ);
    }
}
