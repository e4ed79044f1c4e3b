package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A message on an unreliable connection finds no receive, and so is lost.
final class LostWithoutReceive implements Program {
    @Override
    public Rule rule() {
        return Rule.NO_RECEIVE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.uc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.uc(scene.arrived))) { // earlier
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            other.postReceive(1, scene.remote.slice(0, 64));
            one.postSend(2, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
            one.postSend(3, scene.local.slice(0, 64)); // here
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
            other.postReceive(1, scene.remote.slice(0, 64));
            one.postSend(3, scene.local.slice(0, 64));
            scene.take(scene.sent);
            scene.take(scene.arrived);
        }
    }
}
