package verbena.transport.iwarp;

import java.lang.foreign.MemorySegment;

/// The next output of a stream: pieces in their order, each in the output's own memory or in a region. The caller
/// writes the pieces out before anything else happens, and copies what the stream does not take.
///
/// A piece in a region names all of the region's memory and where in it the piece lies. It is valid as long as the
/// memory's arena is open, which no class here can hold open.
public final class StreamOutput {
    /// The output's own memory; its first [#used] bytes are taken.
    final StreamBuffer own;

    private int used;
    private boolean full;

    private final MemorySegment[] segments;
    private final long[] offsets;
    private final int[] lengths;
    private int count;
    private long total;
    /// The last piece lies in the output's own memory.
    private boolean lastIsOwn;

    /// @param own where headers, and payload that is copied, go
    /// @param pieces that the operating system takes at once; at least 8
    public StreamOutput(StreamBuffer own, int pieces) {
        if (pieces < 8) {
            throw new IllegalArgumentException("pieces: " + pieces + " is fewer than 8");
        }
        this.own = own;
        segments = new MemorySegment[pieces];
        offsets = new long[pieces];
        lengths = new int[pieces];
    }

    /// Empties it.
    public void clear() {
        used = 0;
        full = false;
        count = 0;
        total = 0;
        lastIsOwn = false;
    }

    /// Pieces.
    public int count() {
        return count;
    }

    /// Returns the number of bytes of all pieces.
    public long total() {
        return total;
    }

    /// Returns whether the last poll was refused for want of room: write out, and poll again.
    public boolean isFull() {
        return full;
    }

    /// Returns the memory that piece `index` lies in: the output's own, or all of a region's.
    public MemorySegment segment(int index) {
        return segments[index];
    }

    /// Returns the offset in that memory at which it begins.
    public long offset(int index) {
        return offsets[index];
    }

    /// Returns its length, in bytes.
    public int length(int index) {
        return lengths[index];
    }

    // ---- the protocol's side

    /// Returns the offset of the next bytes in the output's own memory.
    int at() {
        return used;
    }

    /// Returns whether there is room for so many bytes and pieces more; if not, the output is full.
    boolean claim(int bytes, int pieces) {
        boolean fits = bytes <= own.size() - used && pieces <= segments.length - count;
        full |= !fits;
        return fits;
    }

    /// Adds the next `bytes` of the output's own memory, which have been written.
    void add(int bytes) {
        if (lastIsOwn) {
            lengths[count - 1] += bytes; // what is written in the output's own memory follows itself
        } else {
            put(own.segment, used, bytes);
            lastIsOwn = true;
        }
        used += bytes;
        total += bytes;
        assert used <= own.size() : "the caller has claimed the room";
    }

    /// Adds bytes of a region.
    void addMemory(MemorySegment memory, long offset, int bytes) {
        put(memory, offset, bytes);
        lastIsOwn = false;
        total += bytes;
    }

    private void put(MemorySegment segment, long offset, int bytes) {
        assert count < segments.length : "the caller has claimed the room";
        segments[count] = segment;
        offsets[count] = offset;
        lengths[count] = bytes;
        count++;
    }
}
