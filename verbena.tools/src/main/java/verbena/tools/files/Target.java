package verbena.tools.files;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import java.util.Set;
import verbena.tools.files.Request.Option;

/// The place that files are copied to: what of an entry is there already, and what is wanted of it. Folders and
/// links are made at once.
final class Target implements AutoCloseable {
    private final Landing landing;
    private final Set<Option> options;
    private final Terms terms;
    private final boolean isDirect;
    private final Finder finder = new Finder();

    Target(Landing landing, Set<Option> options, Terms terms, boolean isDirect) {
        this.landing = landing;
        this.options = options;
        this.terms = terms;
        this.isDirect = isDirect;
    }

    /// Returns the answer to an entry. A folder or a link is there when this returns, except in a rehearsal.
    ///
    /// @throws IOException when it cannot be here
    Verdict judge(Entry entry) throws IOException {
        if (PartFile.isOne(entry.name().getFileName())) {
            throw new FileSystemException(null, null, "its name is one for files that are not complete");
        }
        return switch (entry.attributes().type()) {
            case FILE -> file(entry);
            case FOLDER -> folder(entry);
            case LINK -> link(entry);
            case OTHER -> throw new IOException("neither file, folder nor link");
        };
    }

    /// Returns the file that has this name already; in a rehearsal the folders of the path may be missing.
    private Optional<Attributes> existing(Entry entry) throws IOException {
        try (Spot spot = landing.find(entry.name(), finder)) {
            return spot.look();
        } catch (NoSuchFileException e) {
            if (isRehearsal()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private Verdict file(Entry entry) throws IOException {
        Optional<Attributes> found = existing(entry);
        if (found.isPresent() && found.get().type() == Attributes.Type.FOLDER) {
            throw new FileSystemException(null, null, "a folder has this name");
        }
        if (found.isPresent() && found.get().isSameContent(entry.attributes()) && !options.contains(Option.ALWAYS)) {
            if (found.get().mode() != entry.attributes().mode() && !isRehearsal()) {
                try (Spot spot = landing.find(entry.name(), finder)) {
                    spot.set(spot.name(), entry.attributes());
                }
            }
            return Verdict.SAME;
        }
        return isRehearsal() ? Verdict.WOULD : Verdict.SEND;
    }

    private Verdict folder(Entry entry) throws IOException {
        Optional<Attributes> found = existing(entry);
        if (found.isPresent() && found.get().type() != Attributes.Type.FOLDER) {
            throw new FileSystemException(null, null, "something that is no folder has this name");
        }
        if (isRehearsal()) {
            return found.isPresent() ? Verdict.SAME : Verdict.WOULD;
        }
        if (found.isEmpty()) {
            try (Spot spot = landing.find(entry.name(), finder)) {
                spot.makeFolder();
            }
        }
        return found.isPresent() ? Verdict.SAME : Verdict.MADE;
    }

    private Verdict link(Entry entry) throws IOException {
        String why = Entry.staysBehind(entry.name(), entry.target());
        if (why != null) {
            throw new FileSystemException(null, null, why);
        }
        Optional<Attributes> found = existing(entry);
        if (isRehearsal()) {
            return found.isPresent() ? Verdict.SAME : Verdict.WOULD;
        }
        // The text alone is safe among links that a copy makes. Others may be there already.
        if (!landing.leadsInside(entry.name(), entry.target())) {
            throw new FileSystemException(null, null, Entry.OUTSIDE);
        }
        try (Spot spot = landing.find(entry.name(), finder)) {
            if (found.isPresent()) {
                if (found.get().type() == Attributes.Type.FOLDER) {
                    throw new FileSystemException(null, null, "a folder has this name");
                }
                if (found.get().type() == Attributes.Type.LINK && spot.target().equals(entry.target())) {
                    return Verdict.SAME;
                }
            }
            spot.makeLink(entry.target());
        }
        return Verdict.MADE;
    }

    /// Opens the part of a file, which begins where an earlier attempt ended.
    PartFile open(Entry entry) throws IOException {
        Spot spot = landing.find(entry.name(), finder);
        PartFile part = null;
        try {
            part = PartFile.open(spot, entry.attributes(), terms, isDirect);
            return part;
        } finally {
            if (part == null) {
                spot.close();
            }
        }
    }

    /// Returns the number of bytes that fit where a file goes.
    long room(Entry entry) throws IOException {
        try (Spot spot = landing.find(entry.name(), finder)) {
            return spot.room();
        }
    }

    /// Completes a folder, whose entries are all there: it gets its time, which stays.
    void complete(Entry folder) throws IOException {
        if (isRehearsal()) {
            return;
        }
        try (Spot spot = landing.find(folder.name(), finder)) {
            spot.set(spot.name(), folder.attributes());
        }
    }

    private boolean isRehearsal() {
        return options.contains(Option.REHEARSAL);
    }

    @Override
    public void close() {
        finder.close();
    }
}
