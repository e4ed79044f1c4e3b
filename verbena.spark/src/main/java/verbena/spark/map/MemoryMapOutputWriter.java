package verbena.spark.map;

import java.io.IOException;
import java.io.OutputStream;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;
import org.jspecify.annotations.Nullable;
import verbena.spark.device.ReadCounters;

/// A writer of a map output into memory. When that is full, the output moves to Spark's own writer of files, at
/// whatever byte it is. One thread uses it.
public final class MemoryMapOutputWriter implements ShuffleMapOutputWriter {
    /// A maker of the writer of files.
    public interface Files {
        ShuffleMapOutputWriter open() throws IOException;
    }

    private static final int ABORTS = 2;

    private final MapOutputs outputs;
    private final int shuffleId;
    private final long mapId;
    private final long[] lengths;
    private final StagedOutput staged;
    private final Files files;
    private final ReadCounters counters;
    /// Null while the output is in memory.
    private @Nullable ShuffleMapOutputWriter onDisk;

    public MemoryMapOutputWriter(
            MapOutputs outputs, int shuffleId, long mapId, int partitions, Files files, ReadCounters counters) {
        this.outputs = outputs;
        this.shuffleId = shuffleId;
        this.mapId = mapId;
        this.lengths = new long[partitions];
        this.staged = new StagedOutput(outputs);
        this.files = files;
        this.counters = counters;
    }

    @Override
    public ShufflePartitionWriter getPartitionWriter(int partition) throws IOException {
        ShuffleMapOutputWriter disk = onDisk;
        return disk == null ? new Partition(partition) : new Streamed(disk.getPartitionWriter(partition));
    }

    /// A partition of a file, without the channel that it may offer. What was moved went by the file's stream,
    /// whose buffer would be written behind what goes by the channel.
    private record Streamed(ShufflePartitionWriter file) implements ShufflePartitionWriter {
        @Override
        public OutputStream openStream() throws IOException {
            return file.openStream();
        }

        @Override
        public long getNumBytesWritten() {
            return file.getNumBytesWritten();
        }
    }

    @Override
    public MapOutputCommitMessage commitAllPartitions(long[] checksums) throws IOException {
        if (onDisk == null && outputs.add(shuffleId, mapId, lengths, staged::copyTo)) {
            staged.close();
            counters.output(shuffleId, mapId, lengths, true);
            return MapOutputCommitMessage.of(lengths);
        }
        ShuffleMapOutputWriter disk = onDisk;
        if (disk == null) {
            disk = moveToDisk(lengths.length);
        }
        MapOutputCommitMessage committed = disk.commitAllPartitions(checksums);
        counters.output(shuffleId, mapId, lengths, false);
        return committed;
    }

    /// Gives back what an output that was not committed has of memory. Idempotent.
    public void forget() {
        staged.close();
    }

    @Override
    public void abort(Throwable error) {
        forget();
        ShuffleMapOutputWriter disk = onDisk;
        if (disk != null) {
            abort(disk, error);
        }
    }

    /// Makes a writer of files remove its file after a failure. On a full disk Spark's writer first fails to write what
    /// its buffer holds; it removes the file when it is called again.
    ///
    /// @param why the failure; failures of the removal are suppressed by it
    public static void abort(ShuffleMapOutputWriter files, Throwable why) {
        for (int i = 0; i < ABORTS; i++) {
            try {
                files.abort(why);
                return;
            } catch (IOException e) {
                if (e != why) {
                    why.addSuppressed(e);
                }
            }
        }
    }

    /// Moves the partitions before `end`, which are complete. What is staged of a later one stays.
    private ShuffleMapOutputWriter moveToDisk(int end) throws IOException {
        ShuffleMapOutputWriter disk = files.open();
        onDisk = disk;
        long offset = 0;
        for (int i = 0; i < end; i++) {
            if (lengths[i] > 0) {
                try (OutputStream out = disk.getPartitionWriter(i).openStream()) {
                    staged.copyTo(out, offset, lengths[i]);
                }
                offset += lengths[i];
            }
        }
        if (end == lengths.length) {
            staged.close();
        }
        return disk;
    }

    private final class Partition extends OutputStream implements ShufflePartitionWriter {
        private final int number;
        private final long begin;
        private long count;
        private @Nullable OutputStream file;
        private boolean closed;

        private Partition(int number) {
            this.number = number;
            this.begin = staged.size();
        }

        @Override
        public OutputStream openStream() {
            return this;
        }

        @Override
        public long getNumBytesWritten() {
            return count;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            if (closed) {
                throw new IOException("partition " + number + " of map output " + mapId + ": its stream is closed");
            }
            OutputStream out = file;
            if (out == null && !staged.append(from, offset, length)) {
                out = moveHere();
            }
            if (out != null) {
                out.write(from, offset, length);
            }
            count += length;
        }

        private OutputStream moveHere() throws IOException {
            OutputStream out = moveToDisk(number).getPartitionWriter(number).openStream();
            file = out;
            staged.copyTo(out, begin, count);
            staged.close();
            return out;
        }

        @Override
        public void close() throws IOException {
            if (closed) {
                return;
            }
            closed = true;
            lengths[number] = count;
            if (file != null) {
                file.close();
            }
        }
    }
}
