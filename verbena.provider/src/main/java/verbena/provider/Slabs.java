package verbena.provider;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import verbena.verbs.ResourceLimitException;

/// Memory for regions that own theirs. Small pieces, by sizes that are powers of two, come from slabs, which live
/// as long as anything in them is in use. A large piece has an arena of its own, closed with it. So many small
/// regions cost neither an arena nor a page each: closing a shared arena takes some 20 to 60 microseconds.
public final class Slabs {
    /// Pieces up to this many bytes share slabs.
    private static final long SMALL_BYTES_MAX = 64 << 10;

    private static final long SLAB_BYTES = 1 << 20;
    private static final int SMALLEST_SHIFT = 6;
    /// The bytes at which memory of a source begins.
    public static final long PAGE = 4_096;

    private final ArrayDeque<MemorySegment>[] free = newFreeLists();
    private final List<Arena> lingering = new ArrayList<>();
    private MemorySegment slab = MemorySegment.NULL;
    private long used;

    private final Source source;

    /// The source of the memory that is given out in pieces.
    public interface Source {
        /// Allocates memory that is zeroed and begins at a page. It is freed when the arena closes.
        ///
        /// @throws OutOfMemoryError when the process cannot have so much
        MemorySegment allocate(Arena arena, long bytes);
    }

    /// Creates the slabs of one device, with memory of the process.
    public Slabs() {
        this((arena, bytes) -> arena.allocate(bytes, PAGE));
    }

    /// Creates the slabs of one device.
    public Slabs(Source source) {
        this.source = source;
    }

    /// A piece of memory, zeroed, and how to give it back.
    public record Piece(MemorySegment segment, Runnable free) {}

    /// Allocates a piece of this many bytes.
    ///
    /// @throws IllegalArgumentException when it is to have none
    /// @throws ResourceLimitException when the process cannot have so much
    public Piece allocate(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("allocate: bytes: at least 1, got " + bytes);
        }
        try {
            return piece(bytes);
        } catch (OutOfMemoryError e) {
            throw new ResourceLimitException(
                    "allocate", "native memory", bytes, "so much is not to be had at once (" + e.getMessage() + ")");
        }
    }

    private Piece piece(long bytes) {
        if (bytes > SMALL_BYTES_MAX) {
            Arena arena = Arena.ofShared();
            return new Piece(source.allocate(arena, bytes), () -> close(arena));
        }
        int shift = Math.max(SMALLEST_SHIFT, 64 - Long.numberOfLeadingZeros(Math.max(1, bytes - 1)));
        MemorySegment block = take(shift);
        block.fill((byte) 0);
        return new Piece(block.asSlice(0, bytes), () -> giveBack(shift, block));
    }

    /// Closes an arena, now or at a later call: a shared arena cannot be closed while a thread uses its memory in a
    /// system call.
    private synchronized void close(Arena arena) {
        lingering.add(arena);
        lingering.removeIf(Slabs::isClosed);
    }

    private static boolean isClosed(Arena arena) {
        try {
            arena.close();
            return true;
        } catch (IllegalStateException _) {
            return false;
        }
    }

    private synchronized MemorySegment take(int shift) {
        MemorySegment block = free[shift - SMALLEST_SHIFT].poll();
        if (block != null) {
            return block;
        }
        long size = 1L << shift;
        long from = (used + size - 1) & -size;
        if (from + size > slab.byteSize()) {
            slab = source.allocate(Arena.ofAuto(), SLAB_BYTES);
            from = 0;
        }
        used = from + size;
        return slab.asSlice(from, size);
    }

    private synchronized void giveBack(int shift, MemorySegment block) {
        free[shift - SMALLEST_SHIFT].add(block);
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    private static ArrayDeque<MemorySegment>[] newFreeLists() {
        var lists = new ArrayDeque[17 - SMALLEST_SHIFT];
        for (int i = 0; i < lists.length; i++) {
            lists[i] = new ArrayDeque<MemorySegment>();
        }
        return lists;
    }
}
