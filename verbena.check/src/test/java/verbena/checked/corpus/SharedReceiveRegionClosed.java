package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.QueuePairOptions;

/// A region is closed with receives of it in a shared queue.
final class SharedReceiveRegionClosed implements Program {
    @Override
    public Rule rule() {
        return Rule.REGION_BUSY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(
                        QueuePairOptions.rc(scene.arrived).withSharedReceiveQueue(shared))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            var buffers = scene.domain.allocate(4_096, Access.local());
            shared.postReceive(1, buffers.slice(0, 64)); // earlier
            buffers.close(); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(
                        QueuePairOptions.rc(scene.arrived).withSharedReceiveQueue(shared))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            var buffers = scene.domain.allocate(4_096, Access.local());
            shared.postReceive(1, buffers.slice(0, 64));
            one.postSend(2, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
            buffers.close();
        }
    }
}
