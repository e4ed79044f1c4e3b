package verbena.spark.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.WritableByteChannelWrapper;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;
import org.junit.jupiter.api.Test;
import verbena.spark.device.Door;
import verbena.spark.device.ReadCounters;
import verbena.spark.device.Settings;
import verbena.verbs.cm.Secret;

class MemoryMapOutputWriterTest {
    private static final int PARTITIONS = 9;

    /// As Spark's writer of files, but for the file.
    private static final class Disk implements ShuffleMapOutputWriter {
        private final ByteArrayOutputStream[] partitions = new ByteArrayOutputStream[PARTITIONS];
        private int last = -1;

        @Override
        public ShufflePartitionWriter getPartitionWriter(int partition) {
            assertThat(partition).as("partitions come in order").isGreaterThan(last);
            last = partition;
            var bytes = new ByteArrayOutputStream();
            partitions[partition] = bytes;
            return new ShufflePartitionWriter() {
                @Override
                public OutputStream openStream() {
                    return bytes;
                }

                @Override
                public Optional<WritableByteChannelWrapper> openChannelWrapper() {
                    throw new AssertionError("what goes by the channel passes what is in the buffer of the stream");
                }

                @Override
                public long getNumBytesWritten() {
                    return bytes.size();
                }
            };
        }

        @Override
        public MapOutputCommitMessage commitAllPartitions(long[] checksums) {
            return MapOutputCommitMessage.of(Arrays.stream(partitions)
                    .mapToLong(bytes -> bytes == null ? 0 : bytes.size())
                    .toArray());
        }

        @Override
        public void abort(Throwable error) {}
    }

    /// As Spark's writer of files on a full disk: it cannot write what its buffer holds, and says so once.
    private static final class FullDisk implements ShuffleMapOutputWriter {
        private boolean hasFailed;
        private boolean hasFile = true;

        @Override
        public ShufflePartitionWriter getPartitionWriter(int partition) throws IOException {
            throw new IOException("No space left on device");
        }

        @Override
        public MapOutputCommitMessage commitAllPartitions(long[] checksums) throws IOException {
            throw new IOException("No space left on device");
        }

        @Override
        public void abort(Throwable error) throws IOException {
            if (!hasFailed) {
                hasFailed = true;
                throw new IOException("No space left on device");
            }
            hasFile = false;
        }
    }

    @Test
    void anOutputForWhichTheDiskHasNoRoomLeavesNoFile() {
        var disk = new FullDisk();
        var why = new IOException("the first failure");
        MemoryMapOutputWriter.abort(disk, why);
        assertThat(disk.hasFile).isFalse();
        assertThat(why.getSuppressed()).hasSize(1);
    }

    /// For limits from nothing to more than enough: the output is whole, in memory or in the file, and nothing
    /// leaks.
    @Test
    void anOutputIsWholeWhereverMemoryEnds() throws Exception {
        int inMemory = 0;
        int onDisk = 0;
        Secret secret = Secret.of(new byte[16]);
        for (int chunks = 0; chunks < 14; chunks++) {
            Settings settings =
                    new Settings(List.of("shm"), (long) chunks * MapOutputs.CHUNK_BYTES + 5_000, 64, true, false);
            List<Door> doors = Door.open(settings, InetAddress.getLoopbackAddress(), secret);
            try (MapOutputs outputs = new MapOutputs(doors, settings)) {
                var disk = new Disk();
                var writer = new MemoryMapOutputWriter(outputs, 1, 2, PARTITIONS, () -> disk, new ReadCounters());
                byte[][] expected = write(writer, chunks);
                long[] lengths = writer.commitAllPartitions(new long[0]).getPartitionLengths();
                assertThat(lengths)
                        .containsExactly(Arrays.stream(expected)
                                .mapToLong(all -> all.length)
                                .toArray());
                MapOutput output = outputs.find(1, 2);
                if (output == null) {
                    onDisk++;
                } else {
                    inMemory++;
                }
                for (int i = 0; i < PARTITIONS; i++) {
                    byte[] got = new byte[0];
                    if (output != null) {
                        got = output.block(i, i + 1).createInputStream().readAllBytes();
                    } else if (disk.partitions[i] != null) {
                        got = disk.partitions[i].toByteArray();
                    }
                    assertThat(got).as("partition %d", i).isEqualTo(expected[i]);
                }
                outputs.remove(1, 2);
                assertThat(outputs.usedBytes()).isZero();
            } finally {
                doors.forEach(Door::close);
            }
        }
        assertThat(List.of(inMemory, onDisk)).doesNotContain(0);
    }

    private static byte[][] write(ShuffleMapOutputWriter writer, int seed) throws Exception {
        var random = new SplittableRandom(seed);
        byte[][] all = new byte[PARTITIONS][];
        for (int i = 0; i < PARTITIONS; i++) {
            byte[] bytes = new byte[i % 3 == 1 ? 0 : random.nextInt(300_000)];
            random.nextBytes(bytes);
            all[i] = bytes;
            ShufflePartitionWriter partition = writer.getPartitionWriter(i);
            assertThat(partition.openChannelWrapper()).isEmpty();
            if (bytes.length > 0) {
                try (OutputStream out = Objects.requireNonNull(partition.openStream())) {
                    for (int at = 0; at < bytes.length; ) {
                        int part = Math.min(bytes.length - at, 1 + random.nextInt(70_000));
                        out.write(bytes, at, part);
                        at += part;
                    }
                }
                assertThat(partition.getNumBytesWritten()).isEqualTo(bytes.length);
            }
        }
        return all;
    }
}
