package verbena.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import verbena.verbs.QueuePair;

class QueuePairTableTest {
    private final QueuePairTable table = new QueuePairTable();

    /// Returns a queue pair that has a number and nothing else.
    private static QueuePair of(int qpn) {
        return (QueuePair) Proxy.newProxyInstance(
                QueuePair.class.getClassLoader(), new Class<?>[] {QueuePair.class}, (_, method, _) -> {
                    if (method.getName().equals("qpn")) {
                        return qpn;
                    }
                    throw new UnsupportedOperationException(method.getName());
                });
    }

    @Test
    void whatWasAddedIsFoundAndWhatWasRemovedIsNot() {
        var random = new Random(1);
        var model = new HashMap<Integer, QueuePair>();
        for (int step = 0; step < 20_000; step++) {
            int qpn = random.nextInt(300) << (random.nextInt(3) * 8); // many begin at the same place
            QueuePair known = model.get(qpn);
            assertThat(table.get(qpn) == known).as("step %d", step).isTrue();
            if (known == null) {
                QueuePair made = of(qpn);
                table.add(made);
                model.put(qpn, made);
            } else {
                table.remove(known);
                model.remove(qpn);
                table.remove(known);
            }
        }
    }

    @Test
    void aThreadFindsWhatIsThereWhileOthersComeAndGo() throws InterruptedException {
        QueuePair stays = of(5);
        table.add(stays);
        var isOver = new AtomicBoolean();
        var isLost = new AtomicBoolean();
        Thread looking = Thread.startVirtualThread(() -> {
            while (!isOver.get()) {
                if (table.get(5) != stays) {
                    isLost.set(true);
                }
                Thread.onSpinWait();
            }
        });
        for (int round = 0; round < 100; round++) {
            var others = new ArrayList<QueuePair>();
            for (int i = 1; i < 200; i++) {
                others.add(of(5 + (i << 4)));
            }
            others.forEach(table::add);
            others.forEach(table::remove);
        }
        isOver.set(true);
        looking.join();
        assertThat(isLost).isFalse();
    }
}
