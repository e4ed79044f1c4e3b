package verbena.check.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which memory is mapped, by lines as Linux writes them.
class MappingsTest {
    @ParameterizedTest
    @CsvSource({
        "0x1000, 0x3000, false", // two mappings, one behind the other
        "0x1800, 0x2001, false",
        "0x0fff, 0x1001, true",
        "0x2fff, 0x3001, true",
        "0x3000, 0x4000, true",
        "0x8000, 0x9000, false",
        "0x1000, 0x9000, true",
        "0x9000, 0xa000, true"
    })
    void aByteInNoMappingIsGone(String from, String to, boolean isGone) {
        Stream<String> lines = Stream.of(
                "1000-2000 rw-p 00000000 00:00 0",
                "2000-3000 r--p 00000000 08:01 12  /a file",
                "8000-9000 rw-p 0 0:0 0");
        assertThat(Mappings.isGone(lines, Long.decode(from), Long.decode(to))).isEqualTo(isGone);
    }

    @Test
    void memoryOfThisProcessIsThere() {
        assertThat(Mappings.isGone(Arena.global().allocate(100))).isFalse();
    }
}
