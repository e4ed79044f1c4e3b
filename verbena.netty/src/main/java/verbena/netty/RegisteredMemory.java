package verbena.netty;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;

/// Memory that is registered at a protection domain, in pieces whose sizes are powers of two. A piece that
/// comes back is kept for others of its size. Safe for use by any thread.
final class RegisteredMemory implements AutoCloseable {
    static final int CHUNK_BYTES = 4 << 20;
    private static final int PIECE_BYTES_MIN = 256;
    private static final int SIZES = Integer.numberOfTrailingZeros(CHUNK_BYTES) + 1;

    /// A registered region, and how buffers see it.
    private record Chunk(MemoryRegion region, long start, ByteBuffer view) {}

    /// The addresses of pieces of one size that are free.
    private static final class Free {
        private long[] addresses = new long[16];
        private int count;

        void push(long address) {
            if (count == addresses.length) {
                addresses = Arrays.copyOf(addresses, 2 * count);
            }
            addresses[count++] = address;
        }
    }

    private final ProtectionDomain domain;
    private final long bytesMax;
    /// The chunks in the order of their addresses. Each write, under the lock, makes a new array.
    private volatile Chunk[] chunks = {};

    // Guarded by this.
    private final Free[] free = new Free[SIZES];
    private @Nullable Chunk last;
    /// The bytes of the last chunk that have been cut into pieces.
    private int cut;
    private boolean isClosed;

    RegisteredMemory(ProtectionDomain domain, long bytesMax) {
        this.domain = domain;
        this.bytesMax = bytesMax;
        Arrays.setAll(free, size -> new Free());
    }

    ProtectionDomain domain() {
        return domain;
    }

    long bytes() {
        return (long) chunks.length * CHUNK_BYTES;
    }

    // ---- pieces

    private static int size(int bytes) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(bytes, PIECE_BYTES_MIN) - 1);
    }

    /// Returns a piece with this number of bytes; ordinary direct memory when it is too long, or the limit is
    /// reached.
    ByteBuffer take(int bytes) {
        if (bytes > CHUNK_BYTES) {
            return ByteBuffer.allocateDirect(bytes);
        }
        int size = size(bytes);
        long address;
        synchronized (this) {
            if (isClosed) {
                throw new InvalidStateException("the allocator is closed");
            }
            Free pieces = free[size];
            if (pieces.count == 0 && !cut(size)) {
                return ByteBuffer.allocateDirect(bytes);
            }
            address = pieces.addresses[--pieces.count];
        }
        Chunk chunk = Objects.requireNonNull(find(address), "a free piece is of a chunk");
        return chunk.view.slice((int) (address - chunk.start), bytes);
    }

    /// Cuts a piece off the last chunk, or off another; false when there may be none.
    private boolean cut(int size) {
        int bytes = 1 << size;
        Chunk from = last;
        if (from == null || CHUNK_BYTES - cut < bytes) {
            if (bytes() + CHUNK_BYTES > bytesMax) {
                return false;
            }
            if (from != null) {
                cutUp(from);
            }
            from = add();
            last = from;
            cut = 0;
        }
        free[size].push(from.start + cut);
        cut += bytes;
        return true;
    }

    /// Makes the rest of a chunk pieces. Each is as long as the lowest bit of its offset, so that they end with
    /// it.
    private void cutUp(Chunk rest) {
        while (cut < CHUNK_BYTES) {
            int bytes = Integer.lowestOneBit(cut);
            free[size(bytes)].push(rest.start + cut);
            cut += bytes;
        }
    }

    private Chunk add() {
        MemoryRegion region = domain.allocate(CHUNK_BYTES, Set.of(Access.LOCAL_WRITE));
        var made =
                new Chunk(region, region.segment().address(), region.segment().asByteBuffer());
        Chunk[] all = Arrays.copyOf(chunks, chunks.length + 1);
        all[all.length - 1] = made;
        Arrays.sort(all, (one, other) -> Long.compare(one.start, other.start));
        chunks = all;
        return made;
    }

    /// Takes a piece back.
    void give(ByteBuffer piece) {
        long address = address(piece) - piece.position();
        if (find(address) != null) { // else the garbage collector has it
            synchronized (this) {
                free[size(piece.capacity())].push(address);
            }
        }
    }

    // ---- where a buffer lies

    /// Returns the address of the first byte that the buffer has left.
    static long address(ByteBuffer of) {
        return MemorySegment.ofBuffer(of).address();
    }

    /// Returns the region that the rest of a buffer lies in; null when it lies elsewhere.
    @Nullable
    MemoryRegion region(ByteBuffer of) {
        Chunk found = of.isDirect() ? find(address(of)) : null;
        return found == null ? null : found.region;
    }

    private @Nullable Chunk find(long address) {
        Chunk[] all = chunks;
        int low = 0;
        int high = all.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            long offset = address - all[middle].start;
            if (offset >= 0 && offset < CHUNK_BYTES) {
                return all[middle];
            }
            if (offset < 0) {
                high = middle - 1;
            } else {
                low = middle + 1;
            }
        }
        return null;
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        for (Chunk chunk : chunks) {
            chunk.region.close();
        }
    }
}
