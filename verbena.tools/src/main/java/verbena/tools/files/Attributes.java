package verbena.tools.files;

import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;

/// The attributes of a file: those that a copy keeps, and those that show whether the file is still the same.
///
/// @param mode permissions, 9 bits; setuid, setgid, the sticky bit and owners stay behind
/// @param identity of the file on its host, whatever its name; 0 where it is not known
record Attributes(Type type, int mode, long size, Instant modified, long identity) {
    /// The type of a file; on the wire its ordinal.
    enum Type {
        FILE,
        FOLDER,
        LINK,
        OTHER
    }

    private static final PosixFilePermission[] BITS = {
        PosixFilePermission.OTHERS_EXECUTE,
        PosixFilePermission.OTHERS_WRITE,
        PosixFilePermission.OTHERS_READ,
        PosixFilePermission.GROUP_EXECUTE,
        PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.GROUP_READ,
        PosixFilePermission.OWNER_EXECUTE,
        PosixFilePermission.OWNER_WRITE,
        PosixFilePermission.OWNER_READ
    };

    static Attributes of(PosixFileAttributes found) {
        Type type = found.isRegularFile()
                ? Type.FILE
                : found.isDirectory() ? Type.FOLDER : found.isSymbolicLink() ? Type.LINK : Type.OTHER;
        int mode = 0;
        Set<PosixFilePermission> permissions = found.permissions(); // a new set each time
        for (int i = 0; i < BITS.length; i++) {
            mode |= permissions.contains(BITS[i]) ? 1 << i : 0;
        }
        return new Attributes(
                type, mode, found.size(), found.lastModifiedTime().toInstant(), identity(found.fileKey()));
    }

    /// Returns FNV-1a of the device's and the inode's numbers, which the JDK gives as text only.
    private static long identity(@org.jspecify.annotations.Nullable Object key) {
        if (key == null) {
            return 0;
        }
        String text = key.toString();
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return hash;
    }

    /// Returns whether the content is that of `other`, as far as can be seen from outside.
    boolean isSameContent(Attributes other) {
        return type == other.type && size == other.size && modified.equals(other.modified);
    }

    /// Returns whether this is the same file, unchanged.
    boolean isUnchanged(Attributes before) {
        return isSameContent(before) && identity == before.identity;
    }

    Set<PosixFilePermission> permissions() {
        Set<PosixFilePermission> set = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < BITS.length; i++) {
            if ((mode & (1 << i)) != 0) {
                set.add(BITS[i]);
            }
        }
        return set;
    }

    FileTime modifiedTime() throws IOException {
        try {
            return FileTime.from(modified);
        } catch (IllegalArgumentException e) {
            throw new IOException("its time is none", e);
        }
    }
}
