package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A message of 256 bytes meets a shared queue whose receives have 64.
final class MessageTooLongForShared implements Program {
    @Override
    public Rule rule() {
        return Rule.RECEIVE_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var shared = scene.domain.createSharedReceiveQueue(16, 1);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(
                        QueuePairOptions.rc(scene.arrived).withSharedReceiveQueue(shared))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            shared.postReceive(1, scene.remote.slice(0, 64)); // earlier
            one.postSend(2, scene.local.slice(0, 256)); // here
            scene.take(scene.sent);
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
            one.postSend(2, scene.local.slice(0, 256));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
