package verbena.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SystemCopyTest {
    private static final int BYTES = 256 << 10;

    private final MemorySegment from = filled(Arena.ofAuto().allocate(BYTES));
    private final MemorySegment to = Arena.ofAuto().allocate(BYTES);

    private static MemorySegment filled(MemorySegment segment) {
        byte[] bytes = new byte[BYTES];
        new Random(7).nextBytes(bytes);
        return segment.copyFrom(MemorySegment.ofArray(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 63, 4_096, 32 << 10, 100_001, BYTES - 77})
    void bytesArriveWhereTheyShallAndNowhereElse(int bytes) {
        SystemCopy.copy(from, 77, to, 13, bytes);

        assertThat(to.asSlice(13, bytes).mismatch(from.asSlice(77, bytes))).isEqualTo(-1);
        assertThat(to.asSlice(0, 13).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        assertThat(to.asSlice(13 + bytes).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void rangesMayOverlap() {
        MemorySegment expected = Arena.ofAuto().allocate(BYTES).copyFrom(from);

        SystemCopy.copy(from, 0, from, 1_000, BYTES - 1_000);

        assertThat(from.asSlice(1_000).mismatch(expected.asSlice(0, BYTES - 1_000)))
                .isEqualTo(-1);
    }

    @Test
    void whatIsOutOfBoundsOrReadOnlyOrClosedIsRefused() {
        assertThatThrownBy(() -> SystemCopy.copy(from, 1, to, 0, BYTES)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> SystemCopy.copy(from, 0, to, 1, BYTES)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> SystemCopy.copy(from, 0, to, 0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> SystemCopy.copy(from, 0, to.asReadOnly(), 0, BYTES))
                .isInstanceOf(IllegalArgumentException.class);
        Arena closed = Arena.ofShared();
        MemorySegment gone = closed.allocate(BYTES);
        closed.close();
        assertThatThrownBy(() -> SystemCopy.copy(from, 0, gone, 0, BYTES)).isInstanceOf(IllegalStateException.class);
        assertThat(to.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void memoryOfTheHeapIsCopiedToo() {
        byte[] heap = new byte[BYTES];

        SystemCopy.copy(from, 0, MemorySegment.ofArray(heap), 0, BYTES);
        SystemCopy.copy(MemorySegment.ofArray(heap), 0, to, 0, BYTES);

        assertThat(to.mismatch(from)).isEqualTo(-1);
    }
}
