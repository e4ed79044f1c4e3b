package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FaultsTest {
    @Test
    void everyFaultHasAName() {
        assertThat(Faults.parse("loss:5%,duplicate:1.5%,reorder:100%,corrupt:0.1%,delay:2ms,on:received,seed:-7"))
                .isEqualTo(new Faults(0.05, 0.015, 1, 0.001, 0, 2_000_000, Faults.On.RECEIVED, OptionalLong.of(-7)));
        assertThat(Faults.parse("seed:7")).isEqualTo(new Faults(0, 0, 0, 0, 0, 0, Faults.On.BOTH, OptionalLong.of(7)));
    }

    @ParameterizedTest
    @CsvSource({"0ns, 0", "17us, 17000", "3s, 3000000000", "10s, 10000000000"})
    void delaysHaveUnits(String text, long nanos) {
        assertThat(Faults.parse("delay:" + text).delayNanos()).isEqualTo(nanos);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            loss:5           | loss: a percentage, 0% to 100%, got "5"
            loss:101%        | loss: a percentage, 0% to 100%, got "101%"
            loss:-1%         | loss: a percentage, 0% to 100%, got "-1%"
            reorder          | reorder: a percentage, 0% to 100%, got ""
            delay:2          | delay: a whole number of ns, us, ms or s, at most 10s, got "2"
            delay:11s        | delay: a whole number of ns, us, ms or s, at most 10s, got "11s"
            on:wednesdays    | on: sent, received or both, got "wednesdays"
            seed:x           | seed: a whole number of 64 bits, got "x"
            los:5%           | there is no fault "los"; there are loss, duplicate, reorder, corrupt, mark, delay, and on and seed
            loss:5%,,seed:1  | there is no fault ""; there are loss, duplicate, reorder, corrupt, mark, delay, and on and seed
            """)
    void mistakesAreNamed(String text, String message) {
        assertThatThrownBy(() -> Faults.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void impossibleFaultsAreTheCallersMistake() {
        assertThatThrownBy(() -> new Faults(Double.NaN, 0, 0, 0, 0, 0, Faults.On.BOTH, OptionalLong.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Faults(0, 0, 0, 0, 0, -1, Faults.On.BOTH, OptionalLong.empty()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
