package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import verbena.verbs.Access;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// Regions over 4 GiB, on mapped files with holes, so that no disk space or memory of that size is needed.
class BigMemoryTest {
    private static final long GIB = 1L << 30;

    @TempDir
    private Path folder;

    private MemorySegment hole(String name, long bytes, Arena arena) throws IOException {
        try (var file = FileChannel.open(
                folder.resolve(name),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.SPARSE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
        }
    }

    @Test
    void aWriteAndAReadReachBeyondFourGibibytesOfAMappedFile() throws Exception {
        transfer(6 * GIB, 5 * GIB + 4_093, 10_001);
    }

    @Test
    @EnabledIfSystemProperty(named = "verbena.deep", matches = "true", disabledReason = "deep: moves 4 GiB")
    void oneMessageHasTwoGibibytes() throws Exception {
        transfer(6 * GIB, 3 * GIB, Integer.MAX_VALUE);
    }

    private void transfer(long regionBytes, long offset, int bytes) throws Exception {
        try (Arena arena = Arena.ofShared();
                var context = Device.named("rocev2").open();
                var domain = context.allocateProtectionDomain();
                var cq = context.createCompletionQueue(16);
                var one = domain.createQueuePair(QueuePairOptions.rc(cq));
                var other = domain.createQueuePair(QueuePairOptions.rc(cq));
                MemoryRegion from = domain.register(hole("from", regionBytes, arena), Access.remoteAll());
                MemoryRegion to = domain.register(hole("to", regionBytes, arena), Access.remoteAll())) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            for (int i = 0; i < 4_096; i++) {
                from.segment().set(ValueLayout.JAVA_BYTE, offset + i, (byte) (i * 7));
                from.segment().set(ValueLayout.JAVA_BYTE, offset + bytes - 1 - i, (byte) (i * 3));
            }
            var wc = new WorkCompletion();
            one.postWrite(1, from.slice(offset, bytes), to.remote().slice(offset, bytes));
            assertThat(cq.await(wc, Duration.ofMinutes(2))).isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();
            assertThat(from.segment()
                            .asSlice(offset, bytes)
                            .mismatch(to.segment().asSlice(offset, bytes)))
                    .isEqualTo(-1);

            from.segment().asSlice(offset, 4_096).fill((byte) 0);
            one.postRead(2, to.remote().slice(offset, bytes), from.slice(offset, bytes));
            assertThat(cq.await(wc, Duration.ofMinutes(2))).isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();
            assertThat(from.segment()
                            .asSlice(offset, bytes)
                            .mismatch(to.segment().asSlice(offset, bytes)))
                    .isEqualTo(-1);
        }
    }
}
