package verbena.spark.map;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/// Bytes of a map output whose length is not known yet, in chunks. One thread uses it.
final class StagedOutput implements AutoCloseable {
    private final MapOutputs memory;
    private final List<MemorySegment> chunks = new ArrayList<>();
    private long bytes;

    StagedOutput(MapOutputs memory) {
        this.memory = memory;
    }

    /// Appends; false when there is no memory for all of it, and then nothing is appended.
    boolean append(byte[] from, int offset, int length) {
        while ((long) chunks.size() * MapOutputs.CHUNK_BYTES < bytes + length) {
            MemorySegment chunk = memory.takeChunk();
            if (chunk == null) {
                return false;
            }
            chunks.add(chunk);
        }
        for (int done = 0; done < length; ) {
            int at = (int) (bytes % MapOutputs.CHUNK_BYTES);
            int part = Math.min(length - done, MapOutputs.CHUNK_BYTES - at);
            MemorySegment chunk = chunks.get((int) (bytes / MapOutputs.CHUNK_BYTES));
            MemorySegment.copy(from, offset + done, chunk, ValueLayout.JAVA_BYTE, at, part);
            done += part;
            bytes += part;
        }
        return true;
    }

    long size() {
        return bytes;
    }

    void copyTo(MemorySegment to) {
        copyTo(to, 0);
    }

    /// Copies as many bytes as `to` has, from `offset`.
    void copyTo(MemorySegment to, long offset) {
        for (long done = 0; done < to.byteSize(); ) {
            long at = (offset + done) % MapOutputs.CHUNK_BYTES;
            long part = Math.min(to.byteSize() - done, MapOutputs.CHUNK_BYTES - at);
            MemorySegment.copy(chunks.get((int) ((offset + done) / MapOutputs.CHUNK_BYTES)), at, to, done, part);
            done += part;
        }
    }

    void copyTo(OutputStream to, long offset, long length) throws IOException {
        byte[] copy = new byte[(int) Math.min(length, MapOutputs.CHUNK_BYTES)];
        for (long done = 0; done < length; ) {
            int at = (int) ((offset + done) % MapOutputs.CHUNK_BYTES);
            int part = (int) Math.min(length - done, Math.min(copy.length, MapOutputs.CHUNK_BYTES - at));
            MemorySegment chunk = chunks.get((int) ((offset + done) / MapOutputs.CHUNK_BYTES));
            MemorySegment.copy(chunk, ValueLayout.JAVA_BYTE, at, copy, 0, part);
            to.write(copy, 0, part);
            done += part;
        }
    }

    /// Gives the memory back. Idempotent.
    @Override
    public void close() {
        memory.giveBack(chunks);
        chunks.clear();
        bytes = 0;
    }
}
