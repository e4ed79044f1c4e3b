package verbena.nic.capture;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import verbena.foreign.GuardedAccess;

/// A ring of notes. Writers take turns by its lock and never wait for the reader. A note without room is lost and
/// counted.
///
/// A note is a header of longs and ints at fixed positions, followed by the bytes of a packet. It lies in one
/// piece: a note that does not fit before the end of the memory begins at its start.
final class NoteRing {
    /// The positions of the fields in a note.
    static final int KIND = 4;

    static final int FLAGS = 8;
    static final int FATE = 12;
    static final int NANOS = 16;
    static final int SOURCE_HIGH = 24;
    static final int SOURCE_LOW = 32;
    static final int DESTINATION_HIGH = 40;
    static final int DESTINATION_LOW = 48;
    static final int SOURCE_PORT = 56;
    static final int DESTINATION_PORT = 60;
    static final int TRAFFIC_CLASS = 64;
    static final int HOP_LIMIT = 68;
    /// The octets of a stream's direction before these: they replace traffic class and hop limit.
    static final int POSITION = TRAFFIC_CLASS;

    static final int STREAM = 72;
    static final int BYTES = 76;
    /// The number of notes that were lost right before this one.
    static final int LOST = 80;
    /// The number of bytes that the packet had: as many as [#BYTES], or more.
    static final int WHOLE_BYTES = 84;
    static final int SOURCE_MAC = 88;
    static final int DESTINATION_MAC = 96;
    static final int VLAN_TAG = 104;
    /// 1 for RoCE v1.
    static final int ROCE_V1 = 108;
    /// The length of the header, behind which the bytes begin.
    static final int HEAD_BYTES = 112;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final int SKIP = -1;
    private static final VarHandle WRITTEN;
    private static final VarHandle READ;

    static {
        try {
            var lookup = MethodHandles.lookup();
            WRITTEN = lookup.findVarHandle(NoteRing.class, "written", long.class);
            READ = lookup.findVarHandle(NoteRing.class, "read", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemorySegment memory;
    private final int capacity;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long written;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long read;

    // Guarded by the writers' lock.
    private int at;
    private int next;
    private int lostBefore;
    private volatile long lost;
    private volatile long noted;

    /// @param capacity in bytes
    NoteRing(int capacity) {
        this.capacity = capacity & ~7;
        this.memory = MemorySegment.ofArray(new byte[this.capacity]);
    }

    long lost() {
        return lost;
    }

    long noted() {
        return noted;
    }

    // --- writers, under the monitor of this object

    /// Begins a note with room for this many bytes; false when there is no room. The writer ends it with
    /// [#publish()].
    boolean begin(int kind, int bytes) {
        assert Thread.holdsLock(this) : "writers take turns";
        int total = (HEAD_BYTES + bytes + 7) & ~7;
        long position = (long) WRITTEN.get(this);
        long free = capacity - (position - (long) READ.getAcquire(this));
        assert free >= 0 && free <= capacity : "order of positions";
        int offset = (int) (position % capacity);
        int toEnd = capacity - offset;
        int skipped = toEnd < total ? toEnd : 0;
        if (skipped + total > free) {
            lose(1);
            return false;
        }
        if (skipped > 0) {
            memory.set(INT, offset, SKIP);
            offset = 0;
        }
        at = offset;
        next = skipped + total;
        memory.asSlice(at, HEAD_BYTES).fill((byte) 0);
        putInt(0, total);
        putInt(KIND, kind);
        putInt(BYTES, bytes);
        putInt(WHOLE_BYTES, bytes);
        putInt(LOST, lostBefore);
        lostBefore = 0;
        return true;
    }

    /// Counts notes that were not begun.
    void lose(int notes) {
        lostBefore += notes;
        long before = lost;
        lost = before + notes; // under the lock
    }

    void putInt(int place, int value) {
        memory.set(INT, at + place, value);
    }

    void putLong(int place, long value) {
        memory.set(LONG, at + place, value);
    }

    /// Copies bytes into the note. Bytes that have gone from a program's memory meanwhile are not noted.
    void putBytes(MemorySegment from, long offset, int bytes) {
        boolean _ = GuardedAccess.copy(from, offset, memory, at + HEAD_BYTES, bytes);
    }

    void publish() {
        long before = noted;
        noted = before + 1; // under the lock
        WRITTEN.setRelease(this, (long) WRITTEN.get(this) + next);
    }

    // ---- the reader, one at a time

    /// Returns the position of the oldest note; -1 when there is none.
    int peek() {
        long position = (long) READ.get(this);
        while (position != (long) WRITTEN.getAcquire(this)) {
            int offset = (int) (position % capacity);
            if (memory.get(INT, offset) != SKIP) {
                return offset;
            }
            position += capacity - offset;
            READ.setRelease(this, position);
        }
        return -1;
    }

    int getInt(int note, int place) {
        return memory.get(INT, note + place);
    }

    long getLong(int note, int place) {
        return memory.get(LONG, note + place);
    }

    /// Returns the bytes of a note: this memory, not a copy.
    MemorySegment bytes(int note) {
        return memory.asSlice(note + HEAD_BYTES, getInt(note, BYTES));
    }

    /// Removes the note that [#peek()] has returned.
    void remove(int note) {
        assert note == (int) ((long) READ.get(this) % capacity) : "the oldest note leaves first";
        READ.setRelease(this, (long) READ.get(this) + getInt(note, 0));
        assert (long) READ.get(this) <= (long) WRITTEN.getAcquire(this) : "order of positions";
    }
}
