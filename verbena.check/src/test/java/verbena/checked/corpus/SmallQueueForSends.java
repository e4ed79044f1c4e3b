package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// Signalled sends outnumber the entries of their queue.
final class SmallQueueForSends implements Program {
    @Override
    public Rule rule() {
        return Rule.QUEUE_SMALL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var small = scene.device.createCompletionQueue(4); // earlier
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(small));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            try (var batch = sender.sendBatch()) {
                for (int i = 0; i <= small.capacity(); i++) {
                    batch.write(i, scene.remote.address(), scene.remote.rkey()).signaled();
                }
                batch.submit(); // here
            }
            for (int i = 0; i < small.capacity() && small.poll(scene.wc); i++) {
                scene.wc.ok();
            }
            sender.modify(new Transition.ToError());
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var large = scene.device.createCompletionQueue(8);
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(large));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            try (var batch = sender.sendBatch()) {
                for (int i = 0; i < 5; i++) {
                    batch.write(i, scene.remote.address(), scene.remote.rkey()).signaled();
                }
                batch.submit();
            }
            for (int i = 0; i < 5; i++) {
                scene.take(large);
            }
        }
    }
}
