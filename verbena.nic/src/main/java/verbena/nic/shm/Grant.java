package verbena.nic.shm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.spi.SendOperation;

/// The state of one key of the peer of a queue pair: a grant was asked for, was declined, or is held. For the owner
/// of the engine; used again for other keys.
final class Grant {
    final int rkey;
    /// The choice of how copies to its memory are made.
    final CopyChoice copies = new CopyChoice();
    /// Whether it was used since its place was last looked at.
    boolean isUsed;

    private boolean isAsked;
    /// The time at which to ask again.
    private long againNanos;

    private boolean isHeld;
    // Of a grant that is held. The file is null when the memory is in none.
    private @Nullable MappedFile file;
    private int index;
    private long value;
    private long address;
    private long length;
    private int rights;
    /// The granted memory, and nothing else, where it is in a file.
    private MemorySegment memory = MemorySegment.NULL;
    /// The address in the owner's process otherwise, with the mark of that process.
    private long place;

    private long mark;

    Grant(int rkey) {
        this.rkey = rkey;
    }

    /// Notes that it is asked for, and is asked for again at this time at the earliest.
    void asked(long again) {
        isAsked = true;
        againNanos = again;
    }

    /// Returns whether it was asked for and is not held.
    boolean isAsked() {
        return isAsked;
    }

    /// Returns whether it is too early to ask again.
    boolean waits(long now) {
        return isAsked && now - againNanos < 0;
    }

    boolean isHeld() {
        return isHeld;
    }

    /// Returns whether it is held and a message is about it.
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

    /// Gives it up. Returns the file that it was in, if any: the caller unmaps a file without users.
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

    /// Returns whether [#memory()] is mapped here. Otherwise it is at [#place()] of the owner's process.
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

    /// Returns whether it allows the operation on these bytes.
    boolean allows(SendOperation operation, long from, long bytes) {
        int right = right(operation);
        return right != 0
                && (rights & right) == right
                && bytes <= length
                && Long.compareUnsigned(from, address) >= 0
                && Long.compareUnsigned(from - address, length - bytes) <= 0;
    }

    /// Returns the offset from the beginning of an address that it [allows][#allows].
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
