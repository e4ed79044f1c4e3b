package verbena.tools.files;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;

/// The names that a sender announces, and the rule for them: the sources that were asked for and no others, each
/// folder before its contents, all names of a folder in ascending order of their bytes. So no name comes twice, and
/// nothing comes below a name that was not announced as a folder. Only the folders on the way to the newest name are
/// remembered, however big the tree is.
///
/// One thread announces; any thread may say that a file is done.
final class Announced {
    /// The entries that the receiver is ready to take.
    ///
    /// @param name of the only source; null for any name
    /// @param isOne whether there is one source only
    /// @param isRecursive whether folders and what is in them are wanted
    record Scope(@Nullable Path name, boolean isOne, boolean isRecursive) {}

    /// A folder whose contents are under way. It holds its parent until all in it is done.
    static final class Level {
        private final @Nullable Level parent;
        private final Path name;
        /// The folder itself as long as more may be announced in it, and each folder and file in it that is not
        /// done.
        private final AtomicInteger underWay = new AtomicInteger(1);

        private @Nullable Path last;
        private @Nullable Entry entry;

        private Level(@Nullable Level parent, Path name) {
            this.parent = parent;
            this.name = name;
        }
    }

    /// A listener that is called for each folder when nothing more happens in it, and for its contents before it.
    interface Completion {
        void folder(Entry entry);
    }

    private final Scope scope;
    private final Completion completion;
    /// The level of the sources.
    private final Level top = new Level(null, Path.of(""));

    private Level newest = top;
    private boolean isAny;

    Announced(Scope scope, Completion completion) {
        this.scope = scope;
        this.completion = completion;
    }

    /// Takes an entry that is announced, and returns the folder that it belongs to.
    ///
    /// @throws CommandFailed when the sender may not announce it, or not now
    Level entry(Entry entry) {
        Path name = entry.name();
        Attributes.Type type = entry.attributes().type();
        Path parent = name.getParent();
        if (parent == null) {
            source(name, type);
            leaveUntil(top);
        } else {
            Level in = newest;
            while (in != top && !in.name.equals(parent)) {
                in = parentOf(in);
            }
            if (in == top) {
                throw refused(name, "which is in no folder that was announced");
            }
            leaveUntil(in);
        }
        Path last = newest.last;
        if (last != null && last.compareTo(name.getFileName()) >= 0) {
            throw refused(name, "twice, or out of order");
        }
        newest.last = name.getFileName();
        Level holder = newest;
        if (type == Attributes.Type.FOLDER) {
            holder.underWay.incrementAndGet();
            newest = new Level(holder, name);
        }
        return holder;
    }

    private void source(Path name, Attributes.Type type) {
        boolean isWrong = scope.name() != null && !scope.name().equals(name);
        if (isWrong || (scope.isOne() && isAny)) {
            throw refused(name, "which was not asked for");
        }
        if (type == Attributes.Type.FOLDER && !scope.isRecursive()) {
            throw refused(name, "a folder, which was not asked for");
        }
        if (type == Attributes.Type.LINK) {
            throw refused(name, "a link in the place of what was asked for");
        }
        isAny = true;
    }

    /// Notes that a file of this folder is under way until [#done].
    void begins(Level in) {
        in.underWay.incrementAndGet();
    }

    void done(Level in) {
        Level level = in;
        while (level != null && level.underWay.decrementAndGet() == 0) {
            Entry complete = level.entry;
            if (complete != null) {
                completion.folder(complete);
            }
            level = level.parent;
        }
    }

    /// Notes that the newest entry, a folder, is there: its completion has to be reported.
    void isThere(Entry folder) {
        newest.entry = folder;
    }

    /// Notes an entry that the sender leaves out, whose name is text only.
    ///
    /// @throws CommandFailed when there is nothing that could be left out
    void note(String name) {
        if (isAny && scope.isOne() && !scope.isRecursive()) {
            throw new CommandFailed("the peer speaks of \"" + name + "\", which was not asked for");
        }
        isAny = true;
    }

    /// Ends the announcements.
    ///
    /// @throws CommandFailed when nothing was, of what was asked for
    void finish() {
        if (scope.isOne() && !isAny) {
            throw new CommandFailed("the peer has sent nothing of what was asked for");
        }
        leaveUntil(top);
    }

    private void leaveUntil(Level wanted) {
        while (newest != wanted) {
            Level left = newest;
            newest = parentOf(left);
            done(left);
        }
    }

    private static Level parentOf(Level level) {
        Level parent = level.parent;
        if (parent == null) {
            throw new IllegalStateException("the top has no parent");
        }
        return parent;
    }

    private static CommandFailed refused(Path name, String why) {
        return new CommandFailed("the peer offers \"" + Names.shown(name) + "\", " + why);
    }
}
