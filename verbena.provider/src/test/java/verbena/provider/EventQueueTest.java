package verbena.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.InvalidStateException;

@Timeout(180)
class EventQueueTest {
    private final EventQueue<String> events = new EventQueue<>("device x", 2);

    @Test
    void theOldestEventMakesRoomForTheNewest() throws InterruptedException {
        events.offer("a");
        events.offer("b");
        events.offer("c");
        assertThat(events.dropped()).isOne();
        assertThat(events.await(Duration.ofSeconds(Long.MAX_VALUE))).contains("b");
        assertThat(events.poll()).contains("c");
        assertThat(events.poll()).isEmpty();
        assertThat(events.await(Duration.ofSeconds(-1))).isEmpty();
    }

    @Test
    void eventsThatCameBeforeTheEndAreStillThere() throws InterruptedException {
        events.offer("a");
        events.close();
        assertThat(events.isOver()).isTrue();
        assertThat(events.await(Duration.ZERO)).contains("a");
        assertThatThrownBy(() -> events.await(Duration.ofDays(1)))
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("await: device x is closed");
    }

    @Test
    void aThreadThatWaitsLearnsOfTheEnd() throws Exception {
        var waiting = new FutureTask<>(() -> events.await(Duration.ofDays(1)));
        var withoutALimit = new FutureTask<>(() -> events.await());
        Thread waiter = Thread.ofPlatform().start(waiting);
        Thread other = Thread.ofPlatform().start(withoutALimit);
        events.close();
        assertThatThrownBy(waiting::get).hasCauseInstanceOf(InvalidStateException.class);
        assertThatThrownBy(withoutALimit::get).hasCauseInstanceOf(InvalidStateException.class);
        waiter.join();
        other.join();
    }

    @Test
    void aWaitWithoutALimitGivesTheOldestEvent() throws InterruptedException {
        events.offer("a");
        events.offer("b");
        assertThat(events.await()).isEqualTo("a");
    }

    @Test
    void forgettingTakesEachOfThem() {
        events.offer("a");
        events.offer("a");
        assertThat(events.size()).isEqualTo(2);
        events.forget("a");
        assertThat(events.size()).isZero();
        assertThat(events.isOver()).isFalse();
    }
}
