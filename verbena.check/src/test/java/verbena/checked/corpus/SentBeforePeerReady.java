package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// A client posts as soon as it is ready itself, and its server is not yet.
final class SentBeforePeerReady implements Program {
    @Override
    public Rule rule() {
        return Rule.PEER_UNREADY;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) { // earlier
            one.connect(other.endpoint());
            one.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // here
            other.connect(one.endpoint());
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            one.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            scene.take(scene.sent);
        }
    }
}
