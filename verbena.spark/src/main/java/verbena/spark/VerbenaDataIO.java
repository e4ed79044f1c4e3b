package verbena.spark;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;
import org.apache.spark.util.TaskCompletionListener;
import verbena.spark.map.MemoryMapOutputWriter;
import verbena.verbs.Preview;

/// The destination of map outputs of Spark's writers: the memory of [VerbenaShuffleManager], or files when that is
/// full. The manager chooses it, and Spark makes it, calls it from any thread, and ends it.
///
/// @since 0.1
@Preview
public final class VerbenaDataIO implements ShuffleDataIO {
    private final LocalDiskShuffleDataIO files;

    public VerbenaDataIO(SparkConf conf) {
        this.files = new LocalDiskShuffleDataIO(conf);
    }

    @Override
    public ShuffleExecutorComponents executor() {
        return new Components(files.executor());
    }

    @Override
    public ShuffleDriverComponents driver() {
        return files.driver();
    }

    private record Components(ShuffleExecutorComponents files) implements ShuffleExecutorComponents {
        @Override
        public void initializeExecutor(String appId, String executor, Map<String, String> settings) {
            files.initializeExecutor(appId, executor, settings);
        }

        @Override
        public ShuffleMapOutputWriter createMapOutputWriter(int shuffleId, long mapTaskId, int partitions) {
            Executor executor = VerbenaShuffleManager.current().executor();
            var writer = new MemoryMapOutputWriter(
                    executor.outputs(),
                    shuffleId,
                    mapTaskId,
                    partitions,
                    () -> files.createMapOutputWriter(shuffleId, mapTaskId, partitions),
                    executor.counters());
            TaskContext task = TaskContext.get();
            if (task != null) { // some of Spark's writers do not abort when a task fails
                task.addTaskCompletionListener((TaskCompletionListener) ended -> writer.forget());
            }
            return writer;
        }

        @Override
        public Optional<SingleSpillShuffleMapOutputWriter> createSingleFileMapOutputWriter(int shuffleId, long mapId)
                throws IOException {
            Executor executor = VerbenaShuffleManager.current().executor();
            Optional<SingleSpillShuffleMapOutputWriter> moving =
                    files.createSingleFileMapOutputWriter(shuffleId, mapId);
            return Optional.of((spill, lengths, checksums) -> {
                boolean isInMemory = executor.outputs().add(shuffleId, mapId, lengths, data -> load(spill, data));
                if (isInMemory) {
                    Files.delete(spill.toPath());
                } else {
                    moving.orElseThrow().transferMapSpillFile(spill, lengths, checksums);
                }
                executor.counters().output(shuffleId, mapId, lengths, isInMemory);
            });
        }

        private static void load(File spill, MemorySegment data) throws IOException {
            if (data.byteSize() == 0) {
                return;
            }
            try (FileChannel channel = FileChannel.open(spill.toPath(), StandardOpenOption.READ)) {
                ByteBuffer into = data.asByteBuffer();
                while (into.hasRemaining()) {
                    if (channel.read(into) < 0) {
                        throw new IOException(
                                spill + ": " + data.byteSize() + " bytes expected, and it ends at " + into.position());
                    }
                }
            }
        }
    }
}
