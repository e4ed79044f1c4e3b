package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A completion queue is made smaller than the receives that complete into it.
final class QueueMadeSmaller implements Program {
    @Override
    public Rule rule() {
        return Rule.QUEUE_SMALL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var queue = scene.device.createCompletionQueue(32); // earlier
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(queue))) {
            receiver.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
            for (int i = 0; i < 20; i++) {
                receiver.postReceive(i, scene.remote.slice(i * 64L, 64));
            }
            queue.resize(4); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var queue = scene.device.createCompletionQueue(32);
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(queue))) {
            receiver.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
            for (int i = 0; i < 4; i++) {
                receiver.postReceive(i, scene.remote.slice(i * 64L, 64));
            }
            queue.resize(4);
        }
    }
}
