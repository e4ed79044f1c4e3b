package verbena.checked.corpus;

import java.util.List;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A completion queue is as long as the receives of one client, and takes those of three.
final class OneQueueForAll implements Program {
    @Override
    public Rule rule() {
        return Rule.QUEUE_SMALL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var queue = scene.device.createCompletionQueue(8)) { // earlier
            serve(scene, queue, queue.capacity());
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var queue = scene.device.createCompletionQueue(24)) {
            serve(scene, queue, 8);
        }
    }

    private static void serve(TwoEnds scene, CompletionQueue queue, int receives) {
        try (var one = open(scene, queue);
                var two = open(scene, queue);
                var three = open(scene, queue)) {
            long at = 0;
            for (QueuePair each : List.of(one, two, three)) {
                try (var batch = each.receiveBatch()) {
                    for (int i = 0; i < receives; i++) {
                        batch.receive(i).sge(scene.remote, at, 64);
                        at += 64;
                    }
                    batch.submit(); // here
                }
            }
        }
    }

    private static QueuePair open(TwoEnds scene, CompletionQueue queue) {
        var pair = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
        pair.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
        return pair;
    }
}
