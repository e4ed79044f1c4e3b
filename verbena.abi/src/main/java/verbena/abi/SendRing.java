package verbena.abi;

import java.lang.foreign.MemorySegment;
import verbena.foreign.Memory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.SendBatch;

/// The registered memory that a [ByteStream] sends from: data are copied behind those that are on their way.
final class SendRing {
    /// With less room a send waits: many small messages cost more than one.
    private static final int ROOM_BYTES_MIN = 2_048;

    private final MemoryRegion buffer;
    private final int bytes;
    private int at;
    private int room;

    /// @param bytes of the buffer, from its beginning
    SendRing(MemoryRegion buffer, int bytes) {
        this.buffer = buffer;
        this.bytes = bytes;
        this.room = bytes;
    }

    int room() {
        return room;
    }

    boolean isWorthAMessage() {
        return room >= Math.min(ROOM_BYTES_MIN, bytes);
    }

    /// Copies into the part that is posted next, `before` bytes behind its beginning.
    void copy(long from, int length, int before) {
        int to = (at + before) % bytes;
        int first = Math.min(length, bytes - to);
        MemorySegment.copy(Memory.ALL, from, buffer.segment(), to, first);
        MemorySegment.copy(Memory.ALL, from + first, buffer.segment(), 0, length - first);
    }

    /// Names what was copied in the request that was begun last.
    void addTo(SendBatch batch, int length) {
        int first = Math.min(length, bytes - at);
        batch.sge(buffer, at, first);
        if (first < length) {
            batch.sge(buffer, 0, length - first);
        }
    }

    /// What was copied is on its way.
    void leave(int length) {
        assert length <= room : length + " of " + room;
        room -= length;
        at = (at + length) % bytes;
    }

    /// It has arrived.
    void arrive(int length) {
        room += length;
        assert room <= bytes : room + " of " + bytes;
    }
}
