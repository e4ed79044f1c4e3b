package verbena.spark.map;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Bytes of many partitions in the order in which they come: in memory, and behind that in a file when memory is
/// full. So a partition of some bytes takes no more room than these. One thread uses it.
public final class PartitionLog implements AutoCloseable {
    /// The places of a partition's bytes: begin and end of one piece after the other.
    private static final class Pieces {
        private long[] bounds = new long[2];
        private int count;
        private long bytes;

        private void add(long begin, int length) {
            if (count > 0 && bounds[count - 1] == begin) {
                bounds[count - 1] += length;
            } else {
                if (count == bounds.length) {
                    bounds = Arrays.copyOf(bounds, 2 * count);
                }
                bounds[count++] = begin;
                bounds[count++] = begin + length;
            }
            bytes += length;
        }
    }

    private final StagedOutput staged;
    private final Supplier<File> spill;
    private final Pieces[] partitions;
    private long end;
    private boolean closed;

    private @Nullable File file;
    /// The file for bytes that memory had no room for.
    private @Nullable RandomAccessFile rest;

    /// @param spill makes the file, when there is need
    public PartitionLog(MapOutputs memory, int partitions, Supplier<File> spill) {
        this.staged = new StagedOutput(memory);
        this.spill = spill;
        this.partitions = new Pieces[partitions];
        Arrays.setAll(this.partitions, i -> new Pieces());
    }

    /// Appends to a partition. Nothing is kept any more after [#close()].
    public void append(int partition, byte[] from, int offset, int length) throws IOException {
        if (closed) {
            return;
        }
        if (rest == null && !staged.append(from, offset, length)) {
            file = spill.get();
            rest = new RandomAccessFile(file, "rw");
        }
        if (rest != null) {
            rest.write(from, offset, length);
        }
        partitions[partition].add(end, length);
        end += length;
    }

    public boolean isInMemory() {
        return rest == null;
    }

    /// Returns the bytes of each partition.
    public long[] lengths() {
        return Arrays.stream(partitions).mapToLong(pieces -> pieces.bytes).toArray();
    }

    /// Copies all partitions, one behind the other. All are in memory.
    public void copyTo(MemorySegment to) {
        long at = 0;
        for (Pieces pieces : partitions) {
            for (int i = 0; i < pieces.count; i += 2) {
                long length = pieces.bounds[i + 1] - pieces.bounds[i];
                staged.copyTo(to.asSlice(at, length), pieces.bounds[i]);
                at += length;
            }
        }
    }

    /// Copies one partition.
    public void copyTo(int partition, OutputStream to) throws IOException {
        Pieces pieces = partitions[partition];
        for (int i = 0; i < pieces.count; i += 2) {
            long begin = pieces.bounds[i];
            long inMemory = Math.min(pieces.bounds[i + 1], staged.size());
            if (begin < inMemory) {
                staged.copyTo(to, begin, inMemory - begin);
                begin = inMemory;
            }
            copyRest(begin, pieces.bounds[i + 1], to);
        }
    }

    private void copyRest(long begin, long stop, OutputStream to) throws IOException {
        RandomAccessFile from = rest;
        if (begin == stop || from == null) {
            return;
        }
        from.seek(begin - staged.size());
        byte[] copy = new byte[(int) Math.min(stop - begin, MapOutputs.CHUNK_BYTES)];
        for (long at = begin; at < stop; ) {
            int part = (int) Math.min(stop - at, copy.length);
            from.readFully(copy, 0, part);
            to.write(copy, 0, part);
            at += part;
        }
    }

    /// Gives memory and file back. Idempotent.
    @Override
    public void close() throws IOException {
        closed = true;
        staged.close();
        if (rest != null) {
            rest.close();
        }
        if (file != null) {
            java.nio.file.Files.deleteIfExists(file.toPath());
        }
    }
}
