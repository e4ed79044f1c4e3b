package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// The frames on their way from one link to another through memory that both share: a ring with one writer and one
/// reader, each of which may be in another process.
///
/// Positions count bytes up for ever. A record is a frame with its addresses, in whole lines of 64 bytes and in one
/// piece; where it does not fit before the end of the ring, a record without a frame fills the rest. All fields are
/// in native order, because a ring does not leave the host.
///
/// | byte | of the head | of a record | of one with a [DirectMessage] |
/// |---|---|---|---|
/// | 0 | position of the oldest record; the reader's | bytes of the packet; -1 when there is none; 0 when there is
/// no record yet | [#MESSAGE] and its bytes |
/// | 4, 5, 6 | | traffic class, hop limit, whether a [FaultyLink] has damaged it | |
/// | 8 to 39 | | source GID, destination GID | the message |
/// | 40 | | the packet | |
/// | 128 | 1 while the reader sleeps | | |
///
/// The first word of a record says that it is there. So a reader that waits for a record looks at the line that the
/// record comes in, and fetches one line from the other processor, not two. The writer stores the first word of all
/// that it shows after the rest of it, and sets the word behind it to 0 before that. The reader tells the writer
/// only now and then how far it is: a store to a line that the other processor has looked at holds up all behind it.
///
/// The reader believes nothing of what it reads: it copies a frame before it looks at it, and a record that cannot
/// be breaks the ring ([#isBroken()]).
public final class FrameRing {
    /// The number of bytes before the records.
    public static final int HEAD_BYTES = 256;

    private static final long READ = 0;
    /// The place of the word for a sleeping reader: in a pair of lines of its own, because processors like to fetch
    /// a pair.
    public static final long ASLEEP = 128;

    private static final int LINE = 64;
    private static final int RECORD_BYTES = 40;
    private static final int NO_RECORD = 0;
    private static final int NO_PACKET = -1;
    /// Bit of a record's first word: it has a message.
    private static final int MESSAGE = 1 << 30;

    private static final int MESSAGE_AT = 8;
    /// The lines behind the last record whose first word is 0, where there is room: while the reader takes a
    /// record, the writer prepares for the next.
    private static final int PREPARED = 4 * LINE;
    /// The part of the ring, as a divisor, after which a reader that always finds records reports its position.
    private static final int TOLD_PART = 16;

    private static final long NOWHERE = -1;

    private static final VarHandle POSITION = JAVA_LONG.varHandle();
    private static final VarHandle WORD = JAVA_INT.varHandle();
    private static final VarHandle OLDEST;

