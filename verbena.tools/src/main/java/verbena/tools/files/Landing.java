package verbena.tools.files;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The destination of files that arrive: in a folder, or in place of the first name of its path.
///
/// @param base where in the folder
/// @param rename what the source is called here; null for its own name
record Landing(Folder folder, Path base, @Nullable Path rename) {
    private static final Path HERE = Path.of("");

    /// Returns the destination as cp(1) decides it: into a folder that is there, else under this name.
    ///
    /// @param intoFolder whether it has to be a folder
    /// @throws IOException when it, or the folder that it is to be in, does not exist
    static Landing of(Folder folder, Path path, boolean intoFolder) throws IOException {
        try (Spot spot = folder.find(path, true)) {
            Optional<Attributes> found = spot.look();
            if (found.isPresent() && found.get().type() == Attributes.Type.FOLDER) {
                return new Landing(folder, path, null);
            }
            if (intoFolder) {
                throw found.isPresent()
                        ? new java.nio.file.FileSystemException(Names.shown(path), null, "is no folder")
                        : new NoSuchFileException(Names.shown(path));
            }
        }
        try (Spot spot = folder.find(path, false)) { // a link that leads nowhere is replaced, not followed
            Path parent = path.getParent();
            return new Landing(folder, parent == null ? HERE : parent, spot.name());
        }
    }

    /// Returns the place of an entry; no name of it is followed when it is a link.
    Spot find(Path name, Finder finder) throws IOException {
        Path below = within(name);
        Path parent = below.getParent();
        return finder.find(folder, parent == null ? HERE : parent, below.getFileName(), () -> folder.find(base, below));
    }

    /// Returns whether a link of this name, with this target, leads to somewhere in its tree or to nothing.
    boolean leadsInside(Path name, Path target) throws IOException {
        return folder.leadsInside(base, within(name), target);
    }

    private Path within(Path name) {
        if (rename == null) {
            return name;
        }
        return name.getNameCount() == 1 ? rename : rename.resolve(name.subpath(1, name.getNameCount()));
    }
}
