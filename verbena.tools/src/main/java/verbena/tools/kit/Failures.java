package verbena.tools.kit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;

/// Texts for the refusals of the file system, for the user that waits for the file.
public final class Failures {
    private Failures() {}

    /// Returns `name: why`, without paths of this host.
    public static String text(String name, IOException e) {
        return name + ": " + why(e);
    }

    /// Returns the words for an error; the JDK's message is only the path for some of them.
    public static String why(IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "no such file or folder";
            case AccessDeniedException _ -> "permission denied";
            case NotDirectoryException _ -> "a name on the way to it is no folder";
            case FileAlreadyExistsException _ -> "exists already";
            case DirectoryNotEmptyException _ -> "a folder that is not empty has this name";
            case FileSystemLoopException _ -> "links that lead in a circle";
            case FileSystemException f when f.getReason() != null -> f.getReason();
            case FileSystemException f -> f.getClass().getSimpleName(); // its message is a path
            default -> plain(e.getMessage(), e);
        };
    }

    private static String plain(@Nullable String message, IOException e) {
        return message == null ? e.getClass().getSimpleName() : Legible.text(message.getBytes(StandardCharsets.UTF_8));
    }

    /// Returns whether there is no room: on the disk, in the quota, or under the limit for a file's size.
    public static boolean isFull(IOException e) {
        String text = why(e);
        return text.contains("No space left") || text.contains("quota exceeded") || text.contains("File too large");
    }
}
