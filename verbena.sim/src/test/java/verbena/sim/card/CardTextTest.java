package verbena.sim.card;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CardTextTest {
    @Test
    void aCardTakesWhatItDoesNotSayFromAnother() {
        Card card = Cards.parse("""
                # mine
                card mine A card of my own
                like cx5
                source manual https://example.org/manual

                qp-cache  4000     # [manual] page 12
                qp-miss   40ns     # assumed
                llc       2M       # from memory
                """.lines().toList());
        assertThat(card.name()).isEqualTo("mine");
        assertThat(card.title()).isEqualTo("A card of my own");
        assertThat(card.value(Quantity.QP_CACHE)).isEqualTo(4000);
        assertThat(card.source(Quantity.QP_CACHE)).isEqualTo("[manual] page 12");
        assertThat(card.value(Quantity.LLC)).isEqualTo(2 << 20);
        assertThat(card.value(Quantity.UNITS)).isEqualTo(Cards.of("cx5").value(Quantity.UNITS));
        assertThat(card.sources()).containsKey("manual");
    }

    @Test
    void aLineSaysWhatIsDifferent() {
        Card card = Cards.of("cx5 qp-cache=64 rate=25G pcie-read=1us");
        assertThat(card.value(Quantity.QP_CACHE)).isEqualTo(64);
        assertThat(card.value(Quantity.RATE)).isEqualTo(25);
        assertThat(card.value(Quantity.PCIE_READ)).isEqualTo(1000);
        assertThat(card.source(Quantity.RATE)).isEqualTo("given");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "units 4 # assumed | line 1: 'units': the first line is card NAME TITLE",
                "card x | line 1: card NAME TITLE",
                "card x y;unitz 4 # assumed | line 2: 'unitz' is none of build, doorbell,",
                "card x y;units 4 | line 2: 'units' has no source",
                "card x y;units 4 # I think so | line 2: 'units' has no source",
                "card x y;units 4 # [book] p. 3 | line 2: there is no source 'book' above",
                "card x y;units many # assumed | line 2: units: 'many' is not a number",
                "card x y;units 0 # assumed | line 2: units: 1 to 64, got 0",
                "card x y;units 1.5 # assumed | line 2: units: a whole number, got 1.5",
                "card x y;request 4 # assumed | line 2: request: '4' is not a time, such as 70ns or 2us",
                "card x y;rate 4M # assumed | line 2: rate: '4M' is not a rate, such as 100G",
                "card x y;units 4 4 # assumed | line 2: 'units' has one value",
                "card x y;units 4 # assumed;units 5 # assumed | line 3: 'units' stands twice",
                "card x y;like cx9 | line 2: there is no card 'cx9'; there are cheap, cx3",
                "card x y;units 4 # assumed;like cx5 | line 3: like stands before all numbers",
                "card x y;card z w | line 2: a text has one card",
                "card x y;units 4 # assumed | card x has no 'build': a core builds a request",
                "# nothing | there is no card"
            })
    void aMistakeIsToldWithItsLineAndWord(String text, String message) {
        assertThatThrownBy(() -> Cards.parse(List.of(text.split(";", -1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "cx9 | there is no card 'cx9'; there are",
                "cx5 units | 'units' is not NAME=VALUE",
                "cx5 unit=3 | 'unit' is none of",
                "cx5 units=x | units: 'x' is not a number"
            })
    void aMistakeInALineIsToldWithItsWord(String line, String message) {
        assertThatThrownBy(() -> Cards.of(line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "copy 64 | 'copy' is none of write, read, send, atomic",
                "write | after 'write' stands its length",
                "write much | 'much' is not bytes",
                "write 64 thread=3 | 'thread=3' is none of threads=",
                "write 64 fast | 'fast' is none of threads=",
                "write 64 threads=x | threads: 'x' is not a number",
                "write 64 threads=0 | 'threads=0': 1 to 256",
                "write 64 batch=32 | batch= may not exceed window=",
                "write 64 signal=32 | signal= may not exceed window=",
                "write 64 symmetric peers=2 | symmetric has one peer",
                "write 64 threads=4 qps=2 | qps= is at least threads="
            })
    void aMistakeInALoadIsToldWithItsWord(String line, String message) {
        assertThatThrownBy(() -> Load.of(line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void eachNumberOfEachCardHasASource() {
        assertThat(Cards.known()).hasSize(7).allSatisfy(card -> {
            for (Quantity each : Quantity.values()) {
                assertThat(card.source(each))
                        .as(card.name() + " " + each.word())
                        .matches("(assumed|from memory|\\[).*");
            }
        });
    }
}
