package verbena.stream.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import verbena.verbs.MemoryRegion;

/// The peer's receive buffers, which a [ByteStream] writes to: two at most, in turn. The first comes with the peer's
/// greeting. The peer writes each later buffer into a list of ours, and the next only when that has been used up.
final class PeerBuffers {
    private final MemorySegment list;
    private final long[] address = new long[StreamMessage.TARGETS];
    private final int[] key = new int[StreamMessage.TARGETS];
    private final long[] room = new long[StreamMessage.TARGETS];
    private int current;
    private int next = 1;

    /// @param at where in the region the list is
    PeerBuffers(MemoryRegion region, long at) {
        this.list = region.segment().asSlice(at, (long) StreamMessage.TARGETS * StreamMessage.TARGET_BYTES);
    }

    void begin(StreamMessage.Hello hello) {
        address[0] = hello.buffer();
        key[0] = hello.bufferKey();
        room[0] = Integer.toUnsignedLong(hello.bufferBytes());
    }

    /// Takes the entry that the peer has written, if there is one.
    void take() {
        long at = (long) next * StreamMessage.TARGET_BYTES;
        int length = list.get(JAVA_INT_UNALIGNED, at + 12);
        if (length != 0 && room[next] == 0) {
            address[next] = list.get(JAVA_LONG_UNALIGNED, at);
            key[next] = list.get(JAVA_INT_UNALIGNED, at + 8);
            room[next] = Integer.toUnsignedLong(length);
            list.set(JAVA_INT_UNALIGNED, at + 12, 0);
            next = 1 - next;
        }
    }

    /// Returns the address that the next data go to.
    long address() {
        return address[current];
    }

    int key() {
        return key[current];
    }

    /// Returns the number of bytes that can be written there.
    long room() {
        return room[current];
    }

    /// Reduces the room by the bytes that were written there.
    void use(int bytes) {
        assert bytes <= room[current] : bytes + " of " + room[current];
        address[current] += bytes;
        room[current] -= bytes;
        if (room[current] == 0) {
            current = 1 - current;
        }
    }
}
