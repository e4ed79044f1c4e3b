package verbena.messages.rail;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BuffersTest {
    private final Buffers buffers = new Buffers();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1})
    void aBufferIsUsedAgainForWhatFits(long bytes) {
        MemorySegment buffer = buffers.take(bytes);
        assertThat(buffer.byteSize()).isBetween(bytes, 2 * bytes);
        buffers.give(buffer);
        assertThat(buffers.take(bytes)).isSameAs(buffer);
    }

    @Test
    void aBufferInUseIsNobodyElses() {
        assertThat(buffers.take(5000).asOverlappingSlice(buffers.take(5000))).isEmpty();
    }

    @Test
    void onlySoMuchWaits() {
        MemorySegment half = buffers.take(Buffers.FREE_MAX / 2);
        MemorySegment otherHalf = buffers.take(Buffers.FREE_MAX / 2);
        MemorySegment more = buffers.take(8192);
        buffers.give(half);
        buffers.give(otherHalf);
        buffers.give(more);
        assertThat(buffers.freeBytes()).isEqualTo(Buffers.FREE_MAX);
        assertThat(buffers.take(8192)).isNotSameAs(more);
    }
}
