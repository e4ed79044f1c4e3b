package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// Frames on their way from one link to another through memory that both share: a ring with one writer and one
/// reader, each of which may be in another process.
///
/// Positions count bytes up for ever. A record is a frame with its addresses, in whole lines of 64 bytes and in one
/// piece; where it does not fit before the end of the ring, a record without a frame fills the rest. All fields are
/// in native order, because a ring does not leave the host.
///
/// | byte | of the head | of a record | of one with a [DirectMessage] |
/// |---|---|---|---|
/// | 0 | position after the last record; the writer's | bytes of the packet; -1 when there is none | [#MESSAGE] and its
/// bytes |
/// | 4, 5, 6 | | traffic class, hop limit, whether a [FaultyLink] has damaged it | |
/// | 8 to 39 | | source GID, destination GID | the message |
/// | 40 | | the packet | |
/// | 64 | position of the oldest record; the reader's | | |
/// | 128 | 1 while the reader sleeps | | |
///
/// The reader believes nothing of what it reads: it copies a frame before it looks at it, and a record that cannot
/// be breaks the ring ([#isBroken()]).
final class FrameRing {
    /// Bytes before the records.
    static final int HEAD_BYTES = 192;

    private static final long WRITTEN = 0;
    private static final long READ = 64;
    static final long ASLEEP = 128;

    private static final int LINE = 64;
    private static final int RECORD_BYTES = 40;
    private static final int NO_PACKET = -1;
    /// Bit of a record's first word: it has a message.
    private static final int MESSAGE = 1 << 30;

    private static final int MESSAGE_AT = 8;

    private static final VarHandle POSITION = JAVA_LONG.varHandle();
    private static final VarHandle FLAG = JAVA_INT.varHandle();

    private final MemorySegment memory;
    private final long size;

    /// The writer's: where the next record goes, and where the reader was when it was last asked.
    private long next;

    private long readSeen;
    /// Bytes of the message's record that was begun.
    private long begun;

    /// The reader's: where the oldest record is, and where the writer was when it was last asked.
    private long oldest;

    private long writtenSeen;
    private boolean isBroken;

    /// @param memory [#HEAD_BYTES] and a power of two for records; both ends begin with zeros
    FrameRing(MemorySegment memory) {
        this.memory = memory;
        this.size = memory.byteSize() - HEAD_BYTES;
        assert Long.bitCount(size) == 1 && size >= 2L * Frame.SLOT_BYTES : size;
    }

    /// How many bytes of memory a ring with room for so many needs.
    static long bytes(int size) {
        return HEAD_BYTES + (long) size;
    }

    // --- the writer

    /// Adds a frame, which the reader sees after [#publish()]; false when there is no room.
    boolean put(Frame frame) {
        long bytes = recordBytes(frame.length);
        long at = claim(bytes, size);
        if (at < 0) {
            return false;
        }
        write(frame, memory, at);
        next += bytes;
        assert readSeen <= next && next - readSeen <= size : "inside the ring";
        return true;
    }

    /// Begins a message: answers where in [#memory()] its bytes go, or with a negative number when the ring is half
    /// full. The other half is for packets. The reader sees the message after [#end()] and [#publish()].
    long begin(int length) {
        long bytes = messageRecordBytes(length);
        long at = claim(bytes, size / 2);
        if (at < 0) {
            return at;
        }
        memory.set(JAVA_INT, at, MESSAGE | length);
        begun = bytes;
        return at + MESSAGE_AT;
    }

    /// The message that was begun is complete.
    void end() {
        next += begun;
        begun = 0;
    }

    MemorySegment memory() {
        return memory;
    }

    /// Where in the memory a record of so many bytes goes; negative when more than `most` would then be taken.
    private long claim(long bytes, long most) {
        long at = next & (size - 1);
        long skipped = at + bytes > size ? size - at : 0;
        if (!hasRoom(skipped + bytes, most)) {
            return -1;
        }
        if (skipped > 0) {
            memory.set(JAVA_INT, HEAD_BYTES + at, NO_PACKET);
            next += skipped;
            at = 0;
        }
        assert at + bytes <= size : "in one piece";
        return HEAD_BYTES + at;
    }

    private boolean hasRoom(long bytes, long most) {
        if (next + bytes - readSeen <= most) {
            return true;
        }
        long read = (long) POSITION.getAcquire(memory, READ);
        if (read - readSeen >= 0 && next - read >= 0) { // the reader cannot be before or behind that
            readSeen = read;
        }
        return next + bytes - readSeen <= most;
    }

    /// Shows the reader what was added; returns whether the reader sleeps and has to be woken, which only one call
    /// is told.
    boolean publish() {
        POSITION.setVolatile(memory, WRITTEN, next);
        return (int) FLAG.getVolatile(memory, ASLEEP) != 0 && (int) FLAG.getAndSet(memory, ASLEEP, 0) != 0;
    }

    // --- the reader

