package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.QueuePairOptions;

/// Records are moved up by one place by a WRITE within one node, and source and target overlap.
final class MovedInPlace implements Program {
    @Override
    public Rule rule() {
        return Rule.RACE_LOCAL;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            one.postWrite(1, scene.remote.slice(0, 256), scene.remote.remote().slice(64, 256)); // here, earlier
            scene.take(mine);
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var mine = scene.device.createCompletionQueue(64);
                var one = scene.domain.createQueuePair(QueuePairOptions.rc(mine));
                var other = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            one.postWrite(1, scene.remote.slice(0, 256), scene.remote.remote().slice(256, 256));
            scene.take(mine);
        }
    }
}
