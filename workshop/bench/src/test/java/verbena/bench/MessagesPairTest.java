package verbena.bench;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Measures messages once, briefly: that there is a figure, not which.
class MessagesPairTest {
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void messagesAreMeasured(boolean inMemory) throws Exception {
        try (var pair = inMemory ? MessagesPair.inMemory() : MessagesPair.overLoopback()) {
            ContendersTest.measureAll(pair);
        }
    }
}
