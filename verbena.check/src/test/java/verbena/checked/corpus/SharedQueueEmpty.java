package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// Several peers share few receives, and their owner gets no event before they are used up.
final class SharedQueueEmpty implements Program {
    @Override
    public Rule rule() {
        return Rule.SRQ_UNARMED;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair( // earlier
                        QueuePairOptions.rc(scene.arrived).withSharedReceiveQueue(shared))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            one.postSend(1, scene.local.slice(0, 256)); // here
            shared.postReceive(2, scene.remote.slice(0, 256));
            scene.take(scene.sent);
            scene.take(scene.arrived);
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
            shared.postReceive(1, scene.remote.slice(0, 256));
            shared.postReceive(2, scene.remote.slice(256, 256));
            shared.armLimit(1);
            one.postSend(3, scene.local.slice(0, 256));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
