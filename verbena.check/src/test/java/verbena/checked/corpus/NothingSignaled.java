package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ResourceLimitException;

/// No request ever asks for a completion.
final class NothingSignaled implements Program {
    @Override
    public Rule rule() {
        return Rule.QUEUE_STUCK;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        var two = QueuePairOptions.rc(scene.sent).withDepth(2, 2);
        try (var sender = scene.domain.createQueuePair(two);
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            for (int i = 0; i < 1_000; i++) {
                try (var batch = sender.sendBatch()) {
                    batch.write(i, scene.remote.address(), scene.remote.rkey()); // here
                    batch.submit(); // earlier
                } catch (ResourceLimitException e) {
                    break;
                }
            }
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        var two = QueuePairOptions.rc(scene.sent).withDepth(2, 2);
        try (var sender = scene.domain.createQueuePair(two);
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            for (int i = 0; i < 10; i++) {
                try (var batch = sender.sendBatch()) {
                    batch.write(i, scene.remote.address(), scene.remote.rkey());
                    batch.write(i, scene.remote.address(), scene.remote.rkey()).signaled();
                    batch.submit();
                }
                scene.take(scene.sent);
            }
        }
    }
}
