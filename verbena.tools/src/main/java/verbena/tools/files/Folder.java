package verbena.tools.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
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
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Failures;

/// A folder, and nothing outside it. A path is walked name by name. Each name is opened relative to the folder
/// before it and never through a link (openat(2) with O_NOFOLLOW), so it does not matter what other processes
/// rename meanwhile. The targets of links are walked the same way, from where the link is and not above this
/// folder. Any thread may use it.
final class Folder {
    /// The greatest number of links in a path, as the kernel limits it.
    private static final int LINKS_MAX = 40;
    /// The greatest depth of a path. Each folder of a path is open while it is walked, and one process has a few
    /// thousand open files.
    private static final int DEPTH_MAX = 128;

    private static final Path HERE = Path.of(".");

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
            throw new CommandFailed(Failures.text(Names.shown(path), e), e);
        }
    }

    /// Returns the folder that a file is in.
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
        try (var way = new Walker()) {
            return way.spot(way.go(relative, followLast));
        }
    }

    /// Finds a place that a peer names. Links are followed on the way to `base`, and none below it.
    ///
    /// @param base a folder
    /// @param below names, no `..` among them
    /// @throws IOException when a name on the way is no folder, or is a link
    Spot find(Path base, Path below) throws IOException {
        try (var way = new Walker()) {
            way.enter(base);
            way.goStrictly(below);
            return way.spot(below.getFileName());
        }
    }

    /// Returns whether a link, as the disk is now, leads to somewhere in its tree or to nothing.
    ///
    /// @param link below `base`; its first name is the tree, which the target may not leave
    boolean leadsInside(Path base, Path link, Path target) throws IOException {
        try (var way = new Walker()) {
            way.enter(base);
            way.goStrictly(link);
            way.floor = way.walked.size() - (link.getNameCount() - 2); // all but the tree's own folders
            way.go(target, true);
            return true;
        } catch (OutsideException _) {
            return false;
        } catch (NoSuchFileException | NotDirectoryException | FileSystemLoopException _) {
            return true; // it leads nowhere
        }
    }

    /// The way from the root to a folder, each folder on it open.
    private final class Walker implements AutoCloseable {
        private final List<SecureDirectoryStream<Path>> way = new ArrayList<>();
        private final List<Path> walked = new ArrayList<>();
        /// Names that `..` does not go above.
        private int floor;
        private int links;

        private Walker() throws IOException {
            way.add(open(root));
        }

        /// Goes to a folder, links followed.
        private void enter(Path folder) throws IOException {
            Path last = go(folder, true);
            if (!last.equals(HERE)) {
                down(last);
            }
        }

        /// Goes to the folder of the last name, links followed on the way; the last name that is left, or `.`.
        private Path go(Path relative, boolean followLast) throws IOException {
            if (relative.isAbsolute()) {
                throw new OutsideException(relative);
            }
            Deque<Path> names = new ArrayDeque<>();
            relative.forEach(names::add);
            while (!names.isEmpty()) {
                Path name = names.pop();
                String text = name.toString();
                if (text.isEmpty() || text.equals(".")) {
                    continue;
                }
                if (text.equals("..")) {
                    if (walked.size() == floor) {
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
                        throw new FileSystemLoopException(Names.shown(relative));
                    }
                    // Only its text counts: what it names is walked as any other path.
                    Path target = Files.readSymbolicLink(path().resolve(name));
                    if (target.isAbsolute()) {
                        throw new OutsideException(relative);
                    }
                    for (int i = target.getNameCount() - 1; i >= 0; i--) {
                        names.push(target.getName(i));
                    }
                } else if (isLast) {
                    return name;
                } else {
                    down(name, found, relative);
                }
            }
            return HERE;
        }

        /// Goes to the folder of the last name, none of them a link.
        private void goStrictly(Path below) throws IOException {
            for (int i = 0; i < below.getNameCount() - 1; i++) {
                down(below.getName(i));
            }
        }

        private void down(Path name) throws IOException {
            down(name, Spot.look(way.getLast(), name), name);
        }

        private void down(Path name, Optional<Attributes> found, Path asked) throws IOException {
            if (found.isEmpty()) {
                throw new NoSuchFileException(Names.shown(asked));
            }
            switch (found.get().type()) {
                case FOLDER -> {}
                case LINK -> throw new FileSystemException(Names.shown(asked), null, "a name on the way is a link");
                default -> throw new NotDirectoryException(Names.shown(asked));
            }
            if (walked.size() >= DEPTH_MAX) {
                throw new FileSystemException(Names.shown(asked), null, "more than " + DEPTH_MAX + " folders deep");
            }
            way.add(way.getLast().newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS));
            walked.add(name);
        }

        /// Returns the place of a name in the present folder, which the place keeps open.
        private Spot spot(Path name) {
            return new Spot(new OpenFolder(Folder.this, way.removeLast(), path()), name);
        }

        private Path path() {
            Path path = root;
            for (Path name : walked) {
                path = path.resolve(name);
            }
            return path;
        }

        @Override
        public void close() throws IOException {
            for (SecureDirectoryStream<Path> each : way) {
                each.close();
            }
        }
    }

    @SuppressWarnings({"unchecked", "StreamResourceLeak"}) // checked when this was made; closed by the caller
    static SecureDirectoryStream<Path> open(Path path) throws IOException {
        return (SecureDirectoryStream<Path>) Files.newDirectoryStream(path);
    }
}
