package verbena.tools.files;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A file that arrives. The thread that hears the peer owns it, but for what is said to be shared.
final class Incoming {
    final Entry entry;
    final String name;
    final Announced.Level folder;
    private final Target target;
    /// The part file. Guarded by this.
    private @Nullable PartFile part;
    /// Whether the file comes in chunks, and counts as such.
    boolean isInChunks;
    /// Its first chunk that is wanted.
    long first;
    /// Whether the sender has called the file complete.
    boolean isEnding;
    /// Whether all of it is in a slot. Any thread reads it.
    volatile boolean isPacked;
    /// The peer was told that it cannot go on. Any thread reads it.
    volatile boolean isOver;

    Incoming(Entry entry, String name, Announced.Level folder, Target target) {
        this.entry = entry;
        this.name = name;
        this.folder = folder;
        this.target = target;
    }

    int id() {
        return entry.id();
    }

    long size() {
        return entry.attributes().size();
    }

    /// Returns its part file, and opens it at the first call.
    synchronized PartFile part() throws IOException {
        if (part == null) {
            part = target.open(entry);
        }
        return part;
    }

    /// Gives the file up, which cannot go on, and returns whether that is new.
    synchronized boolean giveUp() {
        boolean isNew = !isOver;
        isOver = true;
        return isNew;
    }

    /// Closes it; what is there stays.
    synchronized void close() {
        try {
            if (part != null) {
                part.close();
            }
        } catch (IOException _) {
            // What counts has been forced, or was not asked to be.
        }
    }
}
