package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// Two queue pairs write to parts of one record, and neither waits for the other.
final class TwoWriters implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_WRITE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite(1, scene.local.slice(0, 128), scene.remote.remote()); // earlier
            one.postWrite(2, scene.local.slice(128, 128), scene.remote.remote().slice(64, 128)); // here
            scene.take(scene.sent);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var one = scene.domain.createQueuePair(QueuePairOptions.rc(scene.sent));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite(1, scene.local.slice(0, 128), scene.remote.remote());
            scene.take(scene.sent);
            one.postWrite(2, scene.local.slice(128, 128), scene.remote.remote().slice(64, 128));
            scene.take(scene.sent);
        }
    }
}
