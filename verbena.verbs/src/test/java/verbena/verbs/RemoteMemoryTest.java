package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Parts of memory are inside it, and their exceptions say which bytes were meant.
class RemoteMemoryTest {
    private static final RemoteMemory TEN = new RemoteMemory(0x1000, 7, 10);

    @Test
    void aPartIsInside() {
        assertThat(TEN.slice(2, 8)).isEqualTo(new RemoteMemory(0x1002, 7, 8));
        assertThat(TEN.slice(3)).isEqualTo(new RemoteMemory(0x1003, 7, 7));
        assertThat(TEN.slice(10)).isEqualTo(new RemoteMemory(0x100A, 7, 0));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 11",
        "3, 8",
        "-1, 1",
        "0, -1",
        "11, 0",
        "9223372036854775807, 1",
        "1, 9223372036854775807",
        "-9223372036854775808, 0",
        "0, -9223372036854775808"
    })
    void aPartThatIsNotInsideIsRefused(long offset, long length) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> TEN.slice(offset, length))
                .withMessage("slice: " + length + " bytes from byte " + offset + " on are not inside 10 bytes");
    }

    @ParameterizedTest
    @CsvSource({"11", "-1", "9223372036854775807", "-9223372036854775808"})
    void anOffsetThatIsNotInsideIsRefused(long offset) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> TEN.slice(offset))
                .withMessageContaining("from byte " + offset + " on are not inside 10 bytes");
    }
}
