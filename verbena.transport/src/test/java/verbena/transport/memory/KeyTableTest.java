package verbena.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class KeyTableTest {
    private final AtomicLong now = new AtomicLong();

    @Test
    void itFindsWhatAMapFindsWhateverComesAndGoes() {
        var random = new Random(1);
        var table = new KeyTable<String>(new Random(2), 1, 100_000, now::get);
        Map<Integer, String> model = new HashMap<>();
        Map<Integer, Long> resting = new HashMap<>();
        var handles = new ArrayList<Integer>();
        for (int step = 0; step < 200_000; step++) {
            if (handles.isEmpty() || random.nextInt(100) < (step / 10_000 % 2 == 0 ? 60 : 40)) {
                String value = "v" + step;
                int handle = table.add(value);
                assertThat(model).doesNotContainKey(handle);
                assertThat(resting.getOrDefault(handle, -KeyTable.REST_NANOS))
                        .isLessThanOrEqualTo(now.get() - KeyTable.REST_NANOS);
                model.put(handle, value);
                handles.add(handle);
            } else {
                int handle = handles.set(random.nextInt(handles.size()), handles.getLast());
                handles.removeLast();
                table.remove(handle);
                model.remove(handle);
                resting.put(handle, now.get());
                assertThat(table.isResting(handle)).isTrue();
                assertThat(table.get(handle)).isNull();
            }
            now.addAndGet(random.nextLong(2 * KeyTable.REST_NANOS / 1_000));
            assertThat(table.size()).isEqualTo(model.size());
            int any = random.nextInt(1 << 24);
            assertThat(table.get(any)).isEqualTo(model.get(any));
            if (step % 1_000 == 0) {
                model.forEach((handle, value) -> assertThat(table.get(handle)).isEqualTo(value));
            }
        }
    }

    @Test
    void numbersThatFollowOneAnotherAreFoundToo() {
        var next = new AtomicLong();
        RandomGenerator counting = () -> next.incrementAndGet() << 32;
        var table = new KeyTable<Integer>(counting, 1, 50_000, now::get);
        for (int i = 0; i < 50_000; i++) {
            assertThat(table.add(i)).isEqualTo(i + 1);
        }
        for (int i = 0; i < 50_000; i++) {
            assertThat(table.get(i + 1)).isEqualTo(i);
        }
        assertThat(table.get(50_001)).isNull();
    }
}
