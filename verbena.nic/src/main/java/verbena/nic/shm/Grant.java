package verbena.nic.shm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.spi.SendOperation;

/// What a queue pair knows of one key of its peer: that it has asked for a grant, that there is none, or the grant.
/// For the owner of the engine; used again for other keys.
final class Grant {
    final int rkey;
    /// How copies to its memory are made.
    final CopyChoice copies = new CopyChoice();
    /// Whether it was used since its place was last looked at.
    boolean isUsed;

    private boolean isAsked;
    /// When to ask again.
    private long againNanos;

    private boolean isHeld;
    // Of a grant that is held. The file is null when the memory is in none.
    private @Nullable MappedFile file;
    private int index;
    private long value;
    private long address;
    private long length;
    private int rights;
    /// What is granted, and nothing else, where it is in a file.
    private MemorySegment memory = MemorySegment.NULL;
    /// Where it is in the owner's process otherwise, and the mark of that.
    private long place;

    private long mark;

    Grant(int rkey) {
        this.rkey = rkey;
    }

    /// It is asked for, and asked for again at this time at the earliest.
    void asked(long again) {
        isAsked = true;
        againNanos = again;
    }

    /// Whether it was asked for and is not held.
    boolean isAsked() {
        return isAsked;
    }

    /// Whether it is too early to ask again.
    boolean waits(long now) {
        return isAsked && now - againNanos < 0;
    }

    boolean isHeld() {
        return isHeld;
    }

    /// Whether it is held, and is the one that a message is about.
    boolean isHeld(GrantMessage about) {
        return isHeld() && about.index() == index && about.value() == value;
    }

    /// @param given checked: it lies in the file, if there is one
    void hold(GrantMessage given, @Nullable MappedFile in) {
        assert !isHeld : "released before";
        isAsked = false;
        isHeld = true;
        file = in;
        index = given.index();
        value = given.value();
        address = given.address();
        length = given.length();
        rights = given.rights();
        place = given.offset();
        mark = given.mark();
        if (in != null) {
            in.users++;
            memory = in.memory.asSlice(place, length);
        }
    }

    /// It is held no more; the file that it was in, if any, for the caller to unmap if it has no users.
    @Nullable
    MappedFile release() {
        MappedFile was = file;
        isHeld = false;
        if (was != null) {
            was.users--;
            file = null;
            memory = MemorySegment.NULL;
        }
        return was;
    }

    int index() {
        return index;
    }

    long value() {
        return value;
    }

    /// Whether [#memory()] is mapped here. Otherwise it is at [#place()] of the owner's process.
    boolean isMapped() {
        return file != null;
    }

    MemorySegment memory() {
        return memory;
    }

    long place() {
        return place;
    }

    long mark() {
        return mark;
    }

    /// Whether the operation, on so many bytes, is within it.
    boolean allows(SendOperation operation, long from, long bytes) {
        int right = right(operation);
        return right != 0
                && (rights & right) == right
                && bytes <= length
                && Long.compareUnsigned(from, address) >= 0
                && Long.compareUnsigned(from - address, length - bytes) <= 0;
    }

    /// How far from the beginning an address lies that it [allows][#allows].
    long offset(long of) {
        return of - address;
    }

    private static int right(SendOperation operation) {
        return switch (operation) {
            case WRITE, WRITE_WITH_IMMEDIATE, ATOMIC_WRITE -> Access.REMOTE_WRITE.bit();
            case READ -> Access.REMOTE_READ.bit();
            case FETCH_ADD, COMPARE_SWAP -> Access.REMOTE_ATOMIC.bit();
            default -> 0;
        };
    }
}
