package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CmExtensionTest {
    @ParameterizedTest
    @CsvSource({
        "4791, false, false, false",
        "0, true, false, false",
        "0, false, true, false",
        "0, false, false, true",
        "65535, true, true, true"
    })
    void whatAnEndSaysIsWhatItsPeerReads(int port, boolean hasSecret, boolean answers, boolean requests) {
        var said = new CmExtension(port, hasSecret, answers, requests);
        assertThat(CmExtension.of(said.bits())).isEqualTo(said);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 0x1234_5678, 0x8001_0000})
    void otherEndsSayNothing(int field) {
        assertThat(CmExtension.of(field)).isEqualTo(CmExtension.NONE);
    }
}
