package verbena.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// A message of a reliable connection between two devices of one host that goes without packets, or an answer to
/// such messages. All fields are in native order, because a message does not leave the host.
///
/// | byte | of all | of a WRITE |
/// |---|---|---|
/// | 0 | number of the queue pair that it is for | |
/// | 4 | number of the queue pair that it comes from | |
/// | 8 | its own number among the messages of that queue pair, 24 bits | |
/// | 12 | number of the next message that its sender expects, with [#ANSWERS]: all before it are delivered | |
/// | 16, 17 | kind, flags | |
/// | 20 | immediate data | |
/// | 24 | the data of a SEND | address |
/// | 32 | | rkey |
/// | 36 | | how many bytes of data are in their place already, with [#PLACED] |
/// | 40 | | the data, otherwise |
public final class DirectMessage {
    /// Bytes before the data of a SEND, and all bytes of an answer.
    public static final int HEADER_BYTES = 24;
    /// Bytes before the data of a WRITE.
    public static final int WRITE_HEADER_BYTES = 40;
    /// The most data that a message has.
    public static final int DATA_MAX = 4096;
    /// The longest message.
    public static final int BYTES_MAX = WRITE_HEADER_BYTES + DATA_MAX;

    // Kinds.
    /// The kind of a message that carries [#expected] and nothing else.
    public static final int ANSWER = 1;
    /// The message with number [#expected], and all behind it up to the next [#FIRST] one, are not taken: they have
    /// to go by packets.
    public static final int DECLINE = 2;
    /// A request for the number of the expected message. Its own number is that of the oldest message without an
    /// answer.
    public static final int QUERY = 3;
    public static final int SEND = 4;
    public static final int WRITE = 5;

    // Flags.
    public static final int WITH_IMMEDIATE = 1;
    public static final int SOLICITED = 2;
    /// The data of a WRITE with immediate was carried to its place by direct access, before this message.
    public static final int PLACED = 4;
    /// All messages before this one have their answers.
    public static final int FIRST = 8;
    /// A flag: the message reports by [#expected] what its sender has taken. Without the flag the sender reports
    /// nothing.
    public static final int ANSWERS = 16;

    private DirectMessage() {}

    /// Writes all fields but the data and those that only a WRITE has.
    public static void write(
            MemorySegment to, long at, int kind, int flags, int destinationQp, int sourceQp, int number, int expected) {
        to.set(JAVA_INT, at, destinationQp);
        to.set(JAVA_INT, at + 4, sourceQp);
        to.set(JAVA_INT, at + 8, number);
        to.set(JAVA_INT, at + 12, expected);
        to.set(JAVA_INT, at + 16, kind | flags << 8);
        to.set(JAVA_INT, at + 20, 0);
    }

    /// Writes a device's answer to a [#QUERY] for a queue pair that is not there, or is not connected to the
    /// sender: from the oldest message without an answer on, nothing is taken.
    public static void writeDecline(MemorySegment to, long at, Frame query) {
        int asking = sourceQp(query);
        int asked = destinationQp(query);
        write(to, at, DECLINE, ANSWERS, asking, asked, 0, number(query));
    }

    /// Writes the immediate data.
    public static void setImmediate(MemorySegment to, long at, int value) {
        to.set(JAVA_INT, at + 20, value);
    }

    /// Writes the fields that only a WRITE has.
    public static void setRemote(MemorySegment to, long at, long address, int rkey) {
        to.set(JAVA_LONG, at + 24, address);
        to.set(JAVA_INT, at + 32, rkey);
        to.set(JAVA_INT, at + 36, 0);
    }

    /// Writes how many bytes are in their place already.
    public static void setPlaced(MemorySegment to, long at, int bytes) {
        to.set(JAVA_INT, at + 36, bytes);
    }

    /// Returns whether the frame, which has the message in its own slot, has a known kind and a length that fits
    /// it.
    public static boolean isWellFormed(Frame frame) {
        if (frame.length < HEADER_BYTES || frame.length > BYTES_MAX) {
            return false;
        }
        return switch (kind(frame)) {
            case ANSWER, DECLINE, QUERY -> frame.length == HEADER_BYTES;
            case SEND -> frame.length - HEADER_BYTES <= DATA_MAX && (flags(frame) & PLACED) == 0;
            case WRITE ->
                frame.length >= WRITE_HEADER_BYTES
                        && ((flags(frame) & PLACED) == 0 || (frame.length == WRITE_HEADER_BYTES && placed(frame) >= 0));
            default -> false;
        };
    }

    public static int destinationQp(Frame frame) {
        return frame.slot.get(JAVA_INT, frame.start);
    }

    public static int sourceQp(Frame frame) {
        return frame.slot.get(JAVA_INT, frame.start + 4L);
    }

    public static int number(Frame frame) {
        return frame.slot.get(JAVA_INT, frame.start + 8L);
    }

    public static int expected(Frame frame) {
        return frame.slot.get(JAVA_INT, frame.start + 12L);
    }

    public static int kind(Frame frame) {
        return frame.slot.get(JAVA_BYTE, frame.start + 16L);
    }

    public static int flags(Frame frame) {
        return frame.slot.get(JAVA_BYTE, frame.start + 17L);
    }

    /// Returns whether [#expected] is valid.
    public static boolean answers(Frame frame) {
        return (flags(frame) & ANSWERS) != 0;
    }

    /// Returns the offset in the frame's slot of the data of a SEND or WRITE.
    public static int dataOffset(Frame frame) {
        return frame.start + (kind(frame) == WRITE ? WRITE_HEADER_BYTES : HEADER_BYTES);
    }

    /// Returns the number of bytes of data that a SEND or WRITE carries.
    public static int dataBytes(Frame frame) {
        return frame.length - (kind(frame) == WRITE ? WRITE_HEADER_BYTES : HEADER_BYTES);
    }

    /// Returns the number of bytes of a SEND or WRITE in all, including those that are in their place already.
    public static int bytes(Frame frame) {
        return (flags(frame) & PLACED) != 0 ? placed(frame) : dataBytes(frame);
    }

    public static int immediate(Frame frame) {
        return frame.slot.get(JAVA_INT, frame.start + 20L);
    }

    public static long address(Frame frame) {
        return frame.slot.get(JAVA_LONG, frame.start + 24L);
    }

    public static int rkey(Frame frame) {
        return frame.slot.get(JAVA_INT, frame.start + 32L);
    }

    public static int placed(Frame frame) {
        return frame.slot.get(JAVA_INT, frame.start + 36L);
    }
}
