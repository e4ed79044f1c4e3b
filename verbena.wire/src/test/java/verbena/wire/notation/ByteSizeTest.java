package verbena.wire.notation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({
        "65536, 65536",
        "0x10000, 65536",
        "64K, 65536",
        "64k, 65536",
        "64KiB, 65536",
        "64 KiB, 65536",
        "64KB, 64000",
        "64kB, 64000",
        "1.5MiB, 1572864",
        "1.5MB, 1500000",
        "3M, 3145728",
        "1g, 1073741824",
        "2T, 2199023255552",
        "12B, 12",
        "0, 0"
    })
    void aUnitIsAPowerOf1024UnlessItIsOf1000(String text, long bytes) {
        assertThat(ByteSize.parse(text)).isEqualTo(bytes);
    }

    @Test
    void aNumberAloneCountsWhatTheOptionSays() {
        assertThat(ByteSize.parse("4", 1 << 20)).isEqualTo(4 << 20);
        assertThat(ByteSize.parse("4K", 1 << 20)).isEqualTo(4 << 10);
        assertThat(ByteSize.parse("0x10", 1 << 10)).isEqualTo(16 << 10);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "K",
                "ten",
                "64Q",
                "64KiBs",
                "-1",
                "1.5",
                "0.3K",
                "1e3",
                "0x",
                "2000000T",
                "999999999999999G",
                "1 000"
            })
    void whatIsNoSizeIsRefused(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a size, such as 65536, 64K, 64KiB or 64KB, got \"" + text + "\"");
    }
}
