package verbena.wire.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PspMasterKeyTest {
    private static final String[] EXAMPLE = {
        "34448a064292601b11a0978f56a2d34cf3fc35ede1a6bc04f8db3e5243a2b0ca",
        "563952565d3a78ae773ec1b779f2f2d99f4a7f53a6fbb9b07d5b71f39364d739"
    };

    /// The first three are the specification's examples, the fourth is by its reference program.
    @ParameterizedTest
    @CsvSource(textBlock = """
            # spi     version       key
            12345678, AES_GCM_128,  96c22dc799198090b74b70ae468e4e30
            9a345678, AES_GCM_128,  3946da2554eae46ad1ef77a64372edc4
            12345678, AES_GCM_256,  2b7d72074e42ca334487f2990e3f8c4037e436f38283449b76463e9b7fb2e3de
            9a345678, AES_GCM_256,  fa00f609df6020289a1c93d6027081a637ad45b24a5576b36e6f49dd43114d80
            12345678, AES_GMAC_128, 186e6a36e8b4a7ca1fd12eaca5a33357
            12345678, AES_GMAC_256, 5c1f322a681fdcb31060c635d870567073495c29e55c66463e1f9e5054813ebc
            """)
    void theKeyOfAnSpiIsThatOfTheExamples(String spi, PspVersion version, String key) {
        int number = HexFormat.fromHexDigits(spi);
        var master = new PspMasterKey(HexFormat.of().parseHex(EXAMPLE[PspHeader.masterKey(number)]));

        assertThat(HexFormat.of().formatHex(master.derive(number, version))).isEqualTo(key);
        assertThat(HexFormat.of().formatHex(master.derive(number, version)))
                .as("again")
                .isEqualTo(key);
    }

    @Test
    void aMasterKeyOfAnotherLengthIsRefused() {
        assertThatThrownBy(() -> new PspMasterKey(new byte[16]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("key: a master key has 32 bytes, got 16");
    }
}
