package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class OccupancyTest {
    private final Occupancy occupancy = new Occupancy();

    @Test
    void oneThreadMovesWhileAnotherSleeps() {
        try (Occupancy.Stay moving = occupancy.move();
                Occupancy.Stay sleeping = occupancy.sleep()) {
            assertThat(moving).isNotNull();
            assertThat(sleeping).isNotNull();
            assertThatThrownBy(occupancy::move).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(occupancy::sleep).isInstanceOf(IllegalStateException.class);
        }
        try (Occupancy.Stay again = occupancy.move()) {
            assertThat(again).isNotNull();
        }
    }

    @Test
    void nothingComesInAfterTheEnd() {
        assertThat(occupancy.close(() -> {})).isTrue();
        assertThat(occupancy.isClosed()).isTrue();
        assertThat(occupancy.move()).isNull();
        assertThat(occupancy.sleep()).isNull();
        assertThat(occupancy.close(() -> {})).as("again").isFalse();
    }

    @Test
    void theCloserRingsUntilTheSleeperIsOut() throws Exception {
        var bell = new CountDownLatch(3); // the sleeper leaves at the third ring
        var inside = new CountDownLatch(1);
        Thread sleeper = Thread.ofPlatform().start(() -> {
            try (Occupancy.Stay stay = occupancy.sleep()) {
                assertThat(stay).isNotNull();
                inside.countDown();
                bell.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        inside.await();
        assertThat(occupancy.close(bell::countDown)).isTrue();
        assertThat(bell.getCount()).isZero();
        sleeper.join();
    }
}
