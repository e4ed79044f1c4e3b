package verbena.stream.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import verbena.verbs.MemoryRegion;

/// The registered memory that the peer of a [ByteStream] writes to: a ring of two halves. A half that has been read
/// is shown to the peer again.
final class ReceiveRing {
    private final MemoryRegion buffer;
    private final MemorySegment memory;
    private final ByteBuffer view;
    private final int halfBytes;
    private int at;
    private int available;
    /// The number of bytes that the peer may still write.
    private int shown;

    /// Read, and not shown again; and which half is next.
    private int unshown;

    private int half = 1;

    ReceiveRing(MemoryRegion buffer, int halfBytes) {
        this.buffer = buffer;
        this.memory = buffer.segment();
        this.view = memory.asByteBuffer();
        this.halfBytes = halfBytes;
        this.shown = halfBytes;
        this.unshown = halfBytes;
    }

    MemoryRegion buffer() {
        return buffer;
    }

    /// Counts the bytes that the peer has written. Returns false when it had not so much room.
    boolean arrive(int bytes) {
        if (bytes > shown) {
            return false;
        }
        shown -= bytes;
        available += bytes;
        return true;
    }

    int available() {
        return available;
    }

    /// Copies up to `length` of the bytes that wait; returns their number.
    ///
    /// @param over bytes that wait, to pass over
    int copy(int over, MemorySegment into, long offset, long length) {
        int count = (int) Math.min(length, available - over);
        int from = (at + over) % (2 * halfBytes);
        int first = Math.min(count, 2 * halfBytes - from);
        MemorySegment.copy(memory, from, into, offset, first);
        MemorySegment.copy(memory, 0, into, offset + first, count - first);
        return count;
    }

    /// Copies up to `length` of the bytes that wait into a buffer, whose position does not count and stays.
    int copy(ByteBuffer into, int offset, int length) {
        int count = Math.min(length, available);
        int first = Math.min(count, 2 * halfBytes - at);
        into.put(offset, view, at, first);
        into.put(offset + first, view, 0, count - first);
        return count;
    }

    /// Frees the place of bytes that were read.
    void free(int count) {
        at = (at + count) % (2 * halfBytes);
        available -= count;
        unshown += count;
    }

    /// Returns whether a half of the ring is free for the peer to write.
    boolean hasHalf() {
        return unshown >= halfBytes;
    }

    /// Shows it: writes the entry for the peer's list.
    ///
    /// @param at where in `into` the entry is
    void show(MemorySegment into, long at, ByteOrder order) {
        boolean isOurs = order == ByteOrder.nativeOrder();
        long address = buffer.address() + (long) half * halfBytes;
        into.set(JAVA_LONG_UNALIGNED, at, isOurs ? address : Long.reverseBytes(address));
        into.set(JAVA_INT_UNALIGNED, at + 8, isOurs ? buffer.rkey() : Integer.reverseBytes(buffer.rkey()));
        into.set(JAVA_INT_UNALIGNED, at + 12, isOurs ? halfBytes : Integer.reverseBytes(halfBytes));
        half = 1 - half;
        unshown -= halfBytes;
        shown += halfBytes;
    }
}
