package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Device;

class WeakOptionTest {
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "shm"})
    void theNameHasTheSeedThatWasDrawn(String kind) {
        assertThat(Device.named(kind + ",weak=card").name()).matches(kind + ",weak=card,seed=[0-9]+");
        assertThat(Device.named(kind + ",weak=standard,seed=-7").name()).isEqualTo(kind + ",weak=standard,seed=-7");
    }

    @Test
    void freedomsMayBeNamed() {
        String name = "rocev2,weak=late-visibility,torn,unfenced,seed=7,mtu=256";
        assertThat(Device.named(name).name()).isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rocev2,weak=            | option "weak=": there is no freedom ""; there are card, standard and late-visibility, torn
            shm,weak=torn,tron      | option "weak=torn,tron": there is no freedom "tron"
            rocev2,seed=7           | option "seed=7": needs weak before it
            shm,weak=card,seed=x    | option "seed=x": a whole number of 64 bits, got "x"
            rocev2,weak=card,engines=2 | option "engines=2": with weak a device has one engine
            shm,weak=card,engines=2 | option "engines=2": with weak a device has one engine
            """)
    void mistakesAreNamed(String name, String message) {
        assertThatThrownBy(() -> Device.named(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
