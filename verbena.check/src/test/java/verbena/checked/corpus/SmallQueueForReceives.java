package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A completion queue is smaller than the receives that complete into it.
final class SmallQueueForReceives implements Program {
    @Override
    public Rule rule() {
        return Rule.QUEUE_SMALL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var small = scene.device.createCompletionQueue(4); // earlier
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(small))) {
            receiver.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
            try (var batch = receiver.receiveBatch()) {
                for (int i = 0; i <= small.capacity(); i++) {
                    batch.receive(i).sge(scene.remote, i * 64L, 64);
                }
                batch.submit(); // here
            }
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var large = scene.device.createCompletionQueue(8);
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(large))) {
            receiver.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
            try (var batch = receiver.receiveBatch()) {
                for (int i = 0; i < large.capacity(); i++) {
                    batch.receive(i).sge(scene.remote, i * 64L, 64);
                }
                batch.submit();
            }
        }
    }
}
