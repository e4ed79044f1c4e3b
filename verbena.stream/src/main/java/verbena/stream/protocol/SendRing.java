package verbena.stream.protocol;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import verbena.verbs.MemoryRegion;
import verbena.verbs.SendBatch;

/// The registered memory that a [ByteStream] sends from: data are copied behind the data on their way.
public final class SendRing {
    /// The least room for a send. With less room it waits, because many small messages cost more than a large one.
    private static final int ROOM_BYTES_MIN = 2_048;

    private final MemoryRegion buffer;
    private final MemorySegment memory;
    private final ByteBuffer view;
    private final int bytes;
    private int at;
    private int room;
    /// Copied since the last message left.
    private int staged;

    /// @param bytes of the buffer, from its beginning
    SendRing(MemoryRegion buffer, int bytes) {
        this.buffer = buffer;
        this.memory = buffer.segment();
        this.view = memory.asByteBuffer();
        this.bytes = bytes;
        this.room = bytes;
    }

    int room() {
        return room;
    }

    boolean isWorthAMessage() {
        return room >= Math.min(ROOM_BYTES_MIN, bytes);
    }

    /// Makes the message that leaves next from bytes of a source. Without any when the source fails: its memory may
    /// be closed at this moment.
    void take(StreamSource from, long at, int length) {
        boolean isTaken = false;
        try {
            from.copy(at, length, this);
            isTaken = true;
        } finally {
            staged = isTaken ? staged : 0;
        }
    }

    /// Adds bytes to the message that leaves next.
    public void put(MemorySegment from, long offset, int length) {
        int to = stage(length);
        int first = Math.min(length, bytes - to);
        MemorySegment.copy(from, offset, memory, to, first);
        MemorySegment.copy(from, offset + first, memory, 0, length - first);
    }

    /// Adds bytes of a buffer, whose position does not count and stays.
    public void put(ByteBuffer from, int offset, int length) {
        int to = stage(length);
        int first = Math.min(length, bytes - to);
        view.put(to, from, offset, first);
        view.put(0, from, offset + first, length - first);
    }

    private int stage(int length) {
        assert staged + length <= room : staged + " and " + length + " of " + room;
        int to = (at + staged) % bytes;
        staged += length;
        return to;
    }

    /// Returns the number of bytes of the message that leaves next.
    int staged() {
        return staged;
    }

    /// Names them in the request that was begun last.
    void addTo(SendBatch batch) {
        int first = Math.min(staged, bytes - at);
        batch.sge(buffer, at, first);
        if (first < staged) {
            batch.sge(buffer, 0, staged - first);
        }
    }

    /// Notes that the bytes are on their way.
    void leave() {
        room -= staged;
        at = (at + staged) % bytes;
        staged = 0;
    }

    /// Frees the place of bytes that have arrived.
    void arrive(int length) {
        room += length;
        assert room <= bytes : room + " of " + bytes;
    }
}
