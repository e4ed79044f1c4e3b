package verbena.transport.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlotRingTest {
    private int made;

    private Object make() {
        made++;
        return new Object();
    }

    @Test
    void asManySlotsAreMadeAsAreInUseAtOnce() {
        var ring = new SlotRing<Object>(128, this::make);
        assertThat(made).isZero();

        for (int position = 0; position < 1_000; position++) {
            ring.claim(position, Math.max(0, position - 2)); // three in use
        }

        assertThat(made).isEqualTo(3);
    }

    @Test
    void aRingThatGrowsKeepsWhatIsInUseAndStandsAMakerThatFails() {
        var fails = new boolean[1];
        var ring = new SlotRing<Object>(100, () -> {
            if (fails[0]) {
                throw new OutOfMemoryError("planted");
            }
            return make();
        });
        var slots = new ArrayList<Object>();
        for (int position = 0; position < 100; position++) {
            fails[0] = true;
            int now = position;
            assertThatThrownBy(() -> ring.claim(now, 0)).hasMessage("planted");
            fails[0] = false;
            slots.add(ring.claim(position, 0));
            for (int i = 0; i <= position; i++) {
                assertThat(ring.at(i)).isSameAs(slots.get(i));
            }
        }
        assertThat(made).isEqualTo(100);
    }

    @Test
    void aClaimThatWasTakenBackGetsTheSameSlotAgain() {
        var ring = new SlotRing<Object>(4, this::make);

        Object first = ring.claim(0, 0);

        assertThat(ring.claim(0, 0)).isSameAs(first).isSameAs(ring.at(0));
        assertThat(made).isEqualTo(1);
    }

    @Test
    void aQueueThatWasFullOnceKeepsToOneSlotWhileOneIsInUse() {
        var ring = new SlotRing<Object>(16, this::make);
        for (int position = 0; position < 16; position++) {
            ring.claim(position, 0);
        }

        Object slot = ring.claim(16, 16);

        for (int position = 17; position < 1_000; position++) {
            assertThat(ring.claim(position, position)).isSameAs(slot).isSameAs(ring.at(position));
        }
        assertThat(made).isEqualTo(16);
    }

    @Test
    void noTwoPositionsInUseShareASlotWhateverTheOrderOfEvents() {
        var random = new Random(1);
        for (int capacity : new int[] {1, 2, 3, 64, 100}) {
            var ring = new SlotRing<Object>(capacity, this::make);
            var inUse = new ArrayDeque<Object>();
            long published = 0;
            long retired = 0;
            made = 0;
            int most = 0;
            for (int step = 0; step < 20_000; step++) {
                if (random.nextBoolean() && published - retired < capacity) {
                    Object slot = ring.claim(published, retired);
                    if (random.nextInt(4) != 0) { // else it is taken back
                        published++;
                        inUse.add(slot);
                        most = Math.max(most, inUse.size());
                    }
                } else if (!inUse.isEmpty() && random.nextBoolean()) {
                    assertThat(ring.at(retired++)).isSameAs(inUse.remove());
                } else if (random.nextInt(500) == 0) {
                    ring = ring.resized(capacity, retired, published);
                    made = inUse.size();
                    most = inUse.size();
                }
                var distinct = Collections.newSetFromMap(new IdentityHashMap<>());
                distinct.addAll(inUse);
                assertThat(distinct).hasSameSizeAs(inUse);
            }
            assertThat(made).isLessThanOrEqualTo(Math.min(capacity, most + 1)); // one may be claimed and taken back
        }
    }
}
