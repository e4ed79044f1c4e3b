package verbena.provider;

import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.spi.OwnedObject;

/// The common part of batches of requests and of receives. A batch is open in one thread at a time, work is added to
/// it piece by piece, and a piece with a mistake is taken back. A device writes the work where its queue wants it.
///
/// Only the thread that has the batch open calls its methods, except [#open] and [#isMine].
public abstract class Batch implements AutoCloseable {
    /// Longest message, in bytes (IBTA 9.7.7).
    private static final long MESSAGE_BYTES_MAX = 1L << 31;

    /// The words of messages about this kind of batch and its limits.
    ///
    /// @param verb that opens it
    /// @param piece of work in it
    /// @param depth the option with the most work that is outstanding
    /// @param entries the option with the most scatter/gather entries of a piece
    /// @param first the step that must come before anything is added to a piece
    public record Words(String verb, String piece, String depth, String entries, String first) {}

    /// States of a batch.
    private enum Stage {
        /// No piece can be added to.
        IDLE,
        /// The piece that was begun last can be added to.
        BEGUN,
        /// An exception has warned the program that work in the batch may be lost.
        EXCUSED
    }

    private final Words words;
    /// The queue that it posts to, for messages.
    protected final OwnedObject owner;
    private final ProtectionDomain domain;
    private final int maxEntries;

    // Of the piece that was begun last.
    private Stage stage = Stage.IDLE;
    private long wrId;
    private int entries;
    private long bytes;

    /// @param owner the queue pair or shared receive queue that it posts to
    protected Batch(Words words, OwnedObject owner, ProtectionDomain domain, int maxEntries) {
        this.words = words;
        this.owner = owner;
        this.domain = domain;
        this.maxEntries = maxEntries;
    }

    // ---- what the device does

    /// Returns whether this thread has the batch open. Any thread.
    protected abstract boolean isMine();

    /// Waits until no other thread has the batch open, and opens it.
    protected abstract void enter();

    /// Takes all work back that was not handed over.
    protected abstract void forget();

    /// Closes it, with no work in it.
    protected abstract void leave();

    /// Throws when nothing can be posted now. Any thread.
    ///
    /// @param verb for the message
    protected abstract void checkPostable(String verb);

    /// Pieces of work in the batch.
    protected abstract int claimed();

    /// Returns whether the queue has room for one more piece.
    protected abstract boolean hasRoom();

    /// Pieces of work that the queue holds.
    protected abstract int capacity();

    /// Returns the message when the queue is full.
    protected abstract String whenFull();

    /// Takes the last piece back.
    protected abstract void unclaim();

    /// Returns the region as this device's object; null when another device has made it.
    protected abstract @Nullable OwnedObject own(MemoryRegion region);

    /// Adds the entry with this index to the piece.
    ///
    /// @param length unsigned
    protected abstract void putEntry(int index, int lkey, long address, int length);

    // ---- the batch

    /// Opens it; waits for another thread that has it open.
    ///
    /// @throws InvalidStateException when this thread has it open, or nothing can be posted
    protected final void open() {
        checkNotMine(words.verb);
        checkPostable(words.verb);
        enter();
        boolean opened = false;
        try {
            checkPostable(words.verb); // again: the thread may have waited
            opened = true;
        } finally {
            if (!opened) {
                leave();
            }
        }
        stage = Stage.IDLE;
    }

    /// Keeps a thread from waiting for itself.
    ///
    /// @throws InvalidStateException when this thread has the batch open
    public final void checkNotMine(String verb) {
        if (isMine()) {
            throw new InvalidStateException(
                    verb + ": this thread has a batch of " + owner.label() + " open; close it first");
        }
    }

    /// Checks that the batch may be added to and handed over.
    ///
    /// @throws InvalidStateException when this thread has not the batch open
    protected final void checkOpen() {
        if (!isMine()) {
            owner.checkOpen("batch");
            throw new InvalidStateException("batch: not open, or another thread's");
        }
    }

    /// Checks that the piece that was begun last may be added to.
    ///
    /// @throws InvalidStateException when there is no piece of work to add to
    protected final void checkBegun() {
        checkOpen();
        if (stage != Stage.BEGUN) {
            throw new InvalidStateException("batch: " + words.first);
        }
    }

    /// Checks that the queue has room for one more piece.
    protected final void checkRoom(long nextWrId) {
        if (!hasRoom()) {
            throw full(place(claimed() + 1, nextWrId), "");
        }
    }

