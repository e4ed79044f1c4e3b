package verbena.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class FailureWatchTest {
    private final FailureWatch watch = new FailureWatch();
    private final List<String> told = new ArrayList<>();

    @Test
    void aListenerIsToldOnceAndOfTheFirstFailureOnly() {
        watch.add(told::add);
        watch.tell("first");
        watch.tell("second");
        assertThat(told).containsExactly("first");
    }

    @Test
    void aListenerThatComesLateIsToldAtOnce() {
        watch.tell("failed");
        watch.add(told::add);
        assertThat(told).containsExactly("failed");
    }

    @Test
    void closingAWatchEndsItAndNotAnotherOneOfTheSameListener() {
        Consumer<String> listener = told::add;
        var first = watch.add(listener);
        watch.add(listener);
        first.close();
        watch.tell("failed");
        assertThat(told).containsExactly("failed");
    }
}
