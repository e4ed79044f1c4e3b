package verbena.tools.files;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Failures;

/// The entries to send: each source, and of folders all that is in them, a folder before its contents, and names in
/// ascending order, as [Announced] wants them. For one thread.
final class Walk {
    /// A step of a walk.
    sealed interface Step {
        /// Returns the path that is announced to the receiver.
        Path name();
    }

    /// Something that cannot be sent, or need not.
    ///
    /// @param isFailure whether that is an error
    record Trouble(Path name, String why, boolean isFailure) implements Step {}

    /// Something that can be sent.
    ///
    /// @param path in its folder
    /// @param followed whether a link of this name is what it leads to
    /// @param name that the receiver is told
    /// @param target of a link; empty for anything else
    record Item(Folder folder, Path path, boolean followed, Path name, Attributes attributes, Path target)
            implements Step {
        /// Returns its place.
        Spot find(Finder finder) throws IOException {
            return place(finder, folder, path, followed);
        }
    }

    /// A source as the user has named it.
    ///
    /// @param name what it is called at its destination
    record Source(Folder folder, Path path, Path name) {
        /// Returns a source by the name that the asking end expects.
        static Source of(Folder folder, Path path) {
            return new Source(folder, path, Request.nameOf(path));
        }
    }

    private record Pending(Folder folder, Path path, Path name, boolean isSource) {}

    private final Deque<Pending> pending = new ArrayDeque<>();
    private final boolean recursive;

    private final Finder finder;

    Walk(List<Source> sources, boolean recursive, Finder finder) {
        this.finder = finder;
        this.recursive = recursive;
        List<Source> inOrder = new ArrayList<>(sources);
        inOrder.sort(Comparator.comparing(Source::name));
        for (Source source : inOrder) {
            pending.add(new Pending(source.folder(), source.path(), source.name(), true));
        }
    }

    /// Returns the next step; null when there is none.
    @Nullable
    Step next() {
        if (pending.isEmpty()) {
            return null;
        }
        Pending at = pending.pop();
        try {
            return step(at);
        } catch (IOException e) {
            return new Trouble(at.name(), Failures.why(e), true);
        }
    }

    private Step step(Pending at) throws IOException {
        if (!at.isSource() && PartFile.isOne(at.path().getFileName())) {
            return new Trouble(at.name(), "a name of files that cp has not completed", false);
        }
        if (Names.bytes(at.name()).length > Entry.NAME_MAX) {
            throw new IOException("its path is longer than " + Entry.NAME_MAX + " bytes");
        }
        try (Spot spot = place(finder, at.folder(), at.path(), at.isSource())) {
            Optional<Attributes> found = spot.look();
            if (found.isEmpty()) {
                throw new NoSuchFileException(Names.shown(at.name()));
            }
            Attributes attributes = found.get();
            return switch (attributes.type()) {
                case FILE -> new Item(at.folder(), at.path(), at.isSource(), at.name(), attributes, Entry.NO_TARGET);
                case FOLDER -> folder(at, spot, attributes);
                case LINK -> link(at, spot, attributes);
                case OTHER -> new Trouble(at.name(), "neither file, folder nor link", false);
            };
        }
    }

    private static Spot place(Finder finder, Folder folder, Path path, boolean isSource) throws IOException {
        Path parent = path.getParent();
        return isSource || parent == null
                ? folder.find(path, isSource)
                : finder.find(folder, parent, path.getFileName(), () -> folder.find(path, false));
    }

    private Step folder(Pending at, Spot spot, Attributes attributes) throws IOException {
        if (!recursive) {
            return new Trouble(at.name(), "a folder; -r copies folders", true);
        }
        for (Path name : spot.list().reversed()) {
            pending.push(
                    new Pending(at.folder(), at.path().resolve(name), at.name().resolve(name), false));
        }
        return new Item(at.folder(), at.path(), at.isSource(), at.name(), attributes, Entry.NO_TARGET);
    }

    private Step link(Pending at, Spot spot, Attributes attributes) throws IOException {
        Path target = spot.target();
        String why = Entry.staysBehind(at.name(), target);
        if (why != null) {
            return new Trouble(at.name(), why, false);
        }
        return new Item(at.folder(), at.path(), false, at.name(), attributes, target);
    }
}
