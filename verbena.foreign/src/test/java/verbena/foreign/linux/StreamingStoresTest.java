package verbena.foreign.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class StreamingStoresTest {
    private static final int BYTES = 16 << 10;

    private final MemorySegment from = Arena.ofAuto().allocate(BYTES, 64);
    private final MemorySegment to = Arena.ofAuto().allocate(BYTES, 64);

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "they are x86's")
    void theyAreThere() {
        assertThat(StreamingStores.areThere()).isTrue();
    }

    @Test
    void allIsCopiedAndNothingElse() {
        assumeTrue(StreamingStores.areThere(), "no streaming stores here");
        for (int i = 0; i < BYTES; i++) {
            from.set(ValueLayout.JAVA_BYTE, i, (byte) (1 + i % 251));
        }
        for (int bytes = 64; bytes <= 1024; bytes += 64) {
            for (int skipped = 0; skipped < 20; skipped++) {
                to.fill((byte) 0);
                StreamingStores.copy(from.asSlice(skipped), to.address() + 128, bytes);
                assertThat(to.asSlice(128, bytes).mismatch(from.asSlice(skipped, bytes)))
                        .isEqualTo(-1);
                assertThat(to.asSlice(0, 128).mismatch(MemorySegment.ofArray(new byte[128])))
                        .isEqualTo(-1);
                assertThat(to.get(ValueLayout.JAVA_BYTE, 128 + bytes)).isZero();
            }
        }
    }

    @Test
    void whatIsNotWholeUnitsIsRefused() {
        for (long[] each : new long[][] {{0, 0}, {0, -64}, {0, 63}, {8, 64}, {0, BYTES + 64}}) {
            assertThatThrownBy(() -> StreamingStores.copy(from, to.address() + each[0], each[1]))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /// The address of such memory is an offset in an array.
    @Test
    void memoryOfTheHeapIsRefused() {
        assertThatThrownBy(() -> StreamingStores.copy(MemorySegment.ofArray(new long[8]), to.address(), 64))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
