package verbena.nic.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.sharing.Neighbours;

/// A message about grants between neighbours. All messages have the same fields, in this host's byte order; a kind
/// uses those that it needs. The values of one that has arrived may be anything.
///
/// @param asker the queue pair that makes requests
/// @param owner the queue pair whose memory they are for
/// @param index of the state word in the owner's page
/// @param value of the state word while the grant lasts
/// @param address of what is granted, as requests name it
/// @param length of what is granted; of a question, the largest payload of the asker's packets: its path MTU
/// @param rights bits of [verbena.verbs.Access]
/// @param file number of the file that it lies in; [#NO_FILE] when it is memory of the owner's process alone
/// @param fileBytes size of the file
/// @param isWritable whether the file can be mapped for writing
/// @param offset in the file; without a file, the address in the owner's process
/// @param mark of the owner's process, without a file
record GrantMessage(
        Kind kind,
        int asker,
        int owner,
        int rkey,
        int index,
        long value,
        long address,
        long length,
        int rights,
        int file,
        long fileBytes,
        boolean isWritable,
        long offset,
        long mark) {
    /// The number of links that a host can have.
    static final int SLOTS = 1 << 8;
    /// The number of bits of a queue pair number below the slot.
    private static final int SLOT_SHIFT = 16;

    /// The size of a message.
    static final int BYTES = 80;
    /// A number that no file has.
    static final int NO_FILE = 0;

    private static final int KIND = 0;
    private static final int ASKER = 4;
    private static final int OWNER = 8;
    private static final int RKEY = 12;
    private static final int INDEX = 16;
    private static final int RIGHTS = 20;
    private static final int FILE = 24;
    private static final int WRITABLE = 28;
    private static final int VALUE = 32;
    private static final int ADDRESS = 40;
    private static final int LENGTH = 48;
    private static final int FILE_BYTES = 56;
    private static final int OFFSET = 64;
    private static final int MARK = 72;

    private static final Kind[] KINDS = Kind.values();

    static {
        assert BYTES <= Neighbours.MESSAGE_MAX : "it fits";
    }

    enum Kind {
        /// The asker would like a grant.
        ASKED,
        /// The owner gives it. A descriptor comes with it when the asker does not have the file.
        GIVEN,
        /// The owner does not.
        DECLINED,
        /// The asker does not use the grant any more.
        RETURNED,
        /// The owner has withdrawn it. The state word has that as well; this message makes an idle asker unmap
        /// the file.
        REVOKED,
        /// The asker has unmapped the file: the next grant in it needs a descriptor again.
        DROPPED
    }

    /// Returns the question for a grant.
    static GrantMessage asked(int asker, int owner, int rkey, int pathMtu) {
        return new GrantMessage(Kind.ASKED, asker, owner, rkey, 0, 0, 0, pathMtu, 0, 0, 0, false, 0, 0);
    }

    /// Returns a message with no more than its kind, its queue pairs and its key.
    static GrantMessage of(Kind kind, int asker, int owner, int rkey) {
        return of(kind, asker, owner, rkey, 0, 0);
    }

    static GrantMessage of(Kind kind, int asker, int owner, int rkey, int index, long value) {
        return new GrantMessage(kind, asker, owner, rkey, index, value, 0, 0, 0, 0, 0, false, 0, 0);
    }

    static GrantMessage dropped(int file) {
        return new GrantMessage(Kind.DROPPED, 0, 0, 0, 0, 0, 0, 0, 0, file, 0, false, 0, 0);
    }

    /// Returns whether the granted memory lies in a file.
    boolean isInFile() {
        return file != NO_FILE;
    }

    /// Returns the message that has arrived; null when it is none of these.
    static @Nullable GrantMessage read(MemorySegment from) {
        if (from.byteSize() != BYTES) {
            return null;
        }
        int kind = from.get(JAVA_INT_UNALIGNED, KIND);
        if (kind < 0 || kind >= KINDS.length) {
            return null;
        }
        return new GrantMessage(
                KINDS[kind],
                from.get(JAVA_INT_UNALIGNED, ASKER),
                from.get(JAVA_INT_UNALIGNED, OWNER),
                from.get(JAVA_INT_UNALIGNED, RKEY),
                from.get(JAVA_INT_UNALIGNED, INDEX),
                from.get(JAVA_LONG_UNALIGNED, VALUE),
                from.get(JAVA_LONG_UNALIGNED, ADDRESS),
                from.get(JAVA_LONG_UNALIGNED, LENGTH),
                from.get(JAVA_INT_UNALIGNED, RIGHTS),
                from.get(JAVA_INT_UNALIGNED, FILE),
                from.get(JAVA_LONG_UNALIGNED, FILE_BYTES),
                from.get(JAVA_INT_UNALIGNED, WRITABLE) != 0,
                from.get(JAVA_LONG_UNALIGNED, OFFSET),
                from.get(JAVA_LONG_UNALIGNED, MARK));
    }

    /// @param to has [#BYTES]
    void write(MemorySegment to) {
        to.set(JAVA_INT_UNALIGNED, KIND, kind.ordinal());
        to.set(JAVA_INT_UNALIGNED, ASKER, asker);
        to.set(JAVA_INT_UNALIGNED, OWNER, owner);
        to.set(JAVA_INT_UNALIGNED, RKEY, rkey);
        to.set(JAVA_INT_UNALIGNED, INDEX, index);
        to.set(JAVA_LONG_UNALIGNED, VALUE, value);
        to.set(JAVA_LONG_UNALIGNED, ADDRESS, address);
        to.set(JAVA_LONG_UNALIGNED, LENGTH, length);
        to.set(JAVA_INT_UNALIGNED, RIGHTS, rights);
        to.set(JAVA_INT_UNALIGNED, FILE, file);
        to.set(JAVA_LONG_UNALIGNED, FILE_BYTES, fileBytes);
        to.set(JAVA_INT_UNALIGNED, WRITABLE, isWritable ? 1 : 0);
        to.set(JAVA_LONG_UNALIGNED, OFFSET, offset);
        to.set(JAVA_LONG_UNALIGNED, MARK, mark);
    }

    /// Returns the slot of the link that a queue pair belongs to.
    static int slot(int qpn) {
        return qpn >>> SLOT_SHIFT & SLOTS - 1;
    }
}
