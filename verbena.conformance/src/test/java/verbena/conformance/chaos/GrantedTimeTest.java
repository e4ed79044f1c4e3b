package verbena.conformance.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class GrantedTimeTest {
    private final GrantedTime time = new GrantedTime(Duration.ofNanos(20));

    @Test
    void anIdleProcessIsGrantedAllTime() {
        time.advance(21, 0);
        time.advance(39, 1);
        assertThat(time.nanos()).isEqualTo(60);
    }

    @Test
    void aStarvedProcessIsGrantedWhatItUses() {
        time.advance(10_000, 15);
        assertThat(time.nanos()).isEqualTo(15);
    }

    @Test
    void aProcessWhoseOwnThreadsKeepTheLookAwayIsGrantedAllTime() {
        time.advance(1_000, 2_000); // two processors
        assertThat(time.nanos()).isEqualTo(1_000);
    }
}
