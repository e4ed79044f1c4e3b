package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.EndpointOptions;
import verbena.verbs.FlushTarget;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;

/// ATOMIC WRITE and FLUSH (IBTA A19) through the API.
class ExtensionsTest {
    private static final Set<Access> FLUSHED =
            EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.FLUSH_GLOBAL, Access.FLUSH_PERSISTENT);

    private final Pair pair = new Pair();
    private final Pair.End a = pair.a;
    private final Pair.End b = pair.b;
    private final QueuePair qa = a.domain.createQueuePair(
            QueuePairOptions.rc(a.cq).withExtensions(EnumSet.of(Capability.FLUSH, Capability.ATOMIC_WRITE)));
    private final QueuePair qb = b.domain.createQueuePair(QueuePairOptions.rc(b.cq));

    ExtensionsTest() {
        var options = EndpointOptions.defaults().withAccess(FLUSHED);
        qa.connect(qb.endpoint(), options);
        qb.connect(qa.endpoint(), options);
    }

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void anAtomicWriteSetsEightBytes() {
        try (SendBatch batch = qa.sendBatch()) {
            batch.atomicWrite(1, b.memory.address() + 16, b.memory.rkey(), 0x0102_0304_0506_0708L)
                    .signaled()
                    .submit();
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("1 SUCCESS");
        assertThat(b.memory.segment().get(ValueLayout.JAVA_LONG, 16)).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(b.memory.segment().get(ValueLayout.JAVA_LONG, 24)).isZero();
    }

    @Test
    void anAtomicWriteWhoseAnswerIsLostHappensOnce() {
        int[] packets = {0};
        b.wire.loses = _ -> packets[0]++ == 0;
        try (SendBatch batch = qa.sendBatch()) {
            batch.atomicWrite(1, b.memory.address(), b.memory.rkey(), 1)
                    .signaled()
                    .submit();
        }
        pair.settle();
        b.memory.segment().set(ValueLayout.JAVA_LONG, 0, 2); // a later write of the peer's
        pair.settleWithin(10_000_000_000L);
        assertThat(a.completions()).containsExactly("1 SUCCESS");
        assertThat(b.memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(2);
    }

    @Test
    void aFlushMakesAMappedFileHoldWhatWasWritten(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("persistent");
        try (var channel = FileChannel.open(
                        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                var arena = Arena.ofShared()) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 8_192, arena);
            MemoryRegion region = b.domain.register(mapped, FLUSHED);
            a.memory.segment().asSlice(0, 5_000).fill((byte) 9);
            try (SendBatch batch = qa.sendBatch()) {
                batch.write(1, region.address(), region.rkey()).sge(a.memory, 0, 5_000);
                batch.flush(
                                2,
                                region.address(),
                                region.rkey(),
                                5_000,
                                Set.of(FlushTarget.GLOBAL, FlushTarget.PERSISTENT))
                        .signaled();
                batch.flushRegion(3, region.rkey(), Set.of(FlushTarget.PERSISTENT))
                        .signaled();
                batch.submit();
            }
            pair.settle();
            assertThat(a.completions()).containsExactly("2 SUCCESS", "3 SUCCESS");
            assertThat(mapped.get(ValueLayout.JAVA_BYTE, 4_999)).isEqualTo((byte) 9);
            region.close();
        }
    }

    @Test
    void aFlushWithoutTheRegionsRightIsRefused() {
        try (SendBatch batch = qa.sendBatch()) {
            batch.flush(1, b.memory.address(), b.memory.rkey(), 8, Set.of(FlushTarget.GLOBAL))
                    .submit();
        }
        pair.settle();
        assertThat(a.completions()).containsExactly("1 REM_ACCESS_ERR");
    }

    @Test
    void mistakesInARequestAreNamed() {
        try (SendBatch batch = qa.sendBatch()) {
            assertThatThrownBy(() -> batch.flush(1, 0, 0, 8, Set.of()))
                    .hasMessage("batch request 1 (wrId 1): flush: targets: at least one");
            assertThatThrownBy(() -> batch.flush(1, 0, 0, -1, Set.of(FlushTarget.GLOBAL)))
                    .hasMessage("batch request 1 (wrId 1): flush: length: not negative, got -1");
            batch.atomicWrite(2, 0, 0, 0);
            assertThatThrownBy(() -> batch.sge(a.memory, 0, 8))
                    .hasMessage("batch request 1 (wrId 2): sge: ATOMIC_WRITE has no data");
        }
        assertThatThrownBy(() -> QueuePairOptions.rc(a.cq).withExtensions(Set.of(Capability.UD)))
                .hasMessageStartingWith("extensions: of [FLUSH, ATOMIC_WRITE]");
    }
}
