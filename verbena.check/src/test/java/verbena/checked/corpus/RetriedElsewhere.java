package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A connection is given up, and its last WRITE is done again on another, with newer bytes. The first may still
/// come.
final class RetriedElsewhere implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_WRITE;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote()); // earlier
            scene.here.modify(new Transition.ToError());
            one.postWrite(2, scene.local.slice(64, 64), scene.remote.remote()); // here
            scene.take(mine);
            scene.take(scene.sent);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            scene.take(scene.sent);
            one.postWrite(2, scene.local.slice(64, 64), scene.remote.remote());
            scene.take(mine);
        }
    }
}
