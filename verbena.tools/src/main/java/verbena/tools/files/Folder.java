package verbena.tools.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import verbena.tools.CommandFailed;

/// A folder, and nothing outside it. A path is walked name by name, each opened relative to the folder before it
/// and never through a link (openat(2) with O_NOFOLLOW), so it does not matter what others rename meanwhile. Links
/// are read and their targets walked the same way, from where the link is and not above this folder. Any thread
/// may use it.
final class Folder {
    private static final int LINKS_MAX = 40;

    private final Path root;
    private final UnaryOperator<FileChannel> opened;

    private Folder(Path root, UnaryOperator<FileChannel> opened) {
        this.root = root;
        this.opened = opened;
    }

    /// @throws CommandFailed when it is no folder, or its file system cannot be walked safely
    static Folder at(Path path) {
        return at(path, UnaryOperator.identity());
    }

    /// @param opened what becomes of each file that is opened in it: a wrapper may count, or fail
    static Folder at(Path path, UnaryOperator<FileChannel> opened) {
        try {
            Path root = path.toRealPath();
            try (DirectoryStream<Path> probe = Files.newDirectoryStream(root)) {
                if (!(probe instanceof SecureDirectoryStream)) {
                    throw new CommandFailed(path + ": this system cannot open files relative to a folder");
                }
            }
            return new Folder(root, opened);
        } catch (IOException e) {
            throw new CommandFailed(
                    Failures.text(Names.shown(path.getFileName() == null ? path : path.getFileName()), e), e);
        }
    }

    /// The folder that a file is in.
    static Folder holding(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null) {
            throw new CommandFailed(file + ": is in no folder");
        }
        return at(parent);
    }

    FileChannel opened(FileChannel file) {
        return opened.apply(file);
    }

    Path root() {
        return root;
    }

    /// Finds a place: its parent folder has to exist, it need not. Close it.
    ///
    /// @param relative `..` may stand in it, but does not lead out
    /// @param followLast whether a link at the very end is followed too
    /// @throws IOException when a folder on the way does not exist, or the way leads outside
    Spot find(Path relative, boolean followLast) throws IOException {
        Deque<Path> names = new ArrayDeque<>();
        relative.forEach(names::add);
        List<SecureDirectoryStream<Path>> way = new ArrayList<>();
        List<Path> walked = new ArrayList<>();
        SecureDirectoryStream<Path> result = null;
        try {
            way.add(open(root));
            int links = 0;
            Path last = Path.of(".");
            while (!names.isEmpty()) {
                Path name = names.pop();
                String text = name.toString();
                if (text.isEmpty() || text.equals(".")) {
                    continue;
                }
                if (text.equals("..")) {
                    if (walked.isEmpty()) {
                        throw new OutsideException(relative);
                    }
                    way.removeLast().close();
                    walked.removeLast();
                    continue;
                }
                boolean isLast = names.isEmpty();
                Optional<Attributes> found = Spot.look(way.getLast(), name);
                if (found.isPresent() && found.get().type() == Attributes.Type.LINK && (!isLast || followLast)) {
                    if (++links > LINKS_MAX) {
                        throw new IOException("too many symbolic links");
                    }
                    // Only its text counts: what it names is walked as any other path.
                    Path target = Files.readSymbolicLink(path(walked).resolve(name));
                    if (target.isAbsolute()) {
                        throw new OutsideException(relative);
                    }
                    for (int i = target.getNameCount() - 1; i >= 0; i--) {
                        names.push(target.getName(i));
                    }
                    continue;
                }
                if (isLast) {
                    last = name;
                } else if (found.isEmpty()) {
                    throw new NoSuchFileException(Names.shown(relative));
                } else if (found.get().type() != Attributes.Type.FOLDER) {
                    throw new NotDirectoryException(Names.shown(relative));
                } else {
                    way.add(way.getLast().newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS));
                    walked.add(name);
                }
            }
            result = way.removeLast();
            return new Spot(this, result, path(walked), last);
        } finally {
            for (SecureDirectoryStream<Path> each : way) {
                each.close();
            }
        }
    }

    private Path path(List<Path> walked) {
        Path path = root;
        for (Path name : walked) {
            path = path.resolve(name);
        }
        return path;
    }

    @SuppressWarnings({"unchecked", "StreamResourceLeak"}) // checked when this was made; closed by the caller
    static SecureDirectoryStream<Path> open(Path path) throws IOException {
        return (SecureDirectoryStream<Path>) Files.newDirectoryStream(path);
    }
}
