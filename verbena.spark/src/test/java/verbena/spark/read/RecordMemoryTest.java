package verbena.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.memory.UnifiedMemoryManager;
import org.junit.jupiter.api.Test;

class RecordMemoryTest {
    private static final int MIB = 1 << 20;

    private final RecordMemory memory = new RecordMemory(manager(512));

    private static TaskMemoryManager manager(int mebibytes) {
        SparkConf conf = new SparkConf(false)
                .set("spark.testing.memory", Long.toString((long) mebibytes * MIB))
                .set("spark.testing.reservedMemory", "0");
        return new TaskMemoryManager(UnifiedMemoryManager.apply(conf, 1), 0);
    }

    private static void read(RecordMemory memory, int bytes) throws IOException {
        InputStream records = memory.counted(new ByteArrayInputStream(new byte[bytes]));
        assertThat(records.read()).isZero();
        assertThat(records.readNBytes(bytes)).hasSize(bytes - 1);
        assertThat(records.read()).isNegative();
    }

    @Test
    void sparkIsAskedForMoreThanTheBytes() throws IOException {
        assertThat(memory.fits()).isTrue();
        assertThat(memory.getUsed()).as("for no records").isZero();
        read(memory, MIB);
        assertThat(memory.fits()).isTrue();
        assertThat(memory.getUsed()).isEqualTo(16 * MIB);
        read(memory, 1);
        assertThat(memory.fits()).isTrue();
        assertThat(memory.getUsed()).as("a step more").isEqualTo(20 * MIB);
    }

    @Test
    void moreThanSoManyBytesAreNotFewAndGiveTheMemoryBack() throws IOException {
        read(memory, (int) RecordMemory.BYTES_MAX);
        assertThat(memory.fits()).isTrue();
        read(memory, 1);
        assertThat(memory.fits()).isFalse();
        assertThat(memory.getUsed()).isZero();
    }

    @Test
    void whatSparkDoesNotGrantDoesNotFit() throws IOException {
        var small = new RecordMemory(manager(16));
        read(small, MIB);
        assertThat(small.fits()).isFalse();
        assertThat(small.getUsed()).isZero();
        assertThat(small.getMode()).isEqualTo(MemoryMode.ON_HEAP);
        assertThat(small.spill(MIB, small)).as("records stay where they are").isZero();
    }
}
