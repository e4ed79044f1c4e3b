package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class OneSidedTest {
    private final OneSided<Integer> operations = new OneSided<>(2);

    @Test
    void soManyAreUnderWayAtOnce() {
        operations.add(1);
        operations.add(2);
        operations.add(3);
        assertThat(operations.poll()).isEqualTo(1);
        assertThat(operations.poll()).isEqualTo(2);
        assertThat(operations.poll()).isNull();
        operations.done();
        assertThat(operations.poll()).isEqualTo(3);
        operations.done();
        assertThat(operations.isIdle()).isFalse();
        operations.done();
        assertThat(operations.isIdle()).isTrue();
    }

    @Test
    void oneBehindAFenceBeginsWhenAllBeforeItAreDone() {
        operations.add(1);
        operations.fence();
        operations.fence();
        operations.add(2);
        operations.add(3);
        assertThat(operations.poll()).isEqualTo(1);
        assertThat(operations.poll()).isNull();
        operations.done();
        assertThat(operations.poll()).isEqualTo(2);
        assertThat(operations.poll()).isEqualTo(3); // no fence before it
    }

    @Test
    void whatHasNotBegunCanBeDropped() {
        operations.add(1);
        operations.add(2);
        assertThat(operations.poll()).isEqualTo(1);
        assertThat(operations.drop()).containsExactly(2);
        operations.done();
        assertThat(operations.isIdle()).isTrue();
    }

    /// Random operations and fences: order is kept, and nothing crosses a fence.
    @Test
    void nothingCrossesAFence() {
        for (int seed = 0; seed < 500; seed++) {
            var random = new SplittableRandom(seed);
            int max = 1 + random.nextInt(4);
            var order = new OneSided<Integer>(max);
            var epochs = new ArrayList<Integer>(); // of each operation, by its number
            var underWay = new ArrayList<Integer>();
            int epoch = 0;
            int begun = 0;
            for (int i = 0; i < 200; i++) {
                switch (random.nextInt(4)) {
                    case 0 -> {
                        order.add(epochs.size());
                        epochs.add(epoch);
                    }
                    case 1 -> {
                        order.fence();
                        epoch++;
                    }
                    case 2 -> {
                        Integer next = order.poll();
                        if (next != null) {
                            assertThat(next).isEqualTo(begun++);
                            underWay.add(next);
                            assertThat(underWay).hasSizeLessThanOrEqualTo(max);
                            assertThat(underWay)
                                    .allMatch(each -> epochs.get(each).equals(epochs.get(next)));
                        }
                    }
                    default -> {
                        if (!underWay.isEmpty()) {
                            underWay.set(random.nextInt(underWay.size()), underWay.getLast());
                            underWay.removeLast();
                            order.done();
                        }
                    }
                }
            }
            while (!order.isIdle()) { // nothing is stuck
                if (order.poll() == null) {
                    order.done();
                } else {
                    begun++;
                }
            }
            assertThat(begun).isEqualTo(epochs.size());
        }
    }
}
