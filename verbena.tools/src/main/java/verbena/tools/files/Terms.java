package verbena.tools.files;

import java.nio.ByteBuffer;

/// The terms that two ends agree on: the client proposes, the server may take less.
///
/// @param chunkBytes bytes of a slot and of all chunks of a file but its last; a multiple of the page
/// @param slots chunks under way
record Terms(int chunkBytes, int slots, Mode mode, Checksum checksum) {
    static final int PAGE = 4096;
    static final int CHUNK_MIN = PAGE;
    static final int CHUNK_MAX = 16 << 20;
    static final int SLOTS_MAX = 64;

    // What no end exceeds, whatever they agree on.

    /// The version of the protocol.
    static final int VERSION = 3;
    /// Entries that have no answer yet, and files that are on their way.
    static final int ENTRIES_MAX = 512;
    /// Messages with entries that have no answer yet.
    static final int ANNOUNCEMENTS_MAX = 32;
    /// Files that go in chunks at the same time: both ends have them open.
    static final int FILES_MAX = 32;
    /// Files in a slot.
    static final int PACK_MAX = 64;

    static final Terms DEFAULT = new Terms(1 << 20, 16, Mode.WRITE, Checksum.CRC32C);

    Terms {
        if (chunkBytes < CHUNK_MIN || chunkBytes > CHUNK_MAX || chunkBytes % PAGE != 0) {
            throw new IllegalArgumentException(
                    "chunkBytes: a multiple of " + PAGE + " up to " + CHUNK_MAX + ", got " + chunkBytes);
        }
        if (slots < 1 || slots > SLOTS_MAX) {
            throw new IllegalArgumentException("slots: 1 to " + SLOTS_MAX + ", got " + slots);
        }
    }

    Terms with(Mode mode) {
        return new Terms(chunkBytes, slots, mode, checksum);
    }

    /// Returns these terms with no more than so many bytes under way.
    Terms within(long bytes) {
        int chunk = (int) Math.min(chunkBytes, Math.max(PAGE, bytes / PAGE * PAGE));
        return new Terms(chunk, Math.clamp(bytes / chunk, 1, slots), mode, checksum);
    }

    /// Returns whether a file goes whole into a slot, alone or with others. Nothing of it is kept when it does not
    /// arrive.
    boolean isSmall(long size) {
        return size <= chunkBytes;
    }

    long windowBytes() {
        return (long) chunkBytes * slots;
    }

    /// Returns memory for a chunk, aligned as O_DIRECT needs it.
    ByteBuffer alignedChunk() {
        return ByteBuffer.allocateDirect(chunkBytes + PAGE).alignedSlice(PAGE);
    }

    /// Returns the number of chunks of a file.
    long chunks(long size) {
        return size / chunkBytes + (size % chunkBytes == 0 ? 0 : 1);
    }

    /// Returns the number of bytes of a chunk.
    int length(long size, long chunk) {
        return (int) Math.min(chunkBytes, size - chunk * chunkBytes);
    }
}
