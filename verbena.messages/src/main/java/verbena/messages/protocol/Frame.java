package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import verbena.verbs.RemoteMemory;

/// The layout of a frame: what one SEND between two workers carries. All numbers are big-endian.
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 1 | type |
/// | 1 | 1 | kind, of [#WHOLE] and [#OFFER] |
/// | 2 | 1 | flags |
/// | 3 | 1 | credits: frames more that the receiver of this one may send |
/// | 4 | 4 | number of an offer, of [#OFFER] and [#TAKEN] |
/// | 8 | 8 | tag; of a call and what belongs to it, the call's number and its time limit in ms |
/// | 8 | 8 | of an active message: the number of its handler, and the bytes of its header |
/// | 16 | | [#WHOLE]: the message |
/// | 16 | 8 | [#OFFER]: bytes of the message |
/// | 24 | 8 | [#OFFER]: address |
/// | 32 | 4 | [#OFFER]: key; with several rails, one for each |
/// | 36 | | [#OFFER] of an active message: its header; of a whole one it is before the data |
final class Frame {
    /// A frame with nothing but credits and flags.
    static final int CREDIT = 1;
    /// A message, whole.
    static final int WHOLE = 2;
    /// A message that its receiver is to READ.
    static final int OFFER = 3;
    /// A frame which confirms that an offer is read: the memory is its owner's again.
    static final int TAKEN = 4;

    /// Flag: the receiver of this frame may send one more [#CREDIT].
    static final int RESERVE = 1;
    /// Flag: messages that no receive waits for take much memory here. Offer what comes next.
    static final int CROWDED = 2;

    static final int HEADER_BYTES = 16;
    private static final int KEYS = 32;
    static final int CREDITS_MAX = 255;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Frame() {}

    /// Writes a header in two stores, because the device copies the frame by words. A processor hands a word on
    /// from one store at once, and from several stores only when all are in its cache.
    static void write(MemorySegment out, int type, int kind, int flags, int credits, int offer, long tag) {
        int first = type << 24 | kind << 16 | flags << 8 | (credits & CREDITS_MAX);
        out.set(LONG, 0, (long) first << Integer.SIZE | Integer.toUnsignedLong(offer));
        out.set(LONG, 8, tag);
    }

    /// Returns the length of an offer in bytes, without the header of an active message.
    static int offerBytes(int rails) {
        return KEYS + rails * Integer.BYTES;
    }

    /// @param at the memory by each rail; key 0 where it cannot be read by one
    static void writeOffer(MemorySegment out, long length, List<RemoteMemory> at) {
        out.set(LONG, 16, length);
        out.set(LONG, 24, at.getFirst().address());
        for (int i = 0; i < at.size(); i++) {
            out.set(INT, KEYS + (long) i * Integer.BYTES, at.get(i).rkey());
        }
    }

    static long copy(byte[] from, MemorySegment out, long at) {
        return from.length == 0 ? at : copy(MemorySegment.ofArray(from), out, at);
    }

    /// Copies all of it; the offset behind it.
    static long copy(MemorySegment from, MemorySegment out, long at) {
        MemorySegment.copy(from, JAVA_BYTE, 0, out, JAVA_BYTE, at, from.byteSize());
        return at + from.byteSize();
    }

    static int type(MemorySegment frame) {
        return frame.get(JAVA_BYTE, 0);
    }

    static int kind(MemorySegment frame) {
        return frame.get(JAVA_BYTE, 1);
    }

    static int flags(MemorySegment frame) {
        return frame.get(JAVA_BYTE, 2);
    }

    static int credits(MemorySegment frame) {
        return frame.get(JAVA_BYTE, 3) & 0xFF;
    }

    static int offer(MemorySegment frame) {
        return frame.get(INT, 4);
    }

    static long tag(MemorySegment frame) {
        return frame.get(LONG, 8);
    }

    static long length(MemorySegment frame) {
        return frame.get(LONG, 16);
    }

    /// Returns the memory of an offer, by each rail.
    static List<RemoteMemory> memory(MemorySegment frame, int rails) {
        var memory = new RemoteMemory[rails];
        for (int i = 0; i < rails; i++) {
            int key = frame.get(INT, KEYS + (long) i * Integer.BYTES);
            memory[i] = new RemoteMemory(frame.get(LONG, 24), key, length(frame));
        }
        return List.of(memory);
    }
}
