package verbena.checked.corpus;

import java.util.ArrayList;
import java.util.List;
import verbena.check.Rule;
import verbena.verbs.CompletionQueue;
import verbena.verbs.QueuePairOptions;

/// A thread serves sixteen connections, and each has a completion queue of its own.
final class QueueForEachPair implements Program {
    @Override
    public Rule rule() {
        return Rule.QUEUE_EACH;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        List<CompletionQueue> queues = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            CompletionQueue queue = scene.device.createCompletionQueue(16); // earlier
            scene.closeLater(scene.domain.createQueuePair(QueuePairOptions.rc(queue)), queue);
            queues.add(queue);
        }
        for (int i = 0; i < 1_000; i++) {
            for (CompletionQueue each : queues) {
                boolean _ = each.poll(scene.wc); // here
            }
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        CompletionQueue queue = scene.device.createCompletionQueue(256);
        for (int i = 0; i < 16; i++) {
            scene.closeLater(scene.domain.createQueuePair(QueuePairOptions.rc(queue)));
        }
        for (int i = 0; i < 16_000; i++) {
            boolean _ = queue.poll(scene.wc);
        }
        scene.closeLater(queue);
    }
}
