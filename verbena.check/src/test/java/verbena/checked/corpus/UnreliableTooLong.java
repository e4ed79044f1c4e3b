package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A message on an unreliable connection is longer than the receive of its peer.
final class UnreliableTooLong implements Program {
    @Override
    public Rule rule() {
        return Rule.RECEIVE_SHORT;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.uc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.uc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            other.postReceive(1, scene.remote.slice(0, 32)); // earlier
            one.postSend(2, scene.local.slice(0, 64)); // here
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.uc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.uc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            other.postReceive(1, scene.remote.slice(0, 64));
            one.postSend(2, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