    /// Returns the exception for a queue without room, and lets the batch close.
    ///
    /// @param place of the piece in the batch
    /// @param besides the end of the message
    protected final ResourceLimitException full(String place, String besides) {
        excuse();
        return new ResourceLimitException(place, words.depth, capacity(), whenFull() + besides);
    }

    /// Begins a piece, which the device has claimed.
    protected final void begun(long id) {
        stage = Stage.BEGUN;
        wrId = id;
        entries = 0;
        bytes = 0;
    }

    /// Finishes the piece that was begun last; false when there was none to add to.
    protected final boolean end() {
        boolean wasBegun = stage == Stage.BEGUN;
        if (wasBegun) {
            stage = Stage.IDLE;
        }
        return wasBegun;
    }

    /// Returns the number of scatter/gather entries of the piece.
    protected final int entries() {
        return entries;
    }

    /// Returns the number of bytes of the piece's message.
    protected final long bytes() {
        return bytes;
    }

    /// Adds bytes that lie in no entry to the message's length.
    protected final void addBytes(long more) {
        bytes += more;
    }

    /// Returns the name of a piece of work in messages.
    ///
    /// @param number in the batch, from 1
    protected final String place(int number, long id) {
        return "batch " + words.piece + " " + number + " (wrId " + id + ")";
    }

    /// Takes the piece with a mistake back; returns the beginning of its message.
    protected final String drop() {
        String place = place(claimed(), wrId) + ": ";
        unclaim();
        excuse();
        return place;
    }

    /// Lets the batch close without being handed over, because an exception is about to reach the program.
    protected final void excuse() {
        stage = Stage.EXCUSED;
    }

    /// Closes the batch.
    ///
    /// @throws InvalidStateException when work in it was neither handed over nor discarded
    @Override
    public final void close() {
        if (!isMine()) {
            return;
        }
        int lost = stage == Stage.EXCUSED ? 0 : claimed();
        boolean _ = end();
        forget();
        leave();
        if (lost > 0) {
            throw new InvalidStateException("close: " + lost + " " + words.piece + (lost == 1 ? " was" : "s were")
                    + " not submitted: submit() hands them over, discard() drops them");
        }
    }

    /// Checks that requests of this domain may name this part of the region, and adds it.
    protected final void entry(MemoryRegion region, long offset, long length) {
        OwnedObject own = own(region);
        if (own == null) {
            throw new IllegalArgumentException(drop() + "sge: region: of another device");
        }
        if (!own.isOpen()) {
            throw new InvalidStateException(drop() + "sge: region: " + own + " is closed");
        }
        if (region.protectionDomain() != domain) {
            throw ofAnotherDomain("sge: region", region.protectionDomain());
        }
        checkLength("sge", length);
        long all = region.length();
        if (offset < 0 || offset > all - length) {
            throw new IndexOutOfBoundsException(drop() + "sge: offset " + offset + " and length " + length
                    + " are not inside the region's " + all + " bytes");
        }
        add(region.lkey(), region.address() + offset, length);
    }

    /// Adds an entry as it is: the device judges the key.
    protected final void entry(int lkey, long address, long length) {
        checkLength("sge", length);
        add(lkey, address, length);
    }

    private void add(int lkey, long address, long length) {
        if (entries == maxEntries) {
            throw new IllegalArgumentException(
                    drop() + "sge: " + (maxEntries + 1) + " entries, " + words.entries + " is " + maxEntries);
        }
        if (length > MESSAGE_BYTES_MAX - bytes) {
            throw new IllegalArgumentException(drop() + "sge: the entries sum up to more than 2^31 bytes");
        }
        putEntry(entries, lkey, address, (int) length);
        entries++;
        bytes += length;
    }

    /// Checks a length of the piece.
    ///
    /// @param verb of the batch, for the message
    protected final void checkLength(String verb, long length) {
        if (length < 0) {
            throw new IllegalArgumentException(drop() + verb + ": length: not negative, got " + length);
        }
    }

    /// Checks an argument of the verb that is an object of this device.
    ///
    /// @param of its protection domain
    protected final void checkOwn(String verb, String argument, OwnedObject object, ProtectionDomain of) {
        if (!object.isOpen()) {
            throw new InvalidStateException(drop() + verb + ": " + object + " is closed");
        }
        if (of != domain) {
            throw ofAnotherDomain(verb + ": " + argument, of);
        }
    }

    private IllegalArgumentException ofAnotherDomain(String what, ProtectionDomain of) {
        return new IllegalArgumentException(drop() + what + ": of " + of + ", and the request is of " + domain);
    }
}