    static {
        try {
            OLDEST = MethodHandles.lookup().findVarHandle(FrameRing.class, "oldest", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemorySegment memory;
    private final long size;

    /// The writer's: where the next record goes, and where the reader was when it was last asked.
    private long next;

    private long readSeen;
    /// Up to where the first words of all lines from `next` on are 0.
    private long prepared;
    /// The first record that the reader has not been shown: where its first word goes, and that word.
    private long hidden = NOWHERE;

    private int hiddenWord;
    /// The message that was begun: where its record is, its length, and the bytes of the record, 0 when there is
    /// none.
    private long begunAt;

    private int begunLength;
    private long begunBytes;

    /// The reader's position of the oldest record, and the position that it has reported to the writer.
    private long oldest;

    private long told;
    /// Whether to look behind a message for more. The first look at a line fetches it from the other processor,
    /// which takes longer than all that is done for a message. So a message that has come after a look in vain is
    /// taken alone. A hint.
    private boolean looksBehind;

    private boolean isBroken;

    /// @param memory [#HEAD_BYTES] and a power of two for records; both ends begin with zeros
    public FrameRing(MemorySegment memory) {
        this.memory = memory;
        this.size = memory.byteSize() - HEAD_BYTES;
        this.prepared = size;
        assert Long.bitCount(size) == 1 && size >= 2L * Frame.SLOT_BYTES : size;
    }

    /// Returns the bytes of memory that a ring needs for this many bytes of records.
    public static long bytes(int size) {
        return HEAD_BYTES + (long) size;
    }

    // --- the writer

    /// Adds a frame, which the reader sees after [#publish()]; false when there is no room.
    public boolean put(Frame frame) {
        long bytes = recordBytes(frame.length);
        long at = claim(bytes, size - LINE);
        if (at < 0) {
            return false;
        }
        writeRest(frame, memory, at);
        add(at, frame.length, bytes);
        assert readSeen <= next && next - readSeen < size : "inside the ring";
        return true;
    }

    /// Begins a message: answers where in [#memory()] its bytes go, or with a negative number when the ring is half
    /// full. The other half is for packets. The reader sees the message after [#end()] and [#publish()].
    public long begin(int length) {
        long bytes = messageRecordBytes(length);
        long at = claim(bytes, size / 2);
        if (at < 0) {
            return at;
        }
        begunAt = at;
        begunLength = length;
        begunBytes = bytes;
        return at + MESSAGE_AT;
    }

    /// Adds the message that was begun, which is complete.
    public void end() {
        add(begunAt, MESSAGE | begunLength, begunBytes);
        begunBytes = 0;
    }

    /// Gives up the message that was begun. It may have left bytes in lines that were prepared.
    private void giveUp() {
        if (begunBytes > 0) {
            begunBytes = 0;
            prepared = next;
        }
    }

    public MemorySegment memory() {
        return memory;
    }

    /// Returns the place in memory for a record of this many bytes; negative when more than `most` would then be
    /// taken.
    private long claim(long bytes, long most) {
        giveUp();
        long at = next & (size - 1);
        long skipped = at + bytes > size ? size - at : 0;
        if (!hasRoom(skipped + bytes, most)) {
            return -1;
        }
        if (skipped > 0) {
            add(HEAD_BYTES + at, NO_PACKET, skipped);
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
        // The reader cannot be before or behind that, nor within a line.
        if (read - readSeen >= 0 && next - read >= 0 && (read & LINE - 1) == 0) {
            readSeen = read;
        }
        return next + bytes - readSeen <= most;
    }

    /// Adds a record that is complete but for its first word. The first record that is not shown keeps back all
    /// records behind it.
    private void add(long at, int word, long bytes) {
        if (hidden == NOWHERE) {
            hidden = at;
            hiddenWord = word;
        } else {
            WORD.setOpaque(memory, at, word);
        }
        next += bytes;
    }

    /// Shows the reader what was added; returns whether the reader sleeps and has to be woken, which only one call
    /// is told.
    public boolean publish() {
        giveUp();
        if (hidden != NOWHERE) {
            prepare(next + LINE);
            WORD.setRelease(memory, hidden, hiddenWord);
            hidden = NOWHERE;
        }
        VarHandle.fullFence(); // this thread adds a record and then looks, a reader that sleeps the other way round
        boolean isAsleep = (int) WORD.getOpaque(memory, ASLEEP) != 0 && (int) WORD.getAndSet(memory, ASLEEP, 0) != 0;
        prepare(Math.min(next + PREPARED, readSeen + size));
        return isAsleep;
    }

    /// Sets the first words of the lines before `end` to 0.
    private void prepare(long end) {
        long from = Math.max(prepared, next);
        for (long line = from; line < end; line += LINE) {
            WORD.setOpaque(memory, HEAD_BYTES + (line & (size - 1)), NO_RECORD);
        }
        prepared = Math.max(from, end);
    }

    /// Returns the position behind all that was added. The writer.
    public long added() {
        return next;
    }

    /// Returns whether the reader has reported that it has taken all records before this position. The writer.
    public boolean isRead(long position) {
        return (long) POSITION.getAcquire(memory, READ) - position >= 0;
    }

    // --- the reader

    /// Returns whether there is a record that the reader has not taken. Any thread of the reader's process.
    public boolean hasRecords() {
        boolean hasSome = word((long) OLDEST.getOpaque(this)) != NO_RECORD;
        if (!hasSome) {
            looksBehind = false;
        }
        return hasSome;
    }

    private int word(long position) {
        return (int) WORD.getAcquire(memory, HEAD_BYTES + (position & (size - 1)));
    }

    /// The kind of a record.
    public enum Content {
        FRAME,
        /// A [DirectMessage], of which only bytes and length count.
        MESSAGE
    }

    /// Fills `frames[from]` and its successors with the oldest frames, at most `count`, up to the first message;
    /// returns how many.
    public int take(Frame[] frames, int from, int count) {
        return take(Content.FRAME, frames, from, count);
    }

    /// Fills `frames[from]` and its successors with the oldest records that hold this, at most `count`, up to the
    /// first that holds the other; returns how many.
    public int take(Content content, Frame[] frames, int from, int count) {
        boolean areMessages = content == Content.MESSAGE;
        int taken = 0;
        boolean isLeft = false;
        boolean looksOn = true;
        while (taken < count && looksOn && !isBroken) {
            int word = word(oldest);
            if (word == NO_RECORD) {
                break;
            }
            if (word > 0 && word > MESSAGE != areMessages) {
                isLeft = true;
                break;
            }
            taken += takeOne(frames[from + taken], word);
            looksOn = looksBehind || taken == 0 || !areMessages;
        }
        looksBehind = taken > 0 || (isLeft && looksBehind);
        if (oldest - told >= (taken == 0 && !isLeft ? 1 : size / TOLD_PART)) {
            POSITION.setRelease(memory, READ, oldest);
            told = oldest;
        }
        return taken;
    }

    private int takeOne(Frame frame, int word) {
        long at = oldest & (size - 1);
        boolean hasMessage = word > MESSAGE;
        int length = hasMessage ? word ^ MESSAGE : word;
        long bytes = length == NO_PACKET ? size - at : hasMessage ? messageRecordBytes(length) : recordBytes(length);
        boolean isPossible = length == NO_PACKET
                ? at > 0
                : (length > 0
                        && length <= (hasMessage ? DirectMessage.BYTES_MAX : Frame.PACKET_MAX)
                        && at + bytes <= size);
        if (!isPossible) {
            isBroken = true;
            return 0;
        }
        OLDEST.setOpaque(this, oldest + bytes);
        if (length == NO_PACKET) {
            return 0;
        }
        if (hasMessage) {
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
    }

    /// Returns whether the ring holds bytes that no correct writer writes. Nothing is read from it any more.
    public boolean isBroken() {
        return isBroken;
    }

    /// Notes that the reader sleeps, so that the writer wakes it; the caller looks for records afterwards.
    public void sleep() {
        WORD.setVolatile(memory, ASLEEP, 1);
    }

    /// Notes that the reader is awake.
    public void awake() {
        WORD.setOpaque(memory, ASLEEP, 0);
    }

    // --- records

    /// Returns the room that a packet takes.
    public static long recordBytes(int length) {
        return (RECORD_BYTES + (long) length + LINE - 1) & -LINE;
    }

    private static long messageRecordBytes(int length) {
        return (MESSAGE_AT + (long) length + LINE - 1) & -LINE;
    }

    /// Writes a record.
    public static void write(Frame frame, MemorySegment to, long at) {
        to.set(JAVA_INT, at, frame.length);
        writeRest(frame, to, at);
    }

    /// Writes all of a record but its first word.
    private static void writeRest(Frame frame, MemorySegment to, long at) {
        assert frame.length > 0 && frame.length <= Frame.PACKET_MAX : frame.length;
        to.set(JAVA_BYTE, at + 4, (byte) frame.trafficClass);
        to.set(JAVA_BYTE, at + 5, (byte) frame.hopLimit);
        to.set(JAVA_BYTE, at + 6, (byte) (frame.marks.damagedBit < 0 ? 0 : 1));
        to.set(JAVA_LONG, at + 8, frame.sourceHigh);
        to.set(JAVA_LONG, at + 16, frame.sourceLow);
        to.set(JAVA_LONG, at + 24, frame.destinationHigh);
        to.set(JAVA_LONG, at + 32, frame.destinationLow);
        MemorySegment.copy(frame.slot, frame.start, to, at + RECORD_BYTES, frame.length);
    }

    /// Reads a record into the frame's own slot.
    ///
    /// @param length of its packet, which the caller has judged: the memory may say something else by now
    public static void read(Frame frame, MemorySegment from, long at, int length) {
        frame.viewOwn();
        MemorySegment.copy(from, at + RECORD_BYTES, frame.slot, Frame.HEADROOM, length);
        frame.length = length;
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
