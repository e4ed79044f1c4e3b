package verbena.transport.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReceiveQueueTest {
    /// With scatter entries and without, with one number for all receives and with many.
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 3", "0, 1", "0, 3"})
    void receivesComeInTheOrderInWhichTheyWerePublished(int maxSge, int numbers) {
        var random = new Random(maxSge * 10 + numbers);
        var queue = new ReceiveQueue(50, maxSge, () -> {});
        var taken = new ReceiveRequest(maxSge);
        var claimed = new ArrayDeque<Long>();
        var published = new ArrayDeque<Long>();
        for (int step = 0; step < 50_000; step++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    if (queue.hasRoom()) {
                        long number = random.nextInt(numbers);
                        ReceiveRequest slot = queue.claim();
                        slot.wrId = number;
                        slot.scatter.clear();
                        claimed.addLast(number);
                    } else {
                        assertThat(published.size() + claimed.size()).isEqualTo(50);
                    }
                }
                case 3 -> {
                    if (!claimed.isEmpty()) {
                        queue.unclaim();
                        claimed.removeLast();
                    }
                }
                case 4 -> {
                    assertThat(queue.publish()).isEqualTo(claimed.size());
                    published.addAll(claimed);
                    claimed.clear();
                }
                case 5, 6 -> {
                    assertThat(queue.available()).isEqualTo(published.size());
                    assertThat(queue.take(taken)).isEqualTo(!published.isEmpty());
                    if (!published.isEmpty()) {
                        assertThat(taken.wrId).isEqualTo(published.removeFirst());
                        assertThat(taken.scatter.count).isZero();
                    }
                }
                default -> {
                    if (random.nextInt(100) == 0) {
                        queue.abandon();
                        claimed.clear();
                        queue.discard();
                        published.clear();
                    }
                }
            }
        }
    }
}
