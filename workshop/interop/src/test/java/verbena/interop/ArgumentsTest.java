package verbena.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class ArgumentsTest {
    private static final List<String> KNOWN = List.of("netty", "kafka");

    private static Arguments parse(String... words) {
        return Arguments.parse(List.of(words), KNOWN);
    }

    @Test
    void withoutNamesAllAreWanted() {
        assertThat(parse()).isEqualTo(new Arguments(List.of(), "shm", false, false, false));
        assertThat(parse().isWanted("kafka")).isTrue();
    }

    @Test
    void withNamesOnlyTheseAreWanted() {
        Arguments wanted = parse("netty", "--device", "rocev2", "--small", "--good", "--figures");
        assertThat(wanted).isEqualTo(new Arguments(List.of("netty"), "rocev2", true, true, true));
        assertThat(wanted.isWanted("kafka")).isFalse();
    }

    @Test
    void whatThereIsNotIsRefusedWithWhatThereIs() {
        assertThatThrownBy(() -> parse("cassandra"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("there is no system \"cassandra\"; there are netty, kafka");
        assertThatThrownBy(() -> parse("--device", "tcp"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("shm, rocev2, iwarp");
        assertThatThrownBy(() -> parse("--device")).isInstanceOf(IllegalArgumentException.class);
    }
}