    /// Whether there is a record that the reader has not taken. Any thread of either process.
    boolean hasRecords() {
        return (long) POSITION.getVolatile(memory, WRITTEN) != (long) POSITION.getOpaque(memory, READ);
    }

    /// Fills `frames[from]` and its successors with the oldest frames, at most `count`; returns how many.
    int take(Frame[] frames, int from, int count) {
        if (oldest == writtenSeen) {
            writtenSeen = (long) POSITION.getAcquire(memory, WRITTEN);
            if (oldest == writtenSeen) {
                return 0;
            }
        }
        long before = oldest;
        int taken = 0;
        while (taken < count && oldest != writtenSeen && !isBroken) {
            taken += takeOne(frames[from + taken]);
        }
        if (oldest != before) {
            POSITION.setRelease(memory, READ, oldest);
        }
        return taken;
    }

    private int takeOne(Frame frame) {
        long at = oldest & (size - 1);
        long readable = writtenSeen - oldest;
        int word = memory.get(JAVA_INT, HEAD_BYTES + at);
        boolean isMessage = word > MESSAGE;
        int length = isMessage ? word ^ MESSAGE : word;
        long bytes = length == NO_PACKET ? size - at : isMessage ? messageRecordBytes(length) : recordBytes(length);
        boolean isPossible = readable > 0
                && readable <= size
                && (readable & LINE - 1) == 0
                && bytes <= readable
                && at + bytes <= size
                && (length == NO_PACKET
                        || (length > 0 && length <= (isMessage ? DirectMessage.BYTES_MAX : Frame.PACKET_MAX)));
        if (!isPossible) {
            isBroken = true;
            return 0;
        }
        oldest += bytes;
        assert oldest <= writtenSeen : "no further than the writer";
        if (length == NO_PACKET) {
            return 0;
        }
        if (isMessage) {
            readMessage(frame, HEAD_BYTES + at + MESSAGE_AT, length);
        } else {
            read(frame, memory, HEAD_BYTES + at, length);
        }
        return 1;
    }

    private void readMessage(Frame frame, long at, int length) {
        frame.viewOwn();
        MemorySegment.copy(memory, at, frame.slot, Frame.HEADROOM, length);
        frame.length = length;
        frame.isMessage = true;
    }

    /// Whether the writer has written what no writer writes. Nothing is read any more.
    boolean isBroken() {
        return isBroken;
    }

    /// Notes that the reader sleeps, so that the writer wakes it; the caller looks for records afterwards.
    void sleep() {
        FLAG.setVolatile(memory, ASLEEP, 1);
    }

    /// Notes that the reader is awake.
    void awake() {
        FLAG.setOpaque(memory, ASLEEP, 0);
    }

    // --- records

    /// The room that a packet takes.
    static long recordBytes(int length) {
        return (RECORD_BYTES + (long) length + LINE - 1) & -LINE;
    }

    private static long messageRecordBytes(int length) {
        return (MESSAGE_AT + (long) length + LINE - 1) & -LINE;
    }

    /// Writes a record.
    static void write(Frame frame, MemorySegment to, long at) {
        assert frame.length > 0 && frame.length <= Frame.PACKET_MAX : frame.length;
        to.set(JAVA_INT, at, frame.length);
        to.set(JAVA_BYTE, at + 4, (byte) frame.trafficClass);
        to.set(JAVA_BYTE, at + 5, (byte) frame.hopLimit);
        to.set(JAVA_BYTE, at + 6, (byte) (frame.damagedBit < 0 ? 0 : 1));
        to.set(JAVA_LONG, at + 8, frame.sourceHigh);
        to.set(JAVA_LONG, at + 16, frame.sourceLow);
        to.set(JAVA_LONG, at + 24, frame.destinationHigh);
        to.set(JAVA_LONG, at + 32, frame.destinationLow);
        MemorySegment.copy(frame.slot, frame.start, to, at + RECORD_BYTES, frame.length);
    }

    /// Reads a record into the frame's own slot.
    ///
    /// @param length of its packet, which the caller has judged: the memory may say something else by now
    static void read(Frame frame, MemorySegment from, long at, int length) {
        frame.viewOwn();
        MemorySegment.copy(from, at + RECORD_BYTES, frame.slot, Frame.HEADROOM, length);
        frame.length = length;
        frame.isMessage = false;
        frame.trafficClass = from.get(JAVA_BYTE, at + 4) & 0xFF;
        frame.hopLimit = from.get(JAVA_BYTE, at + 5) & 0xFF;
        frame.sourceHigh = from.get(JAVA_LONG, at + 8);
        frame.sourceLow = from.get(JAVA_LONG, at + 16);
        frame.destinationHigh = from.get(JAVA_LONG, at + 24);
        frame.destinationLow = from.get(JAVA_LONG, at + 32);
        frame.sourcePort = RoceV2.UDP_PORT;
        frame.icrcValid = from.get(JAVA_BYTE, at + 6) == 0; // memory itself damages nothing
    }
}
