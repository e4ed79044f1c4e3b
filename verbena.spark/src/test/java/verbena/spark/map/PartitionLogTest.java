package verbena.spark.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.spark.device.Door;
import verbena.spark.device.Settings;
import verbena.verbs.cm.Secret;

class PartitionLogTest {
    private static final int PARTITIONS = 7;
    private static final int CHUNKS = 9;

    @TempDir
    private Path folder;

    /// For limits from nothing to more than enough: each partition is whole, whatever is in the file, and nothing
    /// leaks.
    @Test
    void partitionsAreWholeWhereverMemoryEnds() throws Exception {
        int inMemory = 0;
        Secret secret = Secret.of(new byte[16]);
        for (int chunks = 0; chunks < CHUNKS; chunks++) {
            Settings settings =
                    new Settings(List.of("shm"), (long) chunks * MapOutputs.CHUNK_BYTES + 5_000, 64, true, false);
            List<Door> doors = Door.open(settings, InetAddress.getLoopbackAddress(), secret);
            Path file = folder.resolve("rest" + chunks);
            try (MapOutputs outputs = new MapOutputs(doors, settings)) {
                var log = new PartitionLog(outputs, PARTITIONS, file::toFile);
                byte[][] expected = append(log, chunks);
                assertThat(log.lengths())
                        .containsExactly(Arrays.stream(expected)
                                .mapToLong(all -> all.length)
                                .toArray());
                for (int i = 0; i < PARTITIONS; i++) {
                    var got = new ByteArrayOutputStream();
                    log.copyTo(i, got);
                    assertThat(got.toByteArray()).as("partition %d", i).isEqualTo(expected[i]);
                }
                assertThat(Files.exists(file)).isEqualTo(!log.isInMemory());
                if (log.isInMemory()) {
                    inMemory++;
                    MemorySegment all = MemorySegment.ofArray(
                            new byte[(int) Arrays.stream(log.lengths()).sum()]);
                    log.copyTo(all);
                    long at = 0;
                    for (byte[] one : expected) {
                        assertThat(all.asSlice(at, one.length).toArray(ValueLayout.JAVA_BYTE))
                                .isEqualTo(one);
                        at += one.length;
                    }
                }
                log.close();
                log.append(0, new byte[1], 0, 1);
                assertThat(file).doesNotExist();
                assertThat(outputs.usedBytes()).isZero();
            } finally {
                doors.forEach(Door::close);
            }
        }
        assertThat(inMemory).isPositive().isLessThan(CHUNKS);
    }

    private static byte[][] append(PartitionLog log, int seed) throws Exception {
        var random = new SplittableRandom(seed);
        var all = new ByteArrayOutputStream[PARTITIONS];
        Arrays.setAll(all, i -> new ByteArrayOutputStream());
        for (int i = 0; i < 60; i++) {
            int partition = random.nextInt(1 + random.nextInt(PARTITIONS - 1)); // the last one has nothing
            byte[] bytes = new byte[random.nextInt(40_000)];
            random.nextBytes(bytes);
            int from = random.nextInt(1 + bytes.length);
            log.append(partition, bytes, from, bytes.length - from);
            all[partition].write(bytes, from, bytes.length - from);
        }
        return Arrays.stream(all).map(ByteArrayOutputStream::toByteArray).toArray(byte[][]::new);
    }
}
