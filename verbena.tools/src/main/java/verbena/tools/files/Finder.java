package verbena.tools.files;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/// A finder of the places of one transfer. Most files are in the folder of the file before them, so the folders that
/// were used last stay open: a place in one of them is found without another walk. A folder that stays open is the
/// folder that the walk has found, whatever others do with its name meanwhile. Any thread may use it.
final class Finder implements AutoCloseable {
    /// Folders that stay open.
    static final int FOLDERS_MAX = 16;

    /// A folder that was walked to.
    private record Known(Folder root, Path way, OpenFolder open) {}

    /// A method of finding a place by walking.
    interface Walking {
        Spot find() throws IOException;
    }

    /// The one that was used last is the first.
    private final Deque<Known> known = new ArrayDeque<>();

    private boolean isClosed;

    /// Finds a place; close it.
    ///
    /// @param way of the folder in `root`; no two folders may have the same
    /// @param name in that folder
    /// @param walking finds the same place when the folder is not open
    Spot find(Folder root, Path way, Path name, Walking walking) throws IOException {
        Spot spot = findOpen(root, way, name);
        if (spot != null) {
            return spot;
        }
        Spot found = walking.find();
        if (found.name().equals(name)) {
            keep(new Known(root, way, found.folder()));
        }
        return found;
    }

    private synchronized @Nullable Spot findOpen(Folder root, Path way, Path name) {
        for (Iterator<Known> each = known.iterator(); each.hasNext(); ) {
            Known one = each.next();
            if (one.root == root && one.way.equals(way)) {
                each.remove();
                known.addFirst(one);
                return new Spot(one.open, name);
            }
        }
        return null;
    }

    private synchronized void keep(Known one) {
        if (isClosed) {
            return;
        }
        one.open.hold();
        known.addFirst(one);
        if (known.size() > FOLDERS_MAX) {
            known.removeLast().open.letGo();
        }
    }

    /// Closes the folders in which no request has a place any more, and keeps no others.
    @Override
    public synchronized void close() {
        isClosed = true;
        known.forEach(one -> one.open.letGo());
        known.clear();
    }
}
