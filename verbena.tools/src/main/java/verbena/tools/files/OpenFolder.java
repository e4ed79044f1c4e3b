package verbena.tools.files;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.PosixFileAttributeView;
import org.jspecify.annotations.Nullable;

/// A folder that is held open by all places in it; the last that is let go closes it. Any thread may use
/// it.
final class OpenFolder {
    private final Folder root;
    private final SecureDirectoryStream<Path> stream;
    private final Path path;
    private @Nullable String key;
    private int holders;

    /// No place holds it yet.
    ///
    /// @param path to read a link's text by, and to ask how much room there is
    OpenFolder(Folder root, SecureDirectoryStream<Path> stream, Path path) {
        this.root = root;
        this.stream = stream;
        this.path = path;
    }

    /// Returns the folder that nothing leads out of.
    Folder root() {
        return root;
    }

    SecureDirectoryStream<Path> stream() {
        return stream;
    }

    Path path() {
        return path;
    }

    /// Returns a key that is the same for the same folder, by whatever path it was found.
    synchronized String key() throws IOException {
        if (key == null) {
            key = String.valueOf(stream.getFileAttributeView(PosixFileAttributeView.class)
                    .readAttributes()
                    .fileKey());
        }
        return key;
    }

    synchronized void hold() {
        holders++;
    }

    synchronized void letGo() {
        if (--holders > 0) {
            return;
        }
        try {
            stream.close();
        } catch (IOException _) {
            // Nothing was written by it.
        }
    }
}
