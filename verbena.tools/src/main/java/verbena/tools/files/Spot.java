package verbena.tools.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// A name in a folder that is held open. All it does concerns this name in that folder, and a link of this name is
/// never followed. For one thread.
final class Spot implements AutoCloseable {
    /// The beginning of the names of folders and links until they are in their places.
    static final String ASIDE = ".verbena-new-";

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final OpenFolder folder;
    private final SecureDirectoryStream<Path> parent;
    private final Path name;

    /// @param folder held until this is closed
    Spot(OpenFolder folder, Path name) {
        this.folder = folder;
        this.name = name;
        parent = folder.stream();
        folder.hold();
    }

    OpenFolder folder() {
        return folder;
    }

    Path name() {
        return name;
    }

    /// Returns a key that is the same for the same name in the same folder, by whatever path it was found.
    String key() throws IOException {
        return folder.key() + "/" + HexFormat.of().formatHex(Names.bytes(name));
    }

    /// Returns the attributes of the file that is there; empty when there is none.
    Optional<Attributes> look() throws IOException {
        return look(parent, name);
    }

    static Optional<Attributes> look(SecureDirectoryStream<Path> parent, Path name) throws IOException {
        try {
            return Optional.of(Attributes.of(view(parent, name).readAttributes()));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        }
    }

    private static PosixFileAttributeView view(SecureDirectoryStream<Path> parent, Path name) {
        return parent.getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    }

    /// Opens the file. One that is made belongs to its owner alone until its permissions are set.
    FileChannel open(Path name, OpenOption... options) throws IOException {
        Set<OpenOption> all = new HashSet<>(List.of(options));
        all.add(LinkOption.NOFOLLOW_LINKS);
        var channel = all.contains(StandardOpenOption.CREATE)
                ? parent.newByteChannel(name, all, PRIVATE)
                : parent.newByteChannel(name, all);
        if (channel instanceof FileChannel file) {
            return folder.root().opened(file);
        }
        channel.close();
        throw new IOException("this system gives no file channel for it");
    }

    /// Returns the names in this folder, in the order of their bytes.
    List<Path> list() throws IOException {
        List<Path> names = new ArrayList<>();
        try (SecureDirectoryStream<Path> stream = parent.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
            stream.forEach(each -> names.add(each.getFileName()));
        } catch (java.nio.file.DirectoryIteratorException e) {
            throw e.getCause();
        }
        names.sort(null);
        return names;
    }

    /// Returns the text of this link.
    Path target() throws IOException {
        return Files.readSymbolicLink(folder.path().resolve(name));
    }

    /// Makes a folder, empty, for its owner alone.
    void makeFolder() throws IOException {
        make(at -> Files.createDirectory(
                at, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
    }

    /// Makes a link, in the place of whatever has this name and is no folder.
    void makeLink(Path target) throws IOException {
        make(at -> Files.createSymbolicLink(at, target));
    }

    private interface Maker {
        void make(Path at) throws IOException;
    }

    // Neither can be made relative to an open folder from Java; renaming can. The root is never moved away.
    private void make(Maker maker) throws IOException {
        var random = new byte[8];
        RANDOM.nextBytes(random);
        Path aside = Path.of(ASIDE + HexFormat.of().formatHex(random));
        Path top = folder.root().root();
        maker.make(top.resolve(aside));
        try (SecureDirectoryStream<Path> root = Folder.open(top)) {
            try {
                root.move(aside, parent, name);
            } catch (IOException e) {
                Files.deleteIfExists(top.resolve(aside));
                throw e;
            }
        }
    }

    /// Sets permissions and time; the time of a link is left.
    void set(Path name, Attributes attributes) throws IOException {
        PosixFileAttributeView view = view(parent, name);
        view.setTimes(attributes.modifiedTime(), null, null);
        view.setPermissions(attributes.permissions());
    }

    /// Gives a file of this folder this name, whatever file had it before.
    void take(Path other) throws IOException {
        try {
            parent.move(other, parent, name);
        } catch (IOException e) {
            if (look().filter(found -> found.type() == Attributes.Type.FOLDER).isPresent()) {
                throw new FileAlreadyExistsException(name.toString(), null, "a folder has this name");
            }
            throw e;
        }
    }

    /// Deletes a file of this folder, if it is there.
    void delete(Path name) throws IOException {
        try {
            parent.deleteFile(name);
        } catch (NoSuchFileException _) {
            // All the better.
        }
    }

    /// Returns the number of bytes that fit on its file system.
    long room() throws IOException {
        try {
            return Files.getFileStore(folder.path()).getUsableSpace();
        } catch (FileSystemException _) {
            return Long.MAX_VALUE; // moved away meanwhile: the write will tell
        }
    }

    @Override
    public void close() {
        folder.letGo();
    }
}
